#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs the Python package into a fresh virtual environment, as a user does, and runs its tests, its
command and the examples there, from outside the repository.

usage: check_install.py ROOT FOLDER [PACKAGE]

FOLDER is made anew. PACKAGE is what pip installs, by default ROOT/bindings/python; a wheel can be given.
Ends with 77 when pip cannot reach a package index.
"""

import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77


def run(*command, folder):
    print("$", *command, flush=True)
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "POLARQUANT_LIBRARY")
    }
    # Threads that spin while they wait make a busy machine crawl.
    environment.setdefault("OMP_WAIT_POLICY", "passive")
    return subprocess.run(list(map(str, command)), cwd=folder, env=environment).returncode


def examples_for(python, root):
    """All, but those of SQLite where the interpreter's sqlite3 was built without extensions; none where
    the library has no indexes, which each of them makes."""
    makes = "import polarquant; polarquant.Index('Polar4', 8)"
    if subprocess.run([python, "-c", makes], capture_output=True, cwd="/").returncode != 0:
        print("the library has no indexes: examples are not tried", flush=True)
        return []
    examples = sorted((root / "examples/python").glob("*.py"))
    asks = "import sqlite3; sqlite3.Connection.enable_load_extension"
    if subprocess.run([python, "-c", asks], capture_output=True).returncode == 0:
        return examples
    print("sqlite3 has no extensions here: examples of SQLite are not tried", flush=True)
    return [example for example in examples if "polarquant.sqlite" not in example.read_text()]


def main(arguments):
    root = pathlib.Path(arguments[0]).resolve()
    folder = pathlib.Path(arguments[1]).resolve()
    package = (
        pathlib.Path(arguments[2]).resolve() if len(arguments) > 2 else root / "bindings/python"
    )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = folder / "environment"
    if run(sys.executable, "-m", "venv", environment, folder=folder) != 0:
        return 1
    python = environment / "bin/python"
    if (
        run(
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "scikit-build-core",
            folder=folder,
        )
        != 0
    ):
        print("pip cannot install from a package index here: not tried")
        return SKIPPED
    built = ["--config-settings", f"build-dir={folder}/build"] if package.is_dir() else []
    if run(python, "-m", "pip", "install", "--quiet", package, *built, folder=folder) != 0:
        return 1
    commands = [
        [python, "-m", "unittest", "discover", "-s", root / "bindings/python/tests"],
        [environment / "bin/polar", "info", "Polar4"],
        *([python, example] for example in examples_for(python, root)),
    ]
    return max(run(*command, folder=folder) for command in commands)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
