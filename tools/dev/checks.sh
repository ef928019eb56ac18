# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# SPDX-License-Identifier: MIT
# Commands of dev.sh that check: test, fuzz, tidy, check.

command_test() {
  local options=() suffix='' selection=(--label-exclude '^slow$') arguments=()
  local packages=()
  while (($#)); do
    case $1 in
      --slow) selection=() ;;
      --clang) packages+=("${packages_clang[@]}") ;;
      --bindings)
        mapfile -t -O "${#packages[@]}" packages < <(packages_of_bindings)
        options+=(-DPOLARQUANT_TEST_BINDINGS=ON)
        ;;
      --browser) packages+=("${packages_browser[@]}") ;;
      --no-faiss)
        options+=(-DPOLARQUANT_FAISS=OFF -DPOLARQUANT_BENCH=OFF)
        suffix+=-no-faiss
        ;;
      --no-openmp)
        options+=(-DPOLARQUANT_OPENMP=OFF -DPOLARQUANT_FAISS=OFF -DPOLARQUANT_BENCH=OFF)
        suffix+=-no-openmp
        ;;
      --static)
        options+=(-DPOLARQUANT_STATIC=ON -DPOLARQUANT_OPENMP=OFF -DPOLARQUANT_BENCH=OFF)
        need_sources
        mapfile -t -O "${#options[@]}" options < <(source_options)
        suffix+=-static
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
# instruction set, or by another compiler; and so are files for other systems, whose headers are not here.
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
  mapfile -t changed < <(git diff --name-only --diff-filter=d "$base" -- 'src/*.cc' 'bench/*.cc' ':!bench/micro' 'tests/*.cc' \
    ':!*_windows.cc' ':!*_macos.cc' |
    xargs --no-run-if-empty grep --files-without-match foreach_target.h)
  if ((${#changed[@]} == 0)); then
    say "tidy: no source differs from $base"
    return
  fi
  build_dir=$root/build-tidy
  configure -DPOLARQUANT_CUDA=OFF
  # A header that a source of bench/ includes.
  quietly cmake --build "$build_dir" --target polarquant_bench_commit
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
  check_step "the format" "$0" format --check
  check_step "warnings are errors, codes are the same from g++ and clang, and bindings" "$0" test --werror --clang --bindings
  if [[ -n $(git -C "$root" tag --list 'v*') ]]; then need_packages "${packages_abi[@]}"; fi
  check_step "the C ABI is that of the last tag, or adds to it" "$root/tests/abi/check_abi.sh" "$root" "$root/build-abi"
  check_step "clang-tidy over what the last ten commits changed" "$0" tidy
  if ((full)); then
    check_step "the site of the pages" "$0" docs
    check_step "pages in a browser" "$0" test --werror --browser --label-regex pages
    check_step "address and undefined-behaviour sanitizers" "$0" test --sanitize address,undefined
    check_step "thread sanitizer" "$0" test --sanitize thread
    check_step "without FAISS" "$0" test --no-faiss
    check_step "without OpenMP" "$0" test --no-openmp
    check_step "one self-contained library" "$0" test --static
    if ((EUID == 0)) && command -v debootstrap >/dev/null; then
      check_step "the FAISS of Debian trixie" "$root/tests/faiss_versions/run.sh" trixie
      check_step "the bindings' READMEs on a bare Debian 12" "$root/tests/bindings/bare_system.sh"
    else
      say "== left out: other FAISS releases and a bare Debian 12, which need root and debootstrap"
    fi
    if command -v apt-get >/dev/null; then
      check_step "the Highway of Debian trixie" "$root/tests/highway_versions/run.sh" trixie
      check_step "the SQLite of Debian trixie" "$root/tests/sqlite_versions/run.sh" trixie
    else
      say "== left out: other Highway and SQLite releases, which are taken from Debian"
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
