#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and tests against other FAISS releases: those of other Debian releases, each in a system of its
# own, and a checkout of FAISS.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$root/build-faiss-versions

usage() {
  cat <<'HELP'
usage: tests/faiss_versions/run.sh RELEASE|CHECKOUT... [-- ARGUMENTS]

  RELEASE    a Debian release (trixie, forky, sid): debootstrap makes a system of it, as root, in
             build-faiss-versions/, where ./dev.sh test installs what it needs and runs
  CHECKOUT   a folder with FAISS's sources: FAISS is built there in build-faiss-versions/, and we against it,
             on this system
  ARGUMENTS  for ctest; default: -L 'faiss|capi|install|examples'

A second run takes what the first made. A release takes 2 GB and about 15 minutes on two cores, a checkout
about 20.

examples:
  tests/faiss_versions/run.sh trixie
  tests/faiss_versions/run.sh ~/src/faiss -- -L faiss --verbose
HELP
}

say() { printf '%s\n' "$*" >&2; }
die() {
  say "run.sh: $*"
  exit 1
}

# The files as they are now, committed or not. Those that differ get the time of now: what was built of
# others after a file's own time would pass for newer.
copy_sources() {
  local file
  git -C "$root" ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do
      [[ -e $root/$file ]] || continue
      if cmp --silent "$root/$file" "$1/$file"; then continue; fi
      mkdir -p "$(dirname "$1/$file")"
      cp --preserve=mode "$root/$file" "$1/$file"
    done
}

# test_release NAME [ctest's arguments…]
test_release() {
  local system=$work/$1
  ((EUID == 0)) || die "a system of Debian $1 is made, and entered, as root"
  command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
  if [[ ! -e $system/made ]]; then
    say "making a system of Debian $1"
    rm -rf "$system"
    debootstrap --variant=minbase "$1" "$system" >"$work/$1-system.log" 2>&1 ||
      die "debootstrap failed: $work/$1-system.log"
    touch "$system/made"
  fi
  copy_sources "$system/polarquant"
  # Threads ask /proc how many processors there are.
  mountpoint --quiet "$system/proc" || mount -t proc proc "$system/proc"
  local status=0
  chroot "$system" /polarquant/dev.sh test "${@:2}" || status=$?
  umount "$system/proc"
  return "$status"
}

# test_checkout FOLDER [ctest's arguments…]
test_checkout() {
  local checkout name launcher
  checkout=$(cd "$1" && pwd)
  name=$(basename "$checkout")
  launcher=$(command -v ccache || true)
  if [[ ! -e $work/$name/installed/made ]]; then
    say "building FAISS of $checkout"
    cmake -S "$checkout" -B "$work/$name/faiss" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFAISS_ENABLE_GPU=OFF \
      -DFAISS_ENABLE_PYTHON=OFF -DFAISS_ENABLE_EXTRAS=OFF -DBUILD_TESTING=OFF -DBUILD_SHARED_LIBS=OFF \
      -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$work/$name/installed" \
      -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" >&2
    cmake --build "$work/$name/faiss" --target install >&2
    touch "$work/$name/installed/made"
  fi
  cmake -S "$root" -B "$work/$name/polarquant" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$work/$name/installed" >&2
  cmake --build "$work/$name/polarquant" >&2
  ctest --test-dir "$work/$name/polarquant" --output-on-failure --label-exclude '^slow$' "${@:2}"
}

wanted=()
while (($#)) && [[ $1 != -- ]]; do
  case $1 in
    -h | --help)
      usage
      exit
      ;;
    *) wanted+=("$1") ;;
  esac
  shift
done
arguments=("${@:2}")
((${#arguments[@]})) || arguments=(-L 'faiss|capi|install|examples')
((${#wanted[@]})) || die "no release and no checkout (--help says more)"

mkdir -p "$work"
failed=()
for each in "${wanted[@]}"; do
  if [[ -e $each/faiss/Index.h ]]; then
    test_checkout "$each" "${arguments[@]}" || failed+=("$each")
  else
    [[ $each =~ ^[a-z]+$ ]] || die "$each: neither a folder of FAISS's sources nor a release's name"
    test_release "$each" "${arguments[@]}" || failed+=("$each")
  fi
done
for each in "${wanted[@]}"; do
  if [[ " ${failed[*]-} " == *" $each "* ]]; then say "$each: failed"; else say "$each: passed"; fi
done
((${#failed[@]} == 0))
