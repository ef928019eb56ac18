# SPDX-License-Identifier: MIT
"""What the checks of this folder share: their arguments, the walk over sources, the judging of self-tests.

A check of single files is a function wrong_with(name, text): lines that say what is wrong, name first."""

import pathlib
import sys


def run(usage, check, self_test=None):
    """Exits with check(root), or with self_test() where there is one, as the command line asks; 0 is right."""
    arguments = sys.argv[1:]
    if self_test and arguments == ["--self-test"]:
        sys.exit(self_test())
    if len(arguments) != 1:
        print(usage, file=sys.stderr)
        sys.exit(2)
    sys.exit(check(pathlib.Path(arguments[0])))


def check_sources(root, tops, wrong_with):
    """Prints what is wrong with the C++ files below the folders `tops`; 1 if anything, or no file, is there."""
    files = [path for top in tops for path in sorted((root / top).rglob("*")) if path.suffix in (".h", ".cc")]
    wrong = [line for path in files
             for line in wrong_with(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))]
    print(*wrong, f"{len(files)} files read, {len(wrong)} problems", sep="\n")
    return 1 if wrong or not files else 0


def judge(wrong_with, cases):
    """cases: (name of a file, its text, whether it is wrong). Prints those that are judged wrongly."""
    failed = [(name, text) for name, text, is_wrong in cases if bool(wrong_with(name, text)) != is_wrong]
    for name, text in failed:
        print(f"judged wrongly: {name}: {text}")
    print(f"{len(cases)} cases, {len(failed)} judged wrongly")
    return 1 if failed else 0
