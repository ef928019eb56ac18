#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A self-contained library needs the C library and nothing else, and is hardened as distributions' packages are: no
# stack that runs code, tables that are read-only once it is loaded, canaries on the stack, no changed code pages.
# usage: check_self_contained.sh LIBRARY [READELF]
set -euo pipefail
library=$1
readelf=${2:-readelf}
failed=0

fail() {
  echo "$library: $1"
  failed=1
}

dynamic=$("$readelf" --wide --dynamic "$library")
segments=$("$readelf" --wide --program-headers "$library")
symbols=$("$readelf" --wide --syms "$library")

# The loader, and the C library with what were parts of it before glibc 2.34; musl has one file.
allowed='^(libc\.so\.6|libm\.so\.6|libpthread\.so\.0|libdl\.so\.2|ld-linux[a-z0-9-]*\.so\.[0-9]|libc\.so)$'
needed=$(sed --quiet --regexp-extended 's/.*\(NEEDED\).*\[(.*)\]/\1/p' <<<"$dynamic")
while read -r name; do
  [[ $name =~ $allowed ]] || fail "needs $name, which is no part of the C library"
done <<<"$needed"
[[ $needed ]] || fail "needs no library at all: readelf's form is not known"

grep --quiet 'BIND_NOW' <<<"$dynamic" || fail "functions are looked up when they are first called, not at once"
grep --quiet 'GNU_RELRO' <<<"$segments" || fail "tables of addresses stay writable"
if grep --quiet 'TEXTREL' <<<"$dynamic"; then fail "code is changed when it is loaded"; fi
if ! grep 'GNU_STACK' <<<"$segments" | grep --quiet ' RW '; then fail "the stack may run code"; fi
# The C library's, or one inside, which some compilers bring.
grep --quiet '__stack_chk_fail' <<<"$symbols" || fail "returns from functions are not guarded"

if ((failed)); then exit 1; fi
newest=$(grep --only-matching 'GLIBC_[0-9.]*[0-9]' <<<"$symbols" | sort --version-sort --unique | tail --lines=1 || true)
echo "needs ${needed//$'\n'/, }${newest:+ (up to $newest)}"
