#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the tests of the SQLite extension with the SQLite of another Debian release, built from its sources in
# place of this system's. The extension stays as it was built, as in a package that meets other SQLites.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

usage() {
  cat <<'HELP'
usage: tests/sqlite_versions/run.sh RELEASE [BUILD [ARGUMENTS]]

  RELEASE    a Debian release (trixie, forky, sid): its SQLite is built in build-sqlite-versions/; nothing is
             installed
  BUILD      the folder of a build whose test_sqlite is there; default: build
  ARGUMENTS  for ctest; default: -L sqlite, without the slow ones

Needs tclsh, which makes SQLite's one source file of many. A second run takes what the first made, which takes
two minutes.

example:
  tests/sqlite_versions/run.sh trixie
HELP
}

say() { printf '%s\n' "$*" >&2; }
die() {
  say "run.sh: $*"
  exit 1
}

# Unpacks SQLite's sources into $work/source.
take_sources() {
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg folder=$work/packages
  if [[ -e $work/source/configure ]]; then return; fi
  [[ -e $keys ]] || die "$keys is missing: apt-get install debian-archive-keyring"
  say "taking the SQLite of Debian $release"
  rm -rf "$folder" "$work/source"
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  printf 'deb-src [signed-by=%s] http://deb.debian.org/debian %s main\n' "$keys" "$release" >"$folder/sources.list"
  # Lists and cache of its own: those of this system stay as they are.
  local options=(-qq -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/cache" -o "APT::Sandbox::User=$(id -un)")
  apt-get "${options[@]}" update
  (cd "$folder" && apt-get "${options[@]}" source --download-only sqlite3)
  dpkg-source --extract "$folder"/sqlite3_*.dsc "$work/source" >&2
}

# Builds $library, which programs take in place of the system's.
build_library() {
  if [[ -e $library ]]; then return; fi
  command -v tclsh >/dev/null || die "tclsh is missing: apt-get install tcl"
  (cd "$work/source" && ./configure && make sqlite3.c) >"$work/make.log" 2>&1 || die "see $work/make.log"
  mkdir -p "$(dirname "$library")"
  # As Debian builds it, as far as programs can tell.
  cc -O2 -fPIC -shared -Wl,-soname,libsqlite3.so.0 -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS5 \
    -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_SECURE_DELETE -DSQLITE_USE_URI -o "$library" "$work/source/sqlite3.c" \
    -ldl -lm -lpthread
}

release=${1-}
case $release in
  -h | --help)
    usage
    exit
    ;;
esac
[[ $release =~ ^[a-z]+$ ]] || die "a release's name is needed, got: ${release:-nothing} (--help says more)"
build=$(cd "${2:-$root/build}" && pwd)
arguments=("${@:3}")
((${#arguments[@]})) || arguments=(-L sqlite --label-exclude '^slow$')

work=$root/build-sqlite-versions/$release
library=$work/lib/libsqlite3.so.0
mkdir -p "$work"
take_sources
build_library
export LD_LIBRARY_PATH=$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
ldd "$build/bin/tests/test_sqlite" | grep --quiet "$library" || die "test_sqlite takes another SQLite than $library"
say "SQLite $(/usr/bin/python3 -c 'import sqlite3; print(sqlite3.sqlite_version)')"
ctest --test-dir "$build" --output-on-failure "${arguments[@]}"
