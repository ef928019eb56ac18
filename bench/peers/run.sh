#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares our flat search with other libraries: an environment for them, our build, compare.py.
# run.sh --help lists the options; PYTHON names the interpreter to take, python3 by default.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${PYTHON:-python3}
environment=$root/build/peers/venv

say() { printf '%s\n' "$*" >&2; }
die() {
  say "run.sh: $*"
  exit 1
}

# Debian keeps what fills a new environment in a package of its own.
need_venv() {
  command -v "$python" >/dev/null || die "$python not found; PYTHON names another interpreter"
  if "$python" -c 'import ensurepip, venv' 2>/dev/null; then return; fi
  local as_root=()
  if ((EUID != 0)); then
    as_root=(sudo)
    command -v sudo >/dev/null ||
      die "python3-venv is missing; run as root: apt-get install python3-venv"
  fi
  command -v apt-get >/dev/null || die "$python has no venv module; install it the way your system does"
  say "installing python3-venv"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  { "${apt[@]}" update && "${apt[@]}" install --yes --no-install-recommends python3-venv; } >&2
  "$python" -c 'import ensurepip, venv' ||
    die "$python still has no venv module; PYTHON=/usr/bin/python3 takes Debian's"
}

# One package at a time: a rival without a wheel for this system must not keep the others away.
install_packages() {
  local stamp=$environment/.installed package missing=0
  if [[ -e $stamp ]] && cmp -s "$stamp" "$here/requirements.txt"; then return; fi
  if [[ ! -x $environment/bin/pip ]]; then
    need_venv
    "$python" -m venv "$environment"
  fi
  while read -r package; do
    [[ -n $package ]] || continue
    say "installing $package into ${environment#"$root"/}"
    if ! "$environment/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
      "$package" >&2; then
      say "run.sh: $package could not be installed; its rows will say so"
      missing=1
    fi
  done <"$here/requirements.txt"
  if ((!missing)); then cp "$here/requirements.txt" "$stamp"; fi
}

has_library=0
for argument in "$@"; do
  case $argument in
    -h | --help) exec "$python" "$here/compare.py" --help ;;
    --library | --library=*) has_library=1 ;;
  esac
done

install_packages
if ((!has_library)); then "$root/dev.sh" build >&2; fi
exec "$environment/bin/python" "$here/compare.py" "$@"
