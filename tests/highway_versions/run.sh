#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and tests the kernels against the Highway of other Debian releases, which has targets that this one's
# has not. Its packages are unpacked beside the build; nothing is installed.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

usage() {
  cat <<'HELP'
usage: tests/highway_versions/run.sh RELEASE [ARGUMENTS]

  RELEASE    a Debian release (trixie, forky, sid): libhwy-dev is taken from it into build-highway-versions/,
             and the tests of the scan, which have those of every kernel, are built with it and run
  ARGUMENTS  for ctest; default: -L '^scan$'

A second run takes what the first made; the first takes about 20 minutes on two cores.

example:
  tests/highway_versions/run.sh trixie
HELP
}

say() { printf '%s\n' "$*" >&2; }
die() {
  say "run.sh: $*"
  exit 1
}

# Unpacks Highway's packages into $system.
take_packages() {
  local folder=$work/packages
  if [[ -e $system/made ]]; then return; fi
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg
  [[ -e $keys ]] || die "$keys is missing: apt-get install debian-archive-keyring"
  say "taking the Highway of Debian $release"
  rm -rf "$folder" "$system"
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$system"
  printf 'deb [signed-by=%s] http://deb.debian.org/debian %s main\n' "$keys" "$release" >"$folder/sources.list"
  # Lists and cache of its own: those of this system stay as they are.
  local options=(-qq -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/cache" -o "APT::Sandbox::User=$(id -un)")
  apt-get "${options[@]}" update
  local library
  library=$(apt-cache "${options[@]}" depends libhwy-dev | sed --quiet 's/.*Depends: \(libhwy[0-9].*\)/\1/p')
  (cd "$folder" && apt-get "${options[@]}" --target-release "$release" download libhwy-dev "$library")
  local package
  for package in "$folder"/*.deb; do
    dpkg-deb --extract "$package" "$system"
    say "$(dpkg-deb --show "$package")"
  done
  touch "$system/made"
}

release=${1-}
case $release in
  -h | --help)
    usage
    exit
    ;;
esac
[[ $release =~ ^[a-z]+$ ]] || die "a release's name is needed, got: ${release:-nothing} (--help says more)"
arguments=("${@:2}")
((${#arguments[@]})) || arguments=(-L '^scan$')

work=$root/build-highway-versions/$release
system=$work/system
take_packages
build=$work/polarquant
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPOLARQUANT_FAISS=OFF -DPOLARQUANT_BENCH=OFF \
  -DPOLARQUANT_CUDA=OFF -DCMAKE_PREFIX_PATH="$system/usr" >&2
highway=$(sed --quiet 's/^POLARQUANT_HIGHWAY_INCLUDE:PATH=//p' "$build/CMakeCache.txt")
[[ $highway == "$system/"* ]] || die "configured with $highway, not with the Highway of $release"
cmake --build "$build" --target test_scan >&2
ctest --test-dir "$build" --output-on-failure --label-exclude '^slow$' "${arguments[@]}"
