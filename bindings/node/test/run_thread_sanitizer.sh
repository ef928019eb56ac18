#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Many rounds with an addon that gcc's thread sanitizer watches; Node and the library are not watched.
# usage: run_thread_sanitizer.sh NODE BUILD_DIR OUT [ROUNDS]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
make --no-print-directory -s -C "$here/.." NODE="$1" POLARQUANT_BUILD="$2" OUT="$3/thread_sanitizer" \
  CFLAGS="-O1 -g -fsanitize=thread"
runtime=$(cc -print-file-name=libtsan.so)
log=$3/thread_sanitizer.log
OMP_NUM_THREADS=1 POLARQUANT_NODE_ADDON=$3/thread_sanitizer/polarquant.node LD_PRELOAD=$runtime \
  TSAN_OPTIONS="ignore_noninstrumented_modules=1 report_signal_unsafe=0 exitcode=0" \
  "$1" "$here/rounds.js" "${4:-300}" >"$log" 2>&1 || { tail -40 "$log"; exit 1; }
grep -E '^[0-9]+ rounds$' "$log" || { tail -40 "$log"; exit 1; }
if grep -q 'WARNING: ThreadSanitizer' "$log"; then
  head -80 "$log"
  exit 1
fi
