#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Called by conda build, in the sources, once the library is installed: the modules, and a link to the library where
# they look for it.
set -euo pipefail
"$PYTHON" -m pip install ./bindings/python --no-deps --no-build-isolation --config-settings wheel.cmake=false
modules=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/polarquant
ln -s "$(realpath --relative-to="$modules" "$PREFIX/lib/libpolarquant.so.0")" "$modules/libpolarquant.so"
