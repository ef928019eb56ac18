# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# Debian packages that commands of dev.sh need, and their installation.

packages_build=(build-essential cmake ninja-build ccache pkg-config libfaiss-dev libopenblas-dev libhwy-dev
  libfmt-dev libxxhash-dev catch2 libcli11-dev nlohmann-json3-dev libhdf5-dev libbenchmark-dev libsqlite3-dev
  sqlite3 python3-numpy)
packages_python=(python3-venv)
packages_format=(git clang-format-14)
packages_clang=(clang libomp-dev)
packages_browser=(chromium)
packages_abi=(abigail-tools)
packages_tidy=("${packages_clang[@]}" clang-tidy-14)
packages_fuzz=("${packages_clang[@]}" libclang-rt-14-dev)
packages_aarch64=(qemu-user-static g++-aarch64-linux-gnu libhwy-dev:arm64 libfmt-dev:arm64
  libxxhash-dev:arm64 libgomp1:arm64 libopenblas-dev:arm64)

# Node's own packages bring its headers, and do not go beside Debian's of the headers alone.
packages_of_bindings() {
  local package
  while read -r package; do
    if [[ $package == libnode-dev && -e /usr/include/node/node_api.h ]]; then continue; fi
    printf '%s\n' "$package"
  done < <(cat "$root"/bindings/{rust,go,node,java}/packages.txt | sort --unique)
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
