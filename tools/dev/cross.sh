# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# SPDX-License-Identifier: MIT
# Commands of dev.sh that build for other systems: cross.

# What zig calls them. Programs for glibc and macOS need that version or a newer one.
cross_targets=(x86_64-linux-gnu.2.28 aarch64-linux-gnu.2.28 x86_64-linux-musl aarch64-linux-musl
  x86_64-windows-gnu aarch64-macos.11.0 x86_64-macos.10.15)

# need_zig TARGET: sets zig_tools to a folder of compilers for it.
need_zig() {
  local venv=$root/build-cross/zig zig tool
  zig_tools=$root/build-cross/tools/$1
  if ! "$venv/bin/python" -c 'import ziglang' 2>/dev/null; then
    need_packages "${packages_python[@]}"
    say "installing zig into build-cross/zig"
    quietly python3 -m venv "$venv"
    quietly "$venv/bin/pip" install ziglang
  fi
  zig=$("$venv/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
  mkdir -p "$zig_tools"
  for tool in cc c++; do printf '#!/bin/sh\nexec "%s" %s -target %s "$@"\n' "$zig" "$tool" "$1" >"$zig_tools/$tool"; done
  for tool in ar ranlib; do printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" "$tool" >"$zig_tools/$tool"; done
  chmod +x "$zig_tools"/*
  # ccache would take programs that were written anew for another compiler; what they are is zig's version and the target.
  CCACHE_COMPILERCHECK="string:zig $("$zig" version) $1"
  export CCACHE_COMPILERCHECK
}

# need_emulator TARGET: sets emulator to what runs the target's programs here, with their loader; installs it.
need_emulator() {
  emulator=''
  case $1 in
    aarch64-linux-gnu*)
      need_packages qemu-user-static libc6-arm64-cross
      emulator='qemu-aarch64-static;-L;/usr/aarch64-linux-gnu'
      ;;
    aarch64-linux-musl)
      need_architecture arm64
      need_packages qemu-user-static musl:arm64
      emulator=qemu-aarch64-static
      ;;
    x86_64-linux-musl) need_packages musl ;;
    x86_64-windows-gnu)
      need_packages wine64 llvm-14
      emulator=/usr/lib/wine/wine64
      # A Windows of this build folder's own, without a word of what it does not have.
      export WINEPREFIX=$root/build-cross/wine WINEDEBUG=-all
      mkdir -p "$WINEPREFIX"
      ;;
    *-macos*) need_packages llvm-14 ;;
  esac
}

# need_sqlite TARGET: sets sqlite_options to what builds SQLite's extension for it: two headers, which are the same for
# all systems. Programs for Windows and macOS would not find the library beside it.
need_sqlite() {
  local headers=$root/build-cross/sqlite
  sqlite_options=(-DPOLARQUANT_SQLITE=OFF)
  [[ $1 == *-linux-* ]] || return 0
  need_packages libsqlite3-dev
  mkdir -p "$headers"
  cp /usr/include/sqlite3.h /usr/include/sqlite3ext.h "$headers"
  sqlite_options=(-DPOLARQUANT_SQLITE=ON "-DPOLARQUANT_SQLITE_INCLUDE=$headers")
}

# build_target TARGET [cmake -D arguments…]: into build-cross/TARGET, and sets library to the self-contained library.
build_target() {
  local options=() sqlite_options=() emulator target=$1
  need_zig "$target"
  need_emulator "$target"
  need_sqlite "$target"
  need_sources
  mapfile -t options < <(source_options)
  build_dir=$root/build-cross/$target
  build "${options[@]}" "-DCMAKE_TOOLCHAIN_FILE=$root/cmake/zig.cmake" "-DPOLARQUANT_TARGET=$target" \
    "-DPOLARQUANT_ZIG_TOOLS=$zig_tools" "-DPOLARQUANT_EMULATOR=$emulator" -DPOLARQUANT_STATIC=ON \
    -DPOLARQUANT_OPENMP=OFF -DPOLARQUANT_BENCH=OFF "${sqlite_options[@]}" "${@:2}"
  case $target in
    *-windows-*) library=$build_dir/bin/tests/polarquant.dll ;;
    *-macos*) library=$build_dir/lib/libpolarquant.0.dylib ;;
    *) library=$build_dir/lib/libpolarquant.so ;;
  esac
}

# check_library TARGET: what the built file exports and needs.
check_library() {
  local symbols=$root/tests/capi/polarquant_symbols.txt
  case $1 in
    *-windows-*) python3 "$root/tests/abi/check_other_library.py" "$library" "$symbols" ;;
    *-macos*) python3 "$root/tests/abi/check_other_library.py" "$library" "$symbols" "${1##*-macos.}" ;;
    *) "$root/tests/abi/check_self_contained.sh" "$library" ;;
  esac
}

# cross TARGET: builds the self-contained library and its tests, checks the file, and runs the tests. Programs for macOS
# cannot be run here: they are compiled and linked.
cross() {
  local library
  build_target "$1" -DPOLARQUANT_TESTS=ON
  check_library "$1"
  if [[ $1 == *-macos* ]]; then
    say "not run: there is no macOS here"
    return
  fi
  ctest --test-dir "$build_dir" --output-on-failure --parallel 2 --label-exclude '^slow$'
}

command_cross() {
  local target wanted=("$@")
  ((${#wanted[@]})) || wanted=("${cross_targets[@]}")
  for target in "${wanted[@]}"; do
    [[ " ${cross_targets[*]} " == *" $target "* ]] || die "cross: no target $target; there are ${cross_targets[*]}"
  done
  for target in "${wanted[@]}"; do
    say "== $target"
    cross "$target"
  done
}
