#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs Leak.java under valgrind and reads its report for what is ours: memory that is lost, and reads and
# writes that are wrong, in libpolarquant or in the library between it and Java. Java's own are passed over.
#
# usage: valgrind.sh OUT CLASSES [ROUNDS]; run_tests.sh --slow calls it
set -euo pipefail

out=$1
log=$out/valgrind.log
report=$out/valgrind.txt
valgrind --leak-check=full --show-leak-kinds=definite --smc-check=all-non-file --error-limit=no \
  --num-callers=30 --log-file="$log" \
  "$JAVA_HOME/bin/java" -Xint -XX:+UseSerialGC -XX:-UsePerfData -Xmx128m -cp "$2" \
  io.github.polarquant.Leak "${3:-1000}" 10000000 >"$report"

grep -q 'LEAK SUMMARY' "$log" || {
  echo "valgrind.sh: valgrind did not end as it should; see $log" >&2
  exit 1
}
# Records are parted by empty lines. A wrong access is ours when its first frames are; a loss, when any is.
sed -E 's/^==[0-9]+== ?//' "$log" | awk '
  BEGIN { RS = ""; FS = "\n" }
  /definitely lost in/ && /libpolarquant|jni_[a-z]*\.c/ { print; print ""; next }
  /^(Thread [0-9]+[^\n]*\n)?(Invalid|Conditional|Use of uninit|Syscall param|Mismatched|Source and dest)/ {
    frames = 0
    for (i = 1; i <= NF && frames < 3; ++i)
      if ($i ~ /^ +(at|by) 0x/) {
        ++frames
        if ($i ~ /libpolarquant|jni_[a-z]*\.c/) { print; print ""; next }
      }
  }' >"$report"
if [[ -s $report ]]; then
  cat "$report"
  exit 1
fi
echo "valgrind: nothing lost, and no wrong access, in ${3:-1000} rounds"
