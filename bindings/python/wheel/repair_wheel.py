#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a wheel that other machines can install: auditwheel puts the shared libraries it needs into it
and names the oldest glibc it runs on, and the licences of all that is inside are added.

usage: repair_wheel.py WHEEL FOLDER

Needs auditwheel, patchelf and wheel on the path, and Debian, whose packages have the licences. Writes
the wheel into FOLDER and prints its path.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Linked statically or used as headers, so that no file of theirs is in the wheel.
PACKAGES_INSIDE = ["libfaiss-dev", "libfmt-dev", "libxxhash-dev"]
_DOC = pathlib.Path("/usr/share/doc")
_COMMON = pathlib.Path("/usr/share/common-licenses")
_LDD_PATH = re.compile(r" => (\S+) ")
_COMMON_LICENCE = re.compile(r"/usr/share/common-licenses/([A-Z][\w.-]*\w)")


def run(*command):
    """What the command prints."""
    ran = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, check=True, text=True)
    return ran.stdout


def package_of(path):
    """The Debian package that a file belongs to."""
    path = os.path.realpath(path)
    # Files of /lib may be known by either name where it is a link to /usr/lib.
    for name in (path, path.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    raise SystemExit(f"repair_wheel.py: no Debian package has {path}: its licence is not known")


def name_of(library):
    """The name "libgomp" of "libgomp-a34b3233.so.1.0.0" and of "libgomp.so.1.0.0"."""
    return re.split("[-.]", os.path.basename(library))[0]


def licences_of(library, bundled):
    """{file name: text} of what is inside the library, and of the shared libraries `bundled`."""
    needed = {
        name_of(os.path.realpath(path)): path for path in _LDD_PATH.findall(run("ldd", library))
    }
    packages = {*PACKAGES_INSIDE, *(package_of(needed[name]) for name in bundled)}
    texts = {
        package: (_DOC / package / "copyright").read_text(encoding="utf-8") for package in packages
    }
    for name in set(_COMMON_LICENCE.findall("".join(texts.values()))):
        texts[name] = (_COMMON / name).read_text(encoding="utf-8")
    return {f"{name}.txt": text for name, text in texts.items()}


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    wheel, out = (pathlib.Path(argument).resolve() for argument in arguments)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run("wheel", "unpack", "--dest", folder / "plain", wheel)
        run("auditwheel", "repair", "--strip", "--wheel-dir", folder / "repaired", wheel)
        (repaired,) = (folder / "repaired").glob("*.whl")
        run("wheel", "unpack", "--dest", folder / "unpacked", repaired)
        (unpacked,) = (folder / "unpacked").iterdir()
        (plain,) = (folder / "plain").iterdir()
        (metadata,) = unpacked.glob("*.dist-info")
        bundled = {name_of(path) for path in unpacked.glob("polarquant.libs/*")}
        licences = metadata / "licenses" / "third_party"
        licences.mkdir(parents=True)
        for name, text in licences_of(plain / "polarquant/libpolarquant.so", bundled).items():
            (licences / name).write_text(text, encoding="utf-8")
        run("wheel", "pack", "--dest-dir", out, unpacked)
        print(out / repaired.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
