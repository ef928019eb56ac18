#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the binding into a folder: classes, the library between Java and C, and three jars.
#
# usage: build.sh OUT [BUILD_DIR]
#   OUT        where all products go; made if it is not there
#   BUILD_DIR  a CMake build folder of polarquant, with lib/libpolarquant.so; without it polarquant is
#              found by pkg-config
#
# JAVA_HOME and CC are used where they are set. The jar has the libraries of this machine's platform;
# POLARQUANT_NATIVES names a folder of others' (natives/linux-aarch64/…), which go into it as well.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=0.1.0

die() {
  printf 'build.sh: %s\n' "$*" >&2
  exit 1
}

[[ $# -ge 1 && $# -le 2 ]] || die "usage: build.sh OUT [BUILD_DIR]"
mkdir -p "$1"
out=$(cd "$1" && pwd)

# Where Java is, by the javac that runs.
if [[ -z ${JAVA_HOME:-} ]]; then
  JAVA_HOME=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
fi
tools=$JAVA_HOME/bin
[[ -x $tools/javac ]] || die "no javac in $tools; set JAVA_HOME to a JDK of 11 or newer"

# What the compiler is given, and the file of libpolarquant.
if [[ $# -eq 2 ]]; then
  library=$2/lib/libpolarquant.so
  [[ -e $library ]] || die "no $library; build polarquant first, or leave the folder out"
  flags=(-I"$here/../../include" -L"$2/lib" -lpolarquant)
else
  pkg-config --exists 'polarquant >= 0.1' ||
    die "pkg-config finds no polarquant; set PKG_CONFIG_PATH, or give a build folder"
  read -r -a flags < <(pkg-config --cflags --libs polarquant)
  library=$(pkg-config --variable=libdir polarquant)/libpolarquant.so
fi

case $(uname -m) in
  amd64) machine=x86_64 ;;
  arm64) machine=aarch64 ;;
  *) machine=$(uname -m) ;;
esac
natives=$out/resources/natives/$(uname -s | tr '[:upper:]' '[:lower:]')-$machine

rm -rf "$out/classes" "$out/headers" "$out/resources" "$out/javadoc"
mkdir -p "$out/classes" "$out/headers" "$natives"

mapfile -t sources < <(find "$here/src/main/java" -name '*.java' | sort)
"$tools/javac" --release 11 -encoding UTF-8 -Xlint:all -Werror -g \
  -h "$out/headers" -d "$out/classes" "${sources[@]}"

# Never unloaded: threads that it attached end later than the class loader that loaded it.
${CC:-cc} -std=c11 -O2 -g -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden ${EXTRA_CFLAGS:-} \
  -I"$out/headers" -I"$JAVA_HOME/include" -I"$JAVA_HOME/include/linux" \
  "$here"/src/main/native/*.c "${flags[@]}" \
  -Wl,-rpath,'$ORIGIN' -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack \
  -o "$natives/libpolarquant_jni.so"
cp -L "$library" "$natives/libpolarquant.so"
if [[ -n ${POLARQUANT_NATIVES:-} ]]; then cp -R "$POLARQUANT_NATIVES/." "$out/resources/natives"; fi

cat >"$out/manifest" <<MANIFEST
Implementation-Title: polarquant
Implementation-Version: $version
Bundle-License: MIT
MANIFEST
mkdir -p "$out/resources/META-INF"
cp "$here/../../LICENSE" "$out/resources/META-INF/LICENSE"

jar() { "$tools/jar" --create --file "$out/polarquant-$version$1.jar" --manifest "$out/manifest" "${@:2}"; }
jar "" -C "$out/classes" . -C "$out/resources" .
jar -sources -C "$here/src/main/java" . -C "$out/resources" META-INF/LICENSE

"$tools/javadoc" -quiet -Xdoclint:all -Werror -encoding UTF-8 --release 11 \
  -windowtitle "polarquant $version" -d "$out/javadoc" "${sources[@]}"
jar -javadoc -C "$out/javadoc" . -C "$out/resources" META-INF/LICENSE
