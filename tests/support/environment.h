// SPDX-License-Identifier: MIT
// Variables of the environment, for the library under test.
#pragma once

#include <cstdlib>

namespace polarquant::test {

inline bool set_environment(const char* name, const char* value) {
#ifdef _WIN32
  return _putenv_s(name, value) == 0;
#else
  return setenv(name, value, 1) == 0;
#endif
}

}  // namespace polarquant::test
