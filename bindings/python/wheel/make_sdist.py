#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a source distribution: what pip builds the package from where a compiler, CMake and the
dependencies are. In the repository the Python package lies in a folder and is built from the sources
above it; in the archive it is at the top, as pip wants it.

usage: make_sdist.py ROOT FOLDER OUT

FOLDER is made anew. Needs the module build, of the interpreter that runs this. Writes into OUT and prints
the path.
"""

import pathlib
import shutil
import subprocess
import sys

# What a build of the library and of SQLite's extension reads.
PARTS = (
    "CMakeLists.txt",
    "LICENSE",
    "cmake",
    "include",
    "src",
    "cuda",
    "tools",
    "bindings/python",
    "bindings/sqlite",
)
# Paths in pyproject.toml: in the repository, and in the archive.
PATHS = {
    'cmake.source-dir = "../.."': 'cmake.source-dir = "."',
    'build-dir = "../../build-python"': 'build-dir = "build"',
    'wheel.packages = ["src/polarquant"]': 'wheel.packages = ["bindings/python/src/polarquant"]',
    'input = "../../CMakeLists.txt"': 'input = "CMakeLists.txt"',
    'readme = "README.md"': 'readme = "bindings/python/README.md"',
}


def tracked(root):
    """The repository's files of these parts."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", *PARTS],
        check=True,
        capture_output=True,
        text=True,
    )
    return [name for name in listed.stdout.split("\0") if name and (root / name).is_file()]


def main(arguments):
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    root, folder, out = (pathlib.Path(argument).resolve() for argument in arguments)
    shutil.rmtree(folder, ignore_errors=True)
    for name in tracked(root):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, folder / name)
    text = (folder / "bindings/python/pyproject.toml").read_text(encoding="utf-8")
    for before, now in PATHS.items():
        if before not in text:
            raise SystemExit(f"make_sdist.py: pyproject.toml no longer has {before}")
        text = text.replace(before, now)
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    (folder / "bindings/python/pyproject.toml").unlink()
    subprocess.run(
        [sys.executable, "-m", "build", "--sdist", "--outdir", out, folder],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    print(max(out.glob("polarquant-*.tar.gz"), key=lambda path: path.stat().st_mtime))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
