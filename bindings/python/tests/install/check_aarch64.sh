#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the Python package's tests from a wheel for 64-bit ARM, by Debian's Python and NumPy for ARM under qemu. Their
# packages are unpacked into a folder, not installed: they do not go beside this machine's.
# usage: check_aarch64.sh ROOT FOLDER WHEEL [ARGUMENTS OF UNITTEST]
# Without arguments all files, each for at most POLARQUANT_FILE_SECONDS, by default 120.
set -euo pipefail
root=$(realpath "$1")
folder=$(realpath --canonicalize-missing "$2")
wheel=$(realpath "$3")
system=$folder/system

if [[ ! -e $folder/made ]]; then
  rm -rf "$folder"
  mkdir -p "$folder/packages" "$system"
  dpkg --print-foreign-architectures | grep --quiet arm64 || dpkg --add-architecture arm64
  apt-get -qq update
  cd "$folder/packages"
  # What the interpreter and NumPy load.
  packages=(python3.11-minimal libpython3.11-minimal libpython3.11-stdlib python3-numpy libc6 libgcc-s1 libstdc++6
    libgfortran5 libblas3 liblapack3 libexpat1 libffi8 libbz2-1.0 liblzma5 libssl3 libsqlite3-0 libuuid1 libcrypt1 zlib1g)
  apt-get -qq download "${packages[@]/%/:arm64}"
  for package in *.deb; do dpkg --extract "$package" "$system"; done
  touch "$folder/made"
fi

rm -rf "$folder/site"
mkdir -p "$folder/site"
python3 -m zipfile -e "$wheel" "$folder/site"
libraries=/usr/lib/aarch64-linux-gnu
# The interpreter as a program of this machine, and as that its own name for itself: tests start it again.
printf '#!/bin/sh\nexec qemu-aarch64-static -L "%s" -E "LD_LIBRARY_PATH=%s" -0 "%s" "%s" "$@"\n' \
  "$system" "$libraries/blas:$libraries/lapack" "$folder/python" "$system/usr/bin/python3.11" >"$folder/python"
chmod +x "$folder/python"
cd "$root/bindings/python/tests"
export PYTHONPATH=$folder/site:$system/usr/lib/python3/dist-packages PYTHONHOME=$system/usr
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2
if (($# > 3)); then exec "$folder/python" -m unittest "${@:4}"; fi

# File by file: what the emulator takes too long for is named, and keeps no other one from its turn.
limit=${POLARQUANT_FILE_SECONDS:-120}
passed=0 late=() failed=()
for file in test_*.py; do
  name=${file%.py} status=0
  said=$(timeout --kill-after=10 "$limit" "$folder/python" -m unittest "$name" 2>&1 </dev/null) || status=$?
  case $status in
    0) passed=$((passed + 1)) ;;
    124 | 137) late+=("$name") ;;
    *)
      failed+=("$name")
      printf '%s\n' "$said"
      ;;
  esac
  printf '%s: %s\n' "$name" "$(grep --extended-regexp '^(Ran|OK|FAILED|NO TESTS)' <<<"$said" | tr '\n' ' ')"
done
printf 'passed: %s files; not ended within %s seconds: %s; failed: %s\n' "$passed" "$limit" "${late[*]:-none}" "${failed[*]:-none}"
((${#failed[@]} == 0 && passed > 0))
