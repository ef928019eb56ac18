#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares what a shared library exports with the checked-in list, name by name.
# usage: check_exported_symbols.sh LIBRARY LIST [NM]
set -euo pipefail
library=$1
list=$2
nm=${3:-nm}

# The version node itself is exported as an absolute symbol (type A) by some linkers.
exported=$("$nm" -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
  LC_ALL=C sort -u)
if difference=$(diff <(LC_ALL=C sort -u "$list") - <<<"$exported"); then
  echo "$(wc -l <<<"$exported") exported names, as listed"
else
  echo "exported names differ from $list (< listed, > exported):"
  echo "$difference"
  exit 1
fi
