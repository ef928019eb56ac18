#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the Rust binding with the library of a CMake build folder. It installs nothing and writes only below
# BUILD_DIR/bindings. The packages of packages.txt must be there.
#
# usage: run_tests.sh [--slow] BUILD_DIR
#   --slow  also 100,000 rounds under valgrind (a quarter of an hour), limits of overhead, and the other Rust on
#           the PATH
set -eu

slow=
build=
for argument; do
  case $argument in
    --slow) slow=1 ;;
    *) build=$argument ;;
  esac
done
if [ ! -e "$build/lib/libpolarquant.so" ]; then
  sed -n 's/^# usage: /usage: /p' "$0" >&2
  echo "there is no lib/libpolarquant.so in '$build'" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$build" && pwd)
out=$build/bindings/rust
prefix=$build/bindings/prefix
other_path=$PATH
mkdir -p "$out"
cd "$here"

# Debian's Rust, the oldest that is promised, where it is installed.
if [ -x /usr/bin/cargo ] && [ -x /usr/bin/rustc ]; then
  PATH=/usr/bin:$PATH
fi
export PATH CARGO_NET_OFFLINE=true CARGO_TARGET_DIR="$out/target" CARGO_HOME="$out/cargo-home"
export POLARQUANT_INCLUDE_DIR="$here/../../include"
unset POLARQUANT_LIB_DIR POLARQUANT_SOURCE_DIR PKG_CONFIG RUSTFLAGS RUSTDOCFLAGS

say() {
  printf '\n== %s\n' "$*"
}

install_library() {
  say "the library, installed"
  flock "$build/bindings-install.lock" cmake --install "$build" --prefix "$prefix" > "$out/install.log"
  pkgconfig=$(dirname "$(find "$prefix" -name polarquant.pc | head -n 1)")
  export PKG_CONFIG_PATH="$pkgconfig"
  libraries=$(dirname "$pkgconfig")
}

check_sources() {
  say "sources"
  cargo --version
  if cargo fmt --version > /dev/null 2>&1; then cargo fmt --all --check; fi
  if command -v bindgen > /dev/null && command -v rustfmt > /dev/null; then
    POLARQUANT_INCLUDE_DIR="$here/../../include" polarquant-sys/generate.sh --check
  fi
  if cargo clippy --version > /dev/null 2>&1; then
    cargo clippy --quiet --workspace --all-targets -- -D warnings
  fi
}

test_installed() {
  say "tests, by pkg-config"
  cargo build --quiet --examples
  cargo test --quiet --workspace --lib --tests
  # Programs of documentation's tests are not given the folders that others are.
  LD_LIBRARY_PATH="$libraries" cargo test --quiet --workspace --doc
  cargo run --quiet --example first_search
  plain=$build/bin/tests/libplain_devices.so
  if [ -e "$plain" ]; then
    say "devices that are none"
    POLARQUANT_CUDA_LIBRARY=$plain cargo test --quiet --test plain_devices
  fi
}

# The other ways to find the library; each has a target folder of its own.
test_other_ways() {
  say "the library of a folder"
  PKG_CONFIG=false POLARQUANT_LIB_DIR="$build/lib" CARGO_TARGET_DIR="$out/target-folder" \
    cargo run --quiet --example first_search
  say "the library of a checkout"
  # A checkout that has the build folder at its place, of links.
  checkout=$out/checkout
  rm -rf "$checkout"
  mkdir -p "$checkout/bindings/rust"
  ln -s "$here/../../include" "$checkout/include"
  ln -s "$build" "$checkout/build"
  cp -r Cargo.toml Cargo.lock README.md src examples benches polarquant-sys "$checkout/bindings/rust"
  (cd "$checkout/bindings/rust" &&
    PKG_CONFIG=false CARGO_TARGET_DIR="$out/target-checkout" cargo run --quiet --example first_search)
  say "the library as it would be built, by a cmake that has it already"
  mkdir -p "$out/cmake"
  printf '#!/bin/sh\n[ "$1" != --build ] || { mkdir -p "$2/lib" && cp -P "%s"/libpolarquant.so* "$2/lib"; }\n' \
    "$build/lib" > "$out/cmake/cmake"
  chmod +x "$out/cmake/cmake"
  PATH="$out/cmake:$PATH" PKG_CONFIG=false CARGO_TARGET_DIR="$out/target-vendored" \
    cargo run --quiet --features vendored --example first_search
  say "no library"
  if PKG_CONFIG=false POLARQUANT_LIB_DIR="$out" CARGO_TARGET_DIR="$out/target-none" \
    cargo build --quiet 2> "$out/none.log"; then
    echo "a build without the library succeeded" >&2
    exit 1
  fi
  grep 'POLARQUANT_LIB_DIR: no libpolarquant' "$out/none.log"
}

check_docs() {
  say "documentation"
  RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps --workspace
  # As docs.rs makes it, without the library.
  DOCS_RS=1 PKG_CONFIG=false CARGO_TARGET_DIR="$out/target-docs" cargo doc --quiet --no-deps
}

# Both crates as they would be published; the second one finds the first one unpacked beside it.
check_packages() {
  say "packages"
  cargo package --quiet --offline --allow-dirty -p polarquant-sys
  packages=$CARGO_TARGET_DIR/package
  sys=$packages/polarquant-sys-0.1.0.crate
  rm -rf "$out/packed"
  mkdir -p "$out/packed"
  tar -xzf "$sys" -C "$out/packed"
  printf '{"files":{},"package":"%s"}' "$(sha256sum "$sys" | cut -d ' ' -f 1)" \
    > "$out/packed/polarquant-sys-0.1.0/.cargo-checksum.json"
  cargo package --quiet --offline --allow-dirty -p polarquant \
    --config 'source.crates-io.replace-with="packed"' \
    --config "source.packed.directory=\"$out/packed\""
  for part in Cargo.toml LICENSE README.md src/lib.rs examples/first_search.rs; do
    tar -tzf "$packages/polarquant-0.1.0.crate" "polarquant-0.1.0/$part"
  done
}

# The program of a test.
test_program() {
  cargo test --release --no-run --test "$1" 2>&1 | sed -n 's/.*(\(.*\))$/\1/p' | tail -n 1
}

# Rounds of one of the tests of memory.
run_valgrind() {
  OMP_NUM_THREADS=1 POLARQUANT_VALGRIND=1 POLARQUANT_ROUNDS=$1 LD_LIBRARY_PATH="$libraries" \
    valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite,indirect \
    --show-leak-kinds=definite,indirect --error-exitcode=9 "$program" "$2"
}

test_slowly() {
  say "100,000 rounds"
  POLARQUANT_ROUNDS=100000 cargo test --quiet --release --test memory -- --nocapture
  say "100,000 small rounds under valgrind, and 3,000 large ones"
  program=$(test_program memory)
  run_valgrind 100000 small_rounds
  run_valgrind 3000 large_rounds
  say "what a search takes longer than in C"
  cargo bench --quiet --bench call_overhead -- --most 1000
  if [ "$(PATH=$other_path command -v cargo)" != "$(command -v cargo)" ]; then
    say "the other Rust on the PATH"
    (PATH=$other_path
     export CARGO_TARGET_DIR="$out/target-other"
     cargo --version
     cargo clippy --quiet --workspace --all-targets -- -D warnings
     RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps --workspace
     cargo build --quiet --examples
     cargo test --quiet --workspace --lib --tests
     check_packages)
  fi
}

install_library
check_sources
test_installed
test_other_ways
check_docs
check_packages
if [ -n "$slow" ]; then test_slowly; fi
say "all passed"
