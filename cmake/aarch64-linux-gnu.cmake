# SPDX-License-Identifier: MIT
# Toolchain: 64-bit ARM programs made on another machine, as Debian's g++-aarch64-linux-gnu does, and
# run by qemu-user. `./dev.sh test --aarch64` uses it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
