// SPDX-License-Identifier: MIT
// Ends a test program that hangs, so that its last message names the case. Windows has no such
// alarm: there ctest's time limit ends it.
#pragma once

#ifndef _WIN32
#include <unistd.h>
#endif

namespace polarquant::test {

/// `seconds` from now, in place of what was set before; 0: never.
inline void set_hang_alarm(unsigned seconds) {
#ifndef _WIN32
  alarm(seconds);
#else
  static_cast<void>(seconds);
#endif
}

}  // namespace polarquant::test
