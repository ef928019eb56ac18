# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# A bare Debian system in a folder, with this checkout's files in it. Sourced, with $root set.

say() { printf '%s\n' "$*" >&2; }
die() {
  say "${0##*/}: $*"
  exit 1
}

# make_system RELEASE FOLDER: once; FOLDER/made tells that it is whole.
make_system() {
  ((EUID == 0)) || die "a system of Debian $1 is made, and entered, as root"
  command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
  if [[ -e $2/made ]]; then return; fi
  say "making a system of Debian $1"
  rm -rf "$2"
  mkdir -p "$(dirname "$2")"
  debootstrap --variant=minbase "$1" "$2" >"$2.log" 2>&1 || die "debootstrap failed: $2.log"
  touch "$2/made"
}

# copy_sources FOLDER: the files as they are now, committed or not. Those that differ get the time of now: what was
# built of others after a file's own time would pass for newer.
copy_sources() {
  local file
  git -C "$root" ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do
      [[ -e $root/$file ]] || continue
      if cmp --silent "$root/$file" "$1/$file"; then continue; fi
      mkdir -p "$(dirname "$1/$file")"
      cp --preserve=mode "$root/$file" "$1/$file"
    done
}

# in_system FOLDER COMMAND…: threads ask /proc how many processors there are.
in_system() {
  local status=0
  mountpoint --quiet "$1/proc" || mount -t proc proc "$1/proc"
  chroot "$@" || status=$?
  umount "$1/proc"
  return "$status"
}
