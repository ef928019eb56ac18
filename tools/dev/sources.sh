# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# SPDX-License-Identifier: MIT
# Sources of other projects that self-contained builds compile, in a folder that keeps them: POLARQUANT_SOURCES.

# The folders, and the source packages of Debian 12, whose versions are those that CMake fetches; of Catch2 an older one,
# which will do.
declare -A source_packages=([highway]=highway [fmt]=fmtlib [catch2]=catch2 [xxhash]=xxhash [json]=nlohmann-json3
  [faiss]=faiss)

# need_sources: what POLARQUANT_SOURCES does not have is taken from Debian 12, with its signatures and sums checked.
# Without apt, CMake fetches what is missing.
need_sources() {
  [[ -n ${POLARQUANT_SOURCES-} ]] || return 0
  local name missing=() keys=/usr/share/keyrings/debian-archive-keyring.gpg
  for name in "${!source_packages[@]}"; do
    [[ -d $POLARQUANT_SOURCES/$name ]] || missing+=("$name")
  done
  ((${#missing[@]})) || return 0
  if ! command -v apt-get >/dev/null; then return 0; fi
  need_packages dpkg-dev debian-archive-keyring
  say "taking the sources of ${missing[*]} from Debian 12 into $POLARQUANT_SOURCES"
  local packages=$POLARQUANT_SOURCES/packages
  mkdir -p "$packages/lists/partial" "$packages/cache/archives/partial"
  packages=$(realpath "$packages")
  printf 'deb-src [signed-by=%s] http://deb.debian.org/debian bookworm main\n' "$keys" >"$packages/sources.list"
  # Lists and cache of its own: those of this system stay as they are.
  local apt=(apt-get -qq -o "Dir::Etc::SourceList=$packages/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$packages/lists" -o "Dir::Cache=$packages/cache" -o "APT::Sandbox::User=$(id -un)")
  quietly "${apt[@]}" update
  for name in "${missing[@]}"; do
    (cd "$packages" && quietly "${apt[@]}" source --download-only "${source_packages[$name]}")
    # Without Debian's changes, as CMake would fetch them; and into its place in one step: what is there is whole.
    rm -rf "$packages/unpacked"
    quietly dpkg-source --skip-patches --extract "$packages/${source_packages[$name]}"_*.dsc "$packages/unpacked"
    mv "$packages/unpacked" "$POLARQUANT_SOURCES/$name"
  done
}

# source_options: what CMake fetches is taken from POLARQUANT_SOURCES instead, a folder of folders, where it has it.
source_options() {
  local name
  [[ -n ${POLARQUANT_SOURCES-} ]] || return 0
  for name in "${!source_packages[@]}"; do
    if [[ -d $POLARQUANT_SOURCES/$name ]]; then
      printf '%s\n' "-DFETCHCONTENT_SOURCE_DIR_${name^^}=$(realpath "$POLARQUANT_SOURCES/$name")"
    fi
  done
}
