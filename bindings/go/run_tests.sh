#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests of the Go package: run_tests.sh BUILD_DIR [--slow]. BUILD_DIR is a CMake build folder of polarquant with
# lib/libpolarquant.so. Writes into BUILD_DIR/bindings alone; installs nothing, needs no network.
set -euo pipefail

say() { printf '%s\n' "go: $*"; }
die() {
  say "$*" >&2
  exit 1
}

if (($# < 1 || $# > 2)) || [[ ${2---slow} != --slow ]]; then die "usage: run_tests.sh BUILD_DIR [--slow]"; fi
build=$(cd "$1" && pwd)
slow=${2-}
package=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$package/../.." && pwd)
work=$build/bindings/go
prefix=$build/bindings/prefix
[[ -e $build/lib/libpolarquant.so ]] || die "there is no lib/libpolarquant.so in $build"
command -v go >/dev/null || die "there is no go; packages.txt lists the Debian packages"

mkdir -p "$work/tmp" "$work/bin"
export GOCACHE=$work/cache GOMODCACHE=$work/modules GOTMPDIR=$work/tmp TMPDIR=$work/tmp GOENV=off
export GOPROXY=off GOSUMDB=off GOTOOLCHAIN=local GOWORK=off GOFLAGS=-modcacherw CGO_ENABLED=1
# No thread of OpenMP's spins while another process wants the processor.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
cd "$package"

say "format and vet"
unformatted=$(gofmt -l .)
[[ -z $unformatted ]] || die "gofmt would change $unformatted"

say "with an installed library, found by pkg-config"
flock "$build/bindings-install.lock" cmake --install "$build" --prefix "$prefix" >"$work/install.log" 2>&1 ||
  die "cmake --install failed: $(<"$work/install.log")"
installed=(env "PKG_CONFIG_PATH=$prefix/lib/pkgconfig" "LD_LIBRARY_PATH=$prefix/lib")
"${installed[@]}" go vet ./...
"${installed[@]}" go test -count=1 ./...

say "with the library of the build folder, without pkg-config"
checkout=(env PKG_CONFIG=false "CGO_CFLAGS=-g -O2 -I$root/include"
  "CGO_LDFLAGS=-L$build/lib -Wl,-rpath,$build/lib")
"${checkout[@]}" go vet -tags polarquant_checkout ./...
"${checkout[@]}" go test -count=1 -tags polarquant_checkout ./...
"${checkout[@]}" go build -tags polarquant_checkout -o "$work/bin/" ./bench ./leaks ./examples

say "the example"
expected='142 1.001
852 1.001
519 0.948
852 1.001
rows 999'
printed=$("$work/bin/examples")
[[ $printed == "$expected" ]] || die "the example prints $printed"
readme=$(<README.md)
[[ $readme == *$'```\n'"$expected"$'\n```'* ]] || die "README.md shows another output of the example"

say "documentation"
go doc -all . >"$work/doc.txt"
[[ -s $work/doc.txt ]] || die "there is no documentation"

say "leaks"
if [[ $slow ]]; then "$work/bin/leaks" -rounds 100000; else "$work/bin/leaks" -rounds 2000; fi

if [[ $slow ]]; then
  say "with the race detector"
  "${checkout[@]}" go test -race -count=1 -tags polarquant_checkout .
  say "with the address sanitizer"
  "${checkout[@]}" go test -asan -count=1 -tags polarquant_checkout .
  say "with all checks of pointers that are passed to C"
  "${checkout[@]}" GODEBUG=cgocheck=2 go test -count=1 -tags polarquant_checkout .
  say "the cost of a call"
  "$work/bin/bench"
fi
say "all passed"
