#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Times calls from Java beside the same calls from C.
#
# usage: bench.sh BUILD_DIR [TURNS]; BUILD_DIR is a CMake build folder of polarquant
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
out=$build/bindings/java/bench
home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}

"$here/build.sh" "$out" "$build"
rm -rf "$out/tests"
"$home/bin/javac" --release 11 -encoding UTF-8 -cp "$out/classes" -d "$out/tests" "$here"/src/test/java/io/github/polarquant/*.java
natives=$(echo "$out"/resources/natives/*)
${CC:-cc} -std=gnu11 -O2 -fPIC -shared -I"$home/include" -I"$home/include/linux" -I"$here/../../include" \
  "$here/src/test/native/bench.c" -L"$natives" -lpolarquant -o "$natives/libpolarquant_bench.so"
"$home/bin/java" -Djava.library.path="$natives" -Dpolarquant.library.path="$natives" \
  -cp "$out/classes:$out/tests" io.github.polarquant.Bench "${@:2}"
