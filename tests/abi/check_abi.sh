#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares the C ABI of the working tree with that of the last tag v*: builds both libraries and runs abidiff.
#
# usage: check_abi.sh ROOT WORK_FOLDER | check_abi.sh --self-test
#
# A change that breaks compiled programs fails, unless the version says that it may: before 1.0 by another minor
# number, from then on by another major one. What only adds is allowed at any time: functions, and fields at the end of
# structs that begin with struct_size. abidiff passes over all changes of such structs (suppressions.ini), and over too
# many, so that compare_layouts.py compares where fields lie. Without a tag there is nothing to compare with. The self-test
# ends with 77 where there is no abidiff.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf '%s\n' "$*" >&2; }

# The library of a source folder, with the debug information that types are read from. Kernels for one instruction set
# and no FAISS: the ABI is the same, and there is less to build.
build_library() {
  if ! { cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS='-g -O0 -DHWY_COMPILE_ONLY_STATIC' \
    -DPOLARQUANT_FAISS=OFF -DPOLARQUANT_CUDA=OFF -DPOLARQUANT_BENCH=OFF -DPOLARQUANT_TESTS=OFF &&
    cmake --build "$2" --target polarquant; } >"$2.log" 2>&1; then
    tail --lines=30 "$2.log" >&2
    say "check_abi.sh: building $1 failed"
    return 1
  fi
}

# What a version promises to keep: 0.1 of 0.1.2, 2 of 2.3.4.
promise_of() {
  local version
  version=$(sed --quiet --regexp-extended 's/^ *VERSION ([0-9]+\.[0-9]+)\..*/\1/p' "$1/CMakeLists.txt" | head --lines=1)
  if [[ $version == 0.* ]]; then printf '%s' "$version"; else printf '%s' "${version%%.*}"; fi
}

compare_libraries() {
  abidiff --no-show-locs --no-added-syms --drop-private-types --suppressions "$here/suppressions.ini" \
    --headers-dir1 "$1/include/polarquant" --headers-dir2 "$3/include/polarquant" "$2" "$4"
}

check_tree() {
  local root=$1 work=$2 tag
  tag=$(git -C "$root" describe --tags --abbrev=0 --match 'v*' 2>/dev/null) || {
    say "no tag v* yet: there is no earlier ABI to compare with"
    return 0
  }
  command -v abidiff >/dev/null || {
    say "check_abi.sh: abidiff is missing; it is in Debian's abigail-tools"
    return 1
  }
  mkdir -p "$work"
  rm -rf "$work/tag" "$work/build-tag"
  mkdir "$work/tag"
  git -C "$root" archive "$tag" | tar --extract --directory "$work/tag"
  mkdir -p "$work/build-tag" "$work/build-tree"
  build_library "$work/tag" "$work/build-tag"
  build_library "$root" "$work/build-tree"
  local status=0
  compare_libraries "$work/tag" "$work/build-tag/lib/libpolarquant.so" "$root" "$work/build-tree/lib/libpolarquant.so" ||
    status=$?
  # 1 and 2: abidiff itself failed. 4 and 8: there are changes, and some that surely break.
  if ((status & 3)); then return 1; fi
  python3 "$here/compare_layouts.py" "$work/tag/include" "$root/include" || status=8
  if ((status == 0)); then
    say "the ABI is that of $tag, or adds to it"
  elif [[ $(promise_of "$root") != "$(promise_of "$work/tag")" ]]; then
    say "the ABI is another one than that of $tag, as the version number says"
  else
    say "check_abi.sh: the ABI is not that of $tag (above), and the version number does not say so"
    return 1
  fi
}

# A library of three lines in a repository of its own.
make_repository() {
  mkdir -p "$1/include/polarquant"
  cat >"$1/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(
  polarquant
  VERSION 0.1.0
  LANGUAGES C CXX)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
add_library(polarquant SHARED polarquant.cc)
target_include_directories(polarquant PRIVATE include)
CMAKE
  cat >"$1/include/polarquant/polarquant.h" <<'HEADER'
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct polar_search_options {
  uint32_t struct_size;
  int32_t num_threads;
} polar_search_options;
typedef struct polar_blocks {
  int64_t rows;
} polar_blocks;
int32_t polar_search(const polar_blocks* blocks, int64_t k, const polar_search_options* options);
#ifdef __cplusplus
}
#endif
HEADER
  cat >"$1/polarquant.cc" <<'SOURCE'
#include "polarquant/polarquant.h"
int32_t polar_search(const polar_blocks* blocks, int64_t k, const polar_search_options* options) {
  return blocks && options ? static_cast<int32_t>(k) : 0;
}
SOURCE
  git -C "$1" init --quiet
  git -C "$1" add .
  git -C "$1" -c user.name=x -c user.email=x@x commit --quiet --message=first
}

# expect STATUS WHAT SED_EXPRESSION [FILE…]: the tree after an edit of these files; they come back after it.
failures=0
expect() {
  local status=0
  if (($# > 3)); then sed --in-place --regexp-extended "$3" "${@:4}"; fi
  check_tree "$repository" "$scratch/work" >"$scratch/said" 2>&1 || status=$?
  if ((status != $1)); then
    say "self-test: $2: status $status, $1 is right"
    cat "$scratch/said" >&2
    ((++failures))
  fi
  git -C "$repository" checkout --quiet .
}

self_test() {
  command -v abidiff >/dev/null || return 77
  scratch=$(mktemp --directory)
  trap 'rm -rf "$scratch"' EXIT
  repository=$scratch/repository
  make_repository "$repository"
  local header=$repository/include/polarquant/polarquant.h source=$repository/polarquant.cc
  expect 0 "there is no tag"
  grep --quiet 'no tag' "$scratch/said" || ((++failures))
  git -C "$repository" tag v0.1.0
  expect 0 "nothing has changed"
  expect 0 "a field at the end of options" 's/(int32_t num_threads;)/\1 int64_t nprobe;/' "$header"
  expect 1 "a field in the middle of options" 's/(int32_t num_threads;)/int32_t nprobe; \1/' "$header"
  expect 1 "a field in the middle of options, of more bytes" 's/(int32_t num_threads;)/int64_t nprobe; \1/' "$header"
  expect 1 "a larger field" 's/int32_t num_threads;/int64_t num_threads;/' "$header"
  expect 1 "a field at the end of a struct without a size" 's/(int64_t rows;)/\1 int64_t more;/' "$header"
  expect 1 "another type of an argument" 's/int64_t k/int32_t k/' "$header" "$source"
  expect 1 "a function less" 's/polar_search\(/polar_find(/' "$header" "$source"
  expect 0 "a function more" 's/^(int32_t polar_search\(.*\));?( \{)?$/int32_t polar_more(void) { return 1; }\n\1\2/' "$source"
  expect 0 "a change that the version says" 's/int64_t k/int32_t k/; s/VERSION 0\.1\.0/VERSION 0.2.0/' "$header" \
    "$source" "$repository/CMakeLists.txt"
  if ((failures)); then return 1; fi
  say "self-test: all passed"
}

case ${1-} in
  --self-test) self_test ;;
  *)
    (($# == 2)) || {
      say "usage: check_abi.sh ROOT WORK_FOLDER | check_abi.sh --self-test"
      exit 2
    }
    check_tree "$1" "$2"
    ;;
esac
