# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# SPDX-License-Identifier: MIT
# Configuring and building a folder, with progress.

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
