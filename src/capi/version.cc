// SPDX-License-Identifier: MIT
#include "polarquant/polarquant.h"

#define POLAR_TEXT(x) #x
#define POLAR_DOTTED(major, minor, patch) \
  POLAR_TEXT(major) "." POLAR_TEXT(minor) "." POLAR_TEXT(patch)

extern "C" int32_t polar_version(void) {
  return POLAR_VERSION_MAJOR * 10000 + POLAR_VERSION_MINOR * 100 + POLAR_VERSION_PATCH;
}

extern "C" const char* polar_version_string(void) {
  return POLAR_DOTTED(POLAR_VERSION_MAJOR, POLAR_VERSION_MINOR, POLAR_VERSION_PATCH);
}
