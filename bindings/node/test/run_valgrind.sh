#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Many rounds under valgrind: no wrong access, and no leak, that the addon or the library has a part in. Node
# itself leaves much behind, which is passed over.
# usage: run_valgrind.sh NODE ADDON LOG [ROUNDS]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
OMP_NUM_THREADS=1 POLARQUANT_NODE_ADDON=$2 valgrind --leak-check=full --show-leak-kinds=definite \
  --undef-value-errors=no --num-callers=30 --log-file="$3" "$1" --jitless --expose-gc "$here/rounds.js" "${4:-60}"
# Reports are apart by lines without text; frames of the addon name its sources, or its file.
ours=$(cd "$here/../src" && printf '%s|' *.c)polarquant
awk -v RS='==[0-9]+== \n' -v ours="(${ours//./\\.})" \
  '$0 ~ ours && /(are definitely lost|Invalid |Mismatched|Process terminating)/' "$3" >"$3.ours"
if [[ -s $3.ours ]]; then
  cat "$3.ours"
  exit 1
fi
grep -E 'definitely lost:' "$3" || true
