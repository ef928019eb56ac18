#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every folder of the library has a README.md of at most 15 lines that says what is here, what is not,
and which file to open first ("Open first: `file`"), which exists.

usage: check_folders.py ROOT
"""
import re

from source_checks import run

TOPS = ("src", "cuda", "include/polarquant")
MOST_LINES = 15
OPEN_FIRST = re.compile(r"Open\s+first:\s+`([^`]+)`")


def wrong_with(root, folder):
    """What is wrong with a folder's README, or None."""
    readme = folder / "README.md"
    if not readme.is_file():
        return "has no README.md"
    text = readme.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    if lines > MOST_LINES:
        return f"README.md has {lines} lines; {MOST_LINES} are allowed"
    if any(child.suffix in (".h", ".cc", ".cu") for child in folder.iterdir()):
        named = OPEN_FIRST.search(text)
        if named is None:
            return 'README.md does not say "Open first: `file`"'
        if not (folder / named[1]).is_file() and not (root / named[1]).is_file():
            return f"README.md names {named[1]}, which is not there"
    return None


def check(root):
    folders = [root / top for top in TOPS]
    for top in TOPS:
        folders += [path for path in sorted((root / top).rglob("*")) if path.is_dir()]
    failed = 0
    for folder in folders:
        wrong = wrong_with(root, folder)
        if wrong:
            print(f"{folder.relative_to(root).as_posix()}: {wrong}")
            failed += 1
    print(f"{len(folders)} folders read, {failed} without the README that they need")
    return 1 if failed or not folders else 0


if __name__ == "__main__":
    run(__doc__, check)
