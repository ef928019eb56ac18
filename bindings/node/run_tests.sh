#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the addon in both ways and runs all tests of the Node.js binding.
# usage: run_tests.sh BUILD_DIR [--slow]
#   BUILD_DIR  a CMake build folder of polarquant with lib/libpolarquant.so
#   --slow     also 100,000 rounds, random calls, valgrind, the thread sanitizer, and the overhead of calls
# NODE names another node than the first on PATH.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[[ $# -ge 1 && -e $1/lib/libpolarquant.so ]] || { sed -n '4,7s/^# //p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
slow=${2:-}
out=$build/bindings/node
prefix=$build/bindings/prefix
node=${NODE:-node}
mkdir -p "$out"

step() { printf '\n== %s\n' "$*"; }

run_suite() {
  POLARQUANT_NODE_ADDON=$1 "$node" --test "${@:2}" >"$out/tests.log" 2>&1 && status=0 || status=$?
  grep -E '^# (tests|pass|fail|skipped)' "$out/tests.log" | tail -4
  [[ $status -eq 0 ]] || { cat "$out/tests.log"; exit 1; }
}

step "build, from the checkout"
make --no-print-directory -s -C "$here" NODE="$node" POLARQUANT_BUILD="$build" OUT="$out/checkout" \
  CFLAGS="-O2 -g -Werror" all "$out/checkout/search_calls"

step "build, from an installed library by pkg-config"
flock "$build/bindings-install.lock" cmake --install "$build" --prefix "$prefix" >"$out/install.log"
PKG_CONFIG_PATH=$prefix/lib/pkgconfig make --no-print-directory -s -C "$here" NODE="$node" OUT="$out/installed"

step "build, with the library beside the addon"
make --no-print-directory -s -C "$here" NODE="$node" POLARQUANT_BUILD="$build" POLARQUANT_BUNDLE=1 \
  OUT="$out/bundle"
cp -L "$build/lib/libpolarquant.so.0" "$out/bundle/"

step "tests, $("$node" --version)"
cd "$here"
export POLARQUANT_BUNDLE_FOLDER=$out/bundle
# Devices in this machine's memory, where the library's own tests were built.
[[ -e $build/bin/tests/libplain_devices.so ]] && export POLARQUANT_PLAIN_DEVICES=$build/bin/tests/libplain_devices.so
run_suite "$out/checkout/polarquant.node" test/*.test.js

step "conformance with the other builds"
run_suite "$out/installed/polarquant.node" test/conformance.test.js
run_suite "$out/bundle/polarquant.node" test/conformance.test.js

if [[ $slow == --slow ]]; then
  step "memory, 100,000 rounds"
  POLARQUANT_ROUNDS=50000 run_suite "$out/checkout/polarquant.node" test/memory.test.js

  step "random calls"
  for seed in 1 2 3; do
    POLARQUANT_NODE_ADDON=$out/checkout/polarquant.node "$node" --expose-gc test/random_calls.js "$seed" 10 \
      2>"$out/random_calls.log" || { tail -40 "$out/random_calls.log"; exit 1; }
  done

  step "valgrind"
  "$here/test/run_valgrind.sh" "$node" "$out/checkout/polarquant.node" "$out/valgrind.log"

  step "thread sanitizer"
  "$here/test/run_thread_sanitizer.sh" "$node" "$build" "$out"

  step "overhead of a call"
  POLARQUANT_NODE_ADDON=$out/checkout/polarquant.node "$node" bench/overhead.mjs \
    "$out/checkout/search_calls" --check
fi

printf '\nall passed\n'
