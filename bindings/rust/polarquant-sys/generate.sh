#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes src/bindings.rs from the C header by bindgen 0.60; with --check only tells whether it would change, but
# for comments.
# A build needs neither bindgen nor this script.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
include=${POLARQUANT_INCLUDE_DIR:-$here/../../../include}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo '#include "polarquant/polarquant.h"' > "$work/wrapper.h"
bindgen "$work/wrapper.h" --disable-header-comment --use-core --no-layout-tests --size_t-is-usize \
  --raw-line '// SPDX-License-Identifier: MIT' --raw-line '// Made by generate.sh; not to be edited.' \
  --default-macro-constant-type signed --blocklist-type '__u?int(8|32|64)_t' --rust-target 1.47 \
  --allowlist-function 'polar_.*' --allowlist-type 'polar_.*' --allowlist-var 'POLAR_.*' \
  -- -I"$include" -fparse-all-comments > "$work/raw.rs"
# C comments become doc comments, but for those that only divide the header. Structs with comments get the
# derives that bindgen gives the others, and extern blocks that follow each other become one.
sed -e '/#\[doc = " ---- /d' \
    -e '/^#\[repr(C)\]$/{N;s/\n\(pub struct\)/\n#[derive(Debug, Copy, Clone)]\n\1/}' "$work/raw.rs" |
  sed -z 's/;\n}\nextern "C" {\n/;\n/g' > "$work/bindings.rs"

declarations() {
  sed '/^ *#\[doc = /d' "$1"
}

if [ "${1:-}" = --check ]; then
  declarations "$here/src/bindings.rs" > "$work/old.rs"
  declarations "$work/bindings.rs" > "$work/new.rs"
  diff -u "$work/old.rs" "$work/new.rs"
else
  cp "$work/bindings.rs" "$here/src/bindings.rs"
fi
