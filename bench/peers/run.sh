#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares our indexes with other libraries': an environment for them, our build, then one of
#   run.sh recall|speed|churn [OPTIONS]  compare.py; run.sh recall --help lists the options
#   run.sh charts [OPTIONS]              charts.py: pictures of bench/results
#   run.sh tables [OPTIONS]              tables.py: the README's tables from bench/results
#   run.sh adapters [OPTIONS]            runs our adapters for ann-benchmarks and VIBE
#   run.sh data [OPTIONS]                make_embeddings.py: further real vectors
# PYTHON names the interpreter to take, python3 by default. LIBRARY names a libpolarquant.so that is
# there; then nothing is built.
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

# One package at a time: a rival that cannot be had on this system must not keep the others away. One
# without a wheel is built from source, where a compiler is there.
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
    if ! "$environment/bin/pip" install --quiet --disable-pip-version-check --prefer-binary \
      "$package" >&2; then
      say "run.sh: $package could not be installed; its rows will say so"
      missing=1
    fi
  done <"$here/requirements.txt"
  if ((!missing)); then cp "$here/requirements.txt" "$stamp"; fi
}

case ${1-} in
  recall | speed | churn) program=$here/compare.py arguments=("$@") ;;
  charts | tables) program=$here/$1.py arguments=("${@:2}") ;;
  adapters) program=$root/bench/ann_benchmarks/try_adapters.py arguments=("${@:2}") ;;
  data) program=$here/make_embeddings.py arguments=("${@:2}") ;;
  *) die "${1:-nothing} (allowed: recall, speed, churn, charts, tables, adapters, data; each with --help)" ;;
esac

install_packages
case $1 in
  recall | speed | churn | adapters)
    export PYTHONPATH=$root/bindings/python/src
    export POLARQUANT_LIBRARY=${LIBRARY:-$root/build/lib/libpolarquant.so}
    if [[ -z ${LIBRARY-} ]]; then "$root/dev.sh" build >&2; fi
    ;;
esac
exec "$environment/bin/python" "$program" "${arguments[@]}"
