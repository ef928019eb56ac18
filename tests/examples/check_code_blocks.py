#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program blocks of the README and of pages are runs of lines of the example programs, which
are compiled and run: so what a reader copies works.

usage: check_code_blocks.py ROOT | check_code_blocks.py --self-test
"""
import pathlib
import re
import sys
import textwrap

PAGES = ["README.md", "bindings/python/README.md", "docs/c_api.md", "docs/choosing.md", "docs/faiss.md",
         "docs/languages.md", "docs/python.md", "docs/quickstart.md", "docs/search.md", "docs/sqlite.md", "docs/tutorials/benchmark.md",
         "docs/tutorials/database.md", "docs/tutorials/faiss.md", "docs/tutorials/filters.md", "docs/tutorials/rag.md"]
# What their files end with; those of other languages are run by their bindings' tests.
EXAMPLES = {"c": "c", "cpp": "cc", "python": "py", "rust": "rs", "go": "go", "js": "mjs", "java": "java",
            "sql": "sql"}
# Declarations of a reference, which is compared with the header.
REFERENCE = re.compile(r"^<!-- reference of .*?^<!-- end of reference -->$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def is_run_of_lines(block, text):
    """Whether the block's lines stand in text in one piece, both without their common indentation."""
    wanted = textwrap.dedent(block).strip("\n").split("\n")
    lines = text.split("\n")
    return any(textwrap.dedent("\n".join(lines[at:at + len(wanted)])).split("\n") == wanted
               for at in range(len(lines) - len(wanted) + 1))


def self_test():
    text = "a();\n  b();\n\n    c();\n  d();\n"
    cases = [("a();\n  b();", True), ("b();\n\n  c();\nd();\n", True), ("b();\nc();\n", False),
             ("b();\n\nc();\nd();", False), ("e();", False)]
    failed = [block for block, expected in cases if is_run_of_lines(block, text) != expected]
    print(f"self-test: {len(cases) - len(failed)} of {len(cases)} blocks judged rightly")
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    root = pathlib.Path(arguments[0])
    folders = [root / "examples", *sorted((root / "bindings").glob("*/examples"))]
    examples = {language: [path for folder in folders for path in sorted(folder.rglob(f"*.{ending}"))]
                for language, ending in EXAMPLES.items()}
    blocks = 0
    failed = 0
    for page in PAGES:
        written_by_hand = REFERENCE.sub("", (root / page).read_text(encoding="utf-8"))
        for language, block in BLOCK.findall(written_by_hand):
            if language not in EXAMPLES:
                continue
            blocks += 1
            texts = [example.read_text(encoding="utf-8") for example in examples[language]]
            if not any(is_run_of_lines(block, text) for text in texts):
                print(f"{page}: this block is in none of the examples *.{EXAMPLES[language]}:\n{block}")
                failed += 1
    print(f"{blocks} code blocks read, {failed} differ from the examples")
    return 1 if failed or blocks == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
