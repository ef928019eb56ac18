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

# shellcheck source=tests/support/debian_system.sh
source "$root/tests/support/debian_system.sh"

# test_release NAME [ctest's arguments…]
test_release() {
  local system=$work/$1
  make_system "$1" "$system"
  copy_sources "$system/polarquant"
  in_system "$system" /polarquant/dev.sh test "${@:2}"
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
