#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Codes are the same bytes whatever the compiler and its flags: builds encode_hash with g++ and
# clang++ (those that are there), without optimization and with all that the processor has, and
# compares what each prints with expected.txt; the test reproducible_build does so for the build that
# is tested. After a wanted change of the bytes (a new format version), run it once with
# POLARQUANT_UPDATE_EXPECTED=1 in the environment: the first build's lines become expected.txt.
#
# usage: check_compilers.sh WORK_FOLDER INCLUDE_FOLDER… -- SOURCE… -- LIBRARY…
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
expected=$here/expected.txt
work=$1
shift
flags=(-std=c++20 -ffp-contract=off)
while [[ $1 != -- ]]; do
  # As a system folder /usr/include would come before the compiler's own headers.
  [[ $1 == /usr/include ]] || flags+=(-isystem "$1")
  shift
done
shift
flags+=(-I "$(cd "$here/../.." && pwd)")
sources=("$here/encode_hash.cc")
while [[ $1 != -- ]]; do
  sources+=("$1")
  shift
done
shift
libraries=("$@")

launcher=()
if command -v ccache >/dev/null; then launcher=(ccache); fi
# Wider vectors and fused instructions must not change a byte either.
wide=''
if grep -qw avx2 /proc/cpuinfo 2>/dev/null && grep -qw fma /proc/cpuinfo; then wide=' -mavx2 -mfma'; fi
variants=()
for compiler in g++ clang++; do
  if command -v "$compiler" >/dev/null; then variants+=("$compiler -O0" "$compiler -O3$wide"); fi
done
if ((${#variants[@]} == 0)); then
  echo "neither g++ nor clang++ is here" >&2
  exit 1
fi

folder_of() { printf '%s/%s' "$work" "${1//[ +]/_}"; }

# One compilation a line, two at a time.
for variant in "${variants[@]}"; do
  folder=$(folder_of "$variant")
  mkdir -p "$folder"
  read -ra compiler <<<"$variant"
  for source in "${sources[@]}"; do
    printf '%q ' "${launcher[@]}" "${compiler[@]}" "${flags[@]}" -c "$source" \
      -o "$folder/$(basename "$source").o"
    printf '\n'
  done
done | xargs -d '\n' -P 2 -I '{}' bash -c '{}'

failed=0
for variant in "${variants[@]}"; do
  folder=$(folder_of "$variant")
  read -ra compiler <<<"$variant"
  objects=()
  for source in "${sources[@]}"; do objects+=("$folder/$(basename "$source").o"); done
  "${compiler[0]}" "${objects[@]}" "${libraries[@]}" -pthread -o "$folder/encode_hash"
  "$folder/encode_hash" >"$folder/out.txt"
  if [[ ! -s $folder/out.txt ]]; then
    echo "$variant: encode_hash printed nothing" >&2
    exit 1
  fi
  if [[ ${POLARQUANT_UPDATE_EXPECTED-} == 1 ]]; then
    cp "$folder/out.txt" "$expected"
    echo "$variant: written to $expected"
    POLARQUANT_UPDATE_EXPECTED=0
  elif diff -u --label expected.txt --label "$variant" "$expected" "$folder/out.txt"; then
    echo "$variant: $(wc -l <"$folder/out.txt") lines as expected"
  else
    failed=1
  fi
done
exit "$failed"
