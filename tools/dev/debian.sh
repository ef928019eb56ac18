# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# SPDX-License-Identifier: MIT
# Commands of dev.sh that make Debian's packages: packages.

# try_packages DEB…: installs them in a bare system of Debian 12, compiles and runs the C example, runs Python, and
# removes them: nothing of theirs stays.
try_packages() {
  local system=$root/build-packages/bookworm package name names=()
  # shellcheck source=tests/support/debian_system.sh
  source "$root/tests/support/debian_system.sh"
  make_system bookworm "$system"
  mkdir -p "$system/try"
  cp "$@" "$root/packaging/debian/try.sh" "$root/examples/c/search.c" "$root/examples/python/search.py" "$system/try"
  for package in "$@"; do
    name=${package##*/}
    names+=("/try/$name")
  done
  in_system "$system" bash -eu /try/try.sh "${names[@]}"
}

command_packages() {
  (($# == 0)) || die "packages takes no arguments, got: $*"
  need_packages "${packages_build[@]}" lintian dpkg-dev
  build_dir=$root/build-packages
  build -DPOLARQUANT_PACKAGES=ON -DCMAKE_INSTALL_PREFIX=/usr -DPOLARQUANT_CUDA=OFF -DPOLARQUANT_TESTS=OFF \
    -DPOLARQUANT_BENCH=OFF -DPOLARQUANT_SQLITE=OFF
  rm -f "$build_dir"/*.deb
  (cd "$build_dir" && quietly cpack)
  # CPack's scripts call ldconfig a second time: the trigger in the package has it called.
  local library unpacked=$build_dir/unpacked
  library=$(echo "$build_dir"/libpolarquant0_*.deb)
  rm -rf "$unpacked"
  quietly dpkg-deb --raw-extract "$library" "$unpacked"
  rm -f "$unpacked"/DEBIAN/{postinst,postrm}
  quietly dpkg-deb --root-owner-group --build "$unpacked" "$library"
  mkdir -p "$root/dist"
  cp "$build_dir"/*.deb "$root/dist"
  local made=("$build_dir"/*.deb)
  # Debian has no wish for these packages that they could fulfil.
  lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "${made[@]}"
  say "lintian found nothing"
  if ((EUID == 0)) && command -v debootstrap >/dev/null; then
    try_packages "${made[@]}"
  else
    say "not tried: that needs root and debootstrap"
  fi
  say "made: ${made[*]/#$build_dir/dist}"
}
