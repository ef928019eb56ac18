#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the binding in both ways and runs all its tests. Installs nothing, uses no network, writes into
# BUILD_DIR/bindings alone.
#
# usage: run_tests.sh BUILD_DIR [--slow]
#   BUILD_DIR  a CMake build folder of polarquant, with lib/libpolarquant.so
#   --slow     also 100,000 rounds of making and freeing, other collectors, and valgrind
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

die() {
  printf 'run_tests.sh: %s\n' "$*" >&2
  exit 1
}
step() { printf '== %s\n' "$*"; }

[[ $# -ge 1 && -e $1/lib/libpolarquant.so ]] || die "usage: run_tests.sh BUILD_DIR [--slow]"
build=$(cd "$1" && pwd)
slow=${2:-}
[[ $slow == "" || $slow == --slow ]] || die "unknown argument: $slow"
out=$build/bindings/java/checkout
installed=$build/bindings/java/installed
prefix=$build/bindings/prefix
JAVA_HOME=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
export JAVA_HOME
java=$JAVA_HOME/bin/java

step "build, from the checkout"
"$here/build.sh" "$out" "$build"

step "build, from an installed polarquant"
mkdir -p "$build/bindings"
flock "$build/bindings-install.lock" cmake --install "$build" --prefix "$prefix" >"$build/bindings/java/install.log"
pc=$(find "$prefix" -name polarquant.pc -print -quit)
[[ -n $pc ]] || die "nothing was installed; see $build/bindings/java/install.log"
PKG_CONFIG_PATH=$(dirname "$pc") "$here/build.sh" "$installed"

step "every function of the C header is reached"
nm -D --undefined-only "$out"/resources/natives/*/libpolarquant_jni.so | grep -o 'polar_[a-z_]*' |
  sort -u >"$out/reached.txt"
sed -n 's/^\(polar_[a-z_]*\): ..*/\1/p' "$here/not_reached.txt" | sort -u >"$out/excused.txt"
sort -u "$root/tests/capi/polarquant_symbols.txt" >"$out/wanted.txt"
sort -m "$out/reached.txt" "$out/excused.txt" | uniq | diff "$out/wanted.txt" - ||
  die "'<': a function of the header that is neither called nor named in not_reached.txt"

step "the example"
"$java" -cp "$installed/polarquant-0.1.0.jar" "$here/examples/first_search.java" "$installed"

step "tests"
rm -rf "$out/tests"
"$JAVA_HOME/bin/javac" --release 11 -encoding UTF-8 -Xlint:all,-try -Werror -g \
  -cp "$out/polarquant-0.1.0.jar" -d "$out/tests" "$here"/src/test/java/io/github/polarquant/*.java
classes=$out/polarquant-0.1.0.jar:$out/tests
# Runs the tests with options of Java's; warnings of -Xcheck:jni fail them too.
run_tests() {
  local status=0
  cd "$out"
  "$java" -ea -Xcheck:jni -Dpolarquant.test.root="$root" -Dpolarquant.test.out="$out" "$@" -cp "$classes" \
    io.github.polarquant.Tests $slow >"$out/tests.log" 2>&1 || status=$?
  grep -v '^ok ' "$out/tests.log" || true
  if grep -q -E 'WARNING in native|WARNING: JNI|FATAL ERROR in native' "$out/tests.log"; then die "-Xcheck:jni has something to say"; fi
  ((status == 0)) || die "tests failed; see $out/tests.log"
}
run_tests
plain=$build/bin/tests/libplain_devices.so
if [[ -e $plain ]]; then
  step "tests on devices that are none"
  POLARQUANT_CUDA_LIBRARY=$plain run_tests -Dpolarquant.test.word=PlainDevices
fi

step "making and freeing"
leak() { "$java" -Xmx64m -XX:+UseSerialGC "${@:3}" -cp "$classes" io.github.polarquant.Leak "$1" "$2"; }
# With the first compiler alone, so that Java itself stops growing early.
leak 10000 2048 -XX:TieredStopAtLevel=1

if [[ $slow == --slow ]]; then
  step "tests with other collectors"
  run_tests -XX:+UseSerialGC -Xmx96m
  run_tests -XX:+UseParallelGC -XX:+UseNUMA
  run_tests -XX:+UseZGC
  step "making and freeing, 100,000 rounds"
  leak 100000 4096
  step "valgrind"
  "$here/valgrind.sh" "$out" "$classes"
fi
step "all passed"
