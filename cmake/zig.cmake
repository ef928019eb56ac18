# SPDX-License-Identifier: MIT
# Toolchain: libraries and programs for other systems, made on this one by zig's C and C++ compiler, which is a clang
# with the headers and link libraries of glibc, musl, macOS and Windows. tools/dev/cross.sh uses it.
#   POLARQUANT_TARGET     what zig calls the system: aarch64-linux-musl, x86_64-linux-gnu.2.28, aarch64-macos
#   POLARQUANT_ZIG_TOOLS  a folder of the programs cc, c++, ar and ranlib, which make that target's
#   POLARQUANT_EMULATOR   what runs its programs here; none: they are not run
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES POLARQUANT_TARGET POLARQUANT_ZIG_TOOLS POLARQUANT_EMULATOR)
if(POLARQUANT_TARGET MATCHES "-linux-")
  set(CMAKE_SYSTEM_NAME Linux)
elseif(POLARQUANT_TARGET MATCHES "-macos")
  set(CMAKE_SYSTEM_NAME Darwin)
elseif(POLARQUANT_TARGET MATCHES "-windows-")
  set(CMAKE_SYSTEM_NAME Windows)
else()
  message(FATAL_ERROR "POLARQUANT_TARGET: \"${POLARQUANT_TARGET}\" is for none of linux, macos, windows")
endif()
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR "${POLARQUANT_TARGET}")

set(CMAKE_C_COMPILER ${POLARQUANT_ZIG_TOOLS}/cc)
set(CMAKE_CXX_COMPILER ${POLARQUANT_ZIG_TOOLS}/c++)
set(CMAKE_AR ${POLARQUANT_ZIG_TOOLS}/ar)
set(CMAKE_RANLIB ${POLARQUANT_ZIG_TOOLS}/ranlib)
# Sanitizers and what debuggers read are on by default in zig, and not asked for here; a build that wants the latter has
# -g in the flags of its kind, which come later.
set(CMAKE_C_FLAGS_INIT "-fno-sanitize=all -g0")
set(CMAKE_CXX_FLAGS_INIT "-fno-sanitize=all -g0")
if(CMAKE_SYSTEM_NAME STREQUAL Darwin)
  # The linker signs the library, which is not to be changed later; others are stripped on their way into wheels.
  set(CMAKE_SHARED_LINKER_FLAGS_INIT -s)
endif()
if(POLARQUANT_TARGET MATCHES "-musl")
  # Programs would be static by default, and could not have the library under test.
  set(CMAKE_EXE_LINKER_FLAGS_INIT -dynamic)
endif()
if(POLARQUANT_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${POLARQUANT_EMULATOR})
endif()

# Nothing of this machine's system is for the target.
set(CMAKE_FIND_ROOT_PATH ${POLARQUANT_ZIG_TOOLS})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
