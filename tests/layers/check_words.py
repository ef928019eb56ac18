#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads code, comments and pages for words that the project has better ones for: names of things
that the field has its own words for, names that are no nouns, and figures of single machines.
Prints "file:line: word, say this instead" for each.

usage: check_words.py ROOT | check_words.py --self-test
"""
import contextlib
import io
import pathlib
import re
import sys
import tempfile

from source_checks import run

# Parts of identifiers (first_word and firstWord have the parts "first" and "word").
NAMES = {
    "front": "sketch, or first", "fronts": "sketches",
    "survivor": "candidate", "survivors": "candidates", "survive": "is_candidate",
    "survived": "is_candidate", "picked": "candidate", "goodness": "similarity",
    "sextet": "lut6_group", "sextets": "lut6_groups", "nibble": "lut4_group",
    "nibbles": "lut4_groups", "octet": "group8", "octets": "groups8", "slack": "error_bound",
    "energy": "squared_norm or variance", "energies": "squared_norms or variances",
    "room": "capacity", "rooms": "capacities", "roomy": "with_capacity", "about": "residual",
    "moved": "residual", "panel": "query_tile", "panels": "query_tiles",
    "claim": "work-stealing range", "claims": "work-stealing ranges", "claimed": "taken",
    "cut": "threshold or prefix", "cuts": "thresholds or prefixes", "hit": "match",
    "hits": "matches", "rest": "payload, tail or remaining", "rests": "payloads",
    "behind": "after", "of_": "the noun itself",
}
# Names of the standard library, and one that `polar info` prints.
OTHER_NAMES = {"front", "push_front", "pop_front", "emplace_front", "of_these_factors"}

# Words of comments and pages.
WORDS = {
    "behind": "after, or at the end",
    r"survivors?|picked rows?": "candidate", r"fronts": "sketch", r"sextets?": "6-bit LUT group",
    r"nibbles?": "4-bit LUT group", r"octets?": "8-pair group", r"goodness": "similarity",
    r"slacks?": "error bound", r"moved quer(y|ies)": "residual query",
    r"energ(y|ies)": "squared norm or variance", r"stands? off": "margin of z standard deviations",
    r"padded lanes?|lanes order": "padded dimension, position",
    r"so-manieth": "one of so many",
}
# What "behind" may still say: a thing that hides another, and what is left.
OTHERWISE = re.compile(r"symbolic links|reader-writer lock|leaves? (no|nothing)|left behind|"
                       r"stays behind|leaves behind|behind a library|meadow", re.IGNORECASE)

# Figures of one machine belong to docs/dev/tuning.md.
FIGURES = re.compile(r"(?:\d|\.\d+) ?(?:µs|ns|ms)\b|\b(?:Zen \d|Xeon)\b.*\b(?:takes?|took|times)\b")
FIGURES_ADVICE = "a reason here, the figure in docs/dev/tuning.md"

CODE = {".h", ".cc", ".c", ".cu", ".cuh", ".py"}
TOPS = ("src", "include", "cuda", "tests", "bindings")
# Inputs, and what other words are the subject of.
EXEMPT = ("tests/golden", "tests/fuzz/seeds", "tests/fuzz/found", "tests/examples/recorded",
          "tests/layers/check_words.py", "docs/format.md", "docs/images")

C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|(/\*.*?\*/|//[^\n]*)', re.DOTALL)
PYTHON_TOKEN = re.compile(r'("""(?:.|\n)*?""")|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(#[^\n]*)')
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def blanked(text):
    return re.sub(r"[^\n]", " ", text)


def split(path, text):
    """The code and the comments of a file, each with the other's characters blank."""
    if path.suffix == ".md":
        return blanked(text), text
    pattern = PYTHON_TOKEN if path.suffix == ".py" else C_TOKEN
    comments, at = [], 0

    def take(match):
        nonlocal at
        comment = next((group for group in match.groups() if group), None)
        comments.append(blanked(text[at:match.start()]))
        comments.append(blanked(match[0]) if comment is None else match[0])
        at = match.end()
        return blanked(match[0])

    code = pattern.sub(take, text)
    return code, "".join(comments) + blanked(text[at:])


def wrong_name(name):
    """The part of an identifier that has a better word, or None."""
    if name in OTHER_NAMES:
        return None
    if name == "of" or name.startswith("of_"):
        return "of_"
    return next((part for part in map(str.lower, PART.findall(name)) if part in NAMES), None)


def problems(path, text):
    """(line, word, what to say) of a file."""
    code, comments = split(path, text)
    for number, line in enumerate(code.splitlines(), 1):
        if path.suffix == ".py" and re.match(r"\s*(def test_|from |import )", line):
            continue
        for name in IDENTIFIER.findall(line):
            part = wrong_name(name)
            if part is not None:
                yield number, name, NAMES[part]
    for number, line in enumerate(comments.splitlines(), 1):
        for word, say in WORDS.items():
            found = re.search(rf"\b(?:{word})\b", line, re.IGNORECASE)
            if found and not (word == "behind" and OTHERWISE.search(line)):
                yield number, found[0], say
        if path.suffix in {".h", ".cc", ".cu", ".cuh"}:
            figure = FIGURES.search(line)
            if figure:
                yield number, figure[0], FIGURES_ADVICE


def files_of(root):
    for top in TOPS:
        yield from (file for file in sorted((root / top).rglob("*"))
                    if file.suffix in CODE or file.suffix == ".md")
    yield from sorted((root / "docs").rglob("*.md"))
    yield root / "README.md"


def check(root):
    wrong = 0
    for file in files_of(root):
        name = file.relative_to(root).as_posix()
        if name.startswith(EXEMPT) or not file.is_file():
            continue
        for line, word, say in problems(file, file.read_text(encoding="utf-8")):
            print(f"{name}:{line}: {word}, say {say} instead")
            wrong += 1
    print("words: no word that has a better one" if wrong == 0 else f"words: {wrong} to change")
    return 1 if wrong else 0


def self_test():
    cases = [
        ("a.cc", "int of_rows = 0;", 1), ("a.cc", "int rows_of(int x);", 0),
        ("a.cc", "v.front();", 0), ("a.cc", "int sketch_front = 0;", 1),
        ("a.cc", "int x;  // what lies behind the sketch", 1),
        ("a.cc", 'f("behind");', 0), ("a.cc", "/* 3 µs */", 1), ("a.cc", "HeldRest r;", 1),
        ("a.py", "room = 1  # fine", 1), ("a.py", '"""energy"""', 1), ("a.md", "an octet", 1),
        ("a.md", "All survivors stay, `fronts` too.", 2),
        ("a.cc", "// the file behind symbolic links", 0), ("a.cc", "int restored;", 0),
    ]
    wrong = [case for case in cases
             if len(list(problems(pathlib.Path(case[0]), case[1]))) != case[2]]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "src").mkdir()
        (root / "src" / "a.cc").write_text("int slack;\n", encoding="utf-8")
        (root / "README.md").write_text("fine\n", encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            check(root)
        if said.getvalue() != "src/a.cc:1: slack, say error_bound instead\nwords: 1 to change\n":
            wrong.append(said.getvalue())
    for case in wrong:
        print("self-test:", case, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    run(__doc__, check, self_test)
