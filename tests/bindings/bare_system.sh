#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the lines of the bindings' READMEs on a bare Debian system, as a newcomer would.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$root/build-bare-system

usage() {
  cat <<'HELP'
usage: tests/bindings/bare_system.sh [LANGUAGE...]

  LANGUAGE   rust, go, node or java; default: all

debootstrap makes a system of Debian 12 in build-bare-system/, as root. There ./dev.sh build builds the library, and for
each language the packages of its packages.txt are installed, and its README's lines are run: from the checkout, and
with the library installed, where a registry's package is taken from the checkout. The first run takes 2 GB and about
20 minutes on two cores.

example:
  tests/bindings/bare_system.sh go
HELP
}

# shellcheck source=tests/support/debian_system.sh
source "$root/tests/support/debian_system.sh"

system=$work/bookworm

# enter FOLDER LINE
enter() {
  say "  $2"
  in_system "$system" bash -euc "cd $1; export LC_ALL=C.UTF-8 HOME=/root; $2"
}

# run FOLDER LINE: a line of the README of $language, whose folders /path/to/polarquant and OUT are /polarquant and /out.
run() {
  grep --quiet --fixed-strings -- "${2%%$'\n'*}" "$root/bindings/$language/README.md" ||
    die "bindings/$language/README.md does not have the line: $2"
  local line=${2//\/path\/to\/polarquant//polarquant}
  enter "$1" "${line//OUT//out}"
}

# Reads what an example printed: docs/languages.md has it.
expect_example() {
  local expected printed
  # The backticks are sed's to read.
  # shellcheck disable=SC2016
  expected=$(sed --quiet '/^```text$/,/^```$/{/^```/!p}' "$root/docs/languages.md")
  printed=$(cat)
  [[ $printed == *"$expected" ]] || die "$language: the example printed: $printed"
}

test_rust() {
  run /polarquant "cd bindings/rust && cargo run --example first_search" | expect_example
  enter / "cargo init --quiet /app && cp /polarquant/bindings/rust/examples/first_search.rs /app/src/main.rs"
  run /app "cargo add --path /path/to/polarquant/bindings/rust"
  enter /app "cargo run --quiet" | expect_example
}

test_go() {
  enter / "mkdir /app && cp /polarquant/bindings/go/examples/first_search.go /app"
  enter /app "go mod init app"
  run /app 'go mod edit -require github.com/polarquant/polarquant/bindings/go@v0.1.0 \
  -replace github.com/polarquant/polarquant/bindings/go=/path/to/polarquant/bindings/go'
  run /app "go build -tags polarquant_checkout"
  enter /app ./app | expect_example
  enter /app "go build && ./app" | expect_example
}

test_node() {
  run /polarquant "cd bindings/node && make POLARQUANT_BUILD=../../build"
  run /polarquant/bindings/node "node examples/first_search.mjs" | expect_example
  enter /polarquant/bindings/node "make clean && make && node examples/first_search.mjs" | expect_example
}

test_java() {
  local arguments
  for arguments in "OUT build" "OUT"; do
    run /polarquant "bindings/java/build.sh $arguments"
    run /polarquant "java -cp OUT/polarquant-0.1.0.jar bindings/java/examples/first_search.java" | expect_example
  done
}

case ${1-} in
  -h | --help)
    usage
    exit
    ;;
esac
languages=("$@")
((${#languages[@]})) || languages=(rust go node java)
for language in "${languages[@]}"; do
  [[ -e $root/bindings/$language/packages.txt ]] || die "$language: not a language of bindings/ (--help names them)"
done

make_system bookworm "$system"
copy_sources "$system/polarquant"
enter /polarquant "./dev.sh build >&2 && cmake --install build >/dev/null && ldconfig"
for language in "${languages[@]}"; do
  say "$language"
  packages=$(tr '\n' ' ' <"$root/bindings/$language/packages.txt")
  enter / "rm -rf /app /out && apt-get -qq install --no-install-recommends $packages >/dev/null 2>&1"
  "test_$language"
done
say "all passed"
