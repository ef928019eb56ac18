#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a wheel for a system out of a wheel of the Python modules alone and a self-contained library that
was built for that system. The library needs nothing besides the system's own, so nothing else is put in
but licences.

usage: pack_wheel.py MODULES_WHEEL LIBRARY PLATFORM_TAG BUILD_FOLDER FOLDER [EXTENSION]

EXTENSION is SQLite's, which keeps its name. BUILD_FOLDER is where CMake built the library: its cache knows where the sources lie of what is inside.
Needs wheel on the path. Writes the wheel into FOLDER and prints its path.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# By the end of the library's name, as polarquant/_library.py looks for it.
NAMES = {".so": "libpolarquant.so", ".dylib": "libpolarquant.dylib", ".dll": "polarquant.dll"}
# CMake's names of folders of sources that are compiled in, and the licence in each.
INSIDE = {
    "highway": ("hwy_SOURCE_DIR", "LICENSE"),
    "fmt": ("FMT_SOURCE_DIR", "LICENSE.rst"),
    "xxhash": ("POLARQUANT_XXHASH_INCLUDE", "LICENSE"),
    "faiss": ("POLARQUANT_FAISS_SOURCES", "LICENSE"),
}
# What zig links in: its folder has the sources and licences of these.
RUNTIME = {"libcxx": "lib/libcxx/LICENSE.TXT", "libcxxabi": "lib/libcxxabi/LICENSE.TXT"}
RUNTIME_OF_WINDOWS = {"mingw-w64": "lib/libc/mingw/COPYING"}


def cache_of(build):
    """What CMake's cache says, by name."""
    text = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^(\w[^:#\n]*):\w+=(.*)$", text, re.MULTILINE))


def zig_folder(cache):
    """Where zig lies, by the small program that calls it as the compiler."""
    script = (pathlib.Path(cache["POLARQUANT_ZIG_TOOLS"]) / "cc").read_text(encoding="utf-8")
    return pathlib.Path(re.search(r'exec "([^"]+)"', script)[1]).parent


def licences_of(build, platform):
    """{file name: path}; fails where one is not there."""
    cache = cache_of(build)
    found = {
        f"{name}.txt": pathlib.Path(cache[where]) / file for name, (where, file) in INSIDE.items()
    }
    runtime = {**RUNTIME, **(RUNTIME_OF_WINDOWS if platform.startswith("win") else {})}
    zig = zig_folder(cache)
    found.update({f"{name}.txt": zig / path for name, path in runtime.items()})
    for name, path in found.items():
        if not path.is_file():
            raise SystemExit(f"pack_wheel.py: {path}, the licence {name}, is not there")
    return found


def set_tag(wheel_file, platform):
    """A wheel that has a library is for one system."""
    text = wheel_file.read_text(encoding="utf-8")
    text = re.sub(r"^Root-Is-Purelib: .*$", "Root-Is-Purelib: false", text, flags=re.MULTILINE)
    text = re.sub(r"^Tag: .*\n?", "", text, flags=re.MULTILINE).rstrip("\n")
    wheel_file.write_text(f"{text}\nTag: py3-none-{platform}\n", encoding="utf-8")


def main(arguments):
    if len(arguments) not in (5, 6):
        print(__doc__, file=sys.stderr)
        return 2
    modules, build, out = (pathlib.Path(arguments[i]).resolve() for i in (0, 3, 4))
    library = pathlib.Path(arguments[1])  # a link, whose name ends as it should
    platform = arguments[2]
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["wheel", "unpack", "--dest", folder, modules], check=True, stdout=subprocess.DEVNULL
        )
        (unpacked,) = pathlib.Path(folder).iterdir()
        (metadata,) = unpacked.glob("*.dist-info")
        shutil.copyfile(library, unpacked / "polarquant" / NAMES[library.suffix])
        if len(arguments) > 5:
            extension = pathlib.Path(arguments[5])
            shutil.copyfile(extension, unpacked / "polarquant" / extension.name)
        licences = metadata / "licenses" / "third_party"
        licences.mkdir(parents=True)
        for name, path in licences_of(build, platform).items():
            shutil.copyfile(path, licences / name)
        root = pathlib.Path(__file__).resolve().parents[3]
        shutil.copyfile(root / "LICENSE", metadata / "licenses" / "LICENSE")
        set_tag(metadata / "WHEEL", platform)
        before = set(out.iterdir())
        subprocess.run(
            ["wheel", "pack", "--dest-dir", out, unpacked], check=True, stdout=subprocess.DEVNULL
        )
        named = f"{'-'.join(modules.name.split('-')[:2])}-py3-none-{platform}.whl"
        made = out / named
        if not made.is_file():
            raise SystemExit(
                f"pack_wheel.py: no {named} among {sorted(set(out.iterdir()) - before)}"
            )
        print(made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
