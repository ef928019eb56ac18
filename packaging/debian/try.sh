#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Inside a bare Debian: installs the packages named, uses them as a C and a Python programmer do, and removes them.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root OMP_WAIT_POLICY=passive

apt-get -qq update
apt-get -qq install --yes --no-install-recommends gcc libc6-dev pkg-config "$@" >/dev/null
cd /tmp

# Two or more words each.
# shellcheck disable=SC2046
gcc -o search /try/search.c $(pkg-config --cflags --libs polarquant) -lm
./search
# Linked to the packages' library, not to a folder's.
ldd ./search | grep --quiet 'libpolarquant.so.0 => /usr/lib/\|libpolarquant.so.0 => /lib/'
python3 /try/search.py
polar info Polar4
dpkg --verify libpolarquant0 libpolarquant-dev python3-polarquant

apt-get -qq purge --yes libpolarquant0 libpolarquant-dev python3-polarquant >/dev/null
for name in /usr/lib/*/libpolarquant* /usr/include/polarquant /usr/lib/python3/dist-packages/polarquant* \
  /usr/bin/polar /usr/share/doc/*polarquant*; do
  if [[ -e $name ]]; then
    echo "$name stays when the packages are removed"
    exit 1
  fi
done
if ldconfig -p | grep polarquant; then exit 1; fi
echo "installed, used and removed"
