#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pages for readers: links lead somewhere, the C library's names are the header's, every page of docs is
listed where readers look, and ends with its limits; pages for users have short paragraphs.

usage: check_pages.py ROOT | check_pages.py --self-test
"""
import pathlib
import re
import sys
import tempfile

HEADER = "include/polarquant/polarquant.h"
TOPIC = re.compile(r'^#include "(polarquant/\w+\.h)"$', re.MULTILINE)
# Pages for users, by their paths or beginnings of these: a paragraph has at most so many words.
USER_PAGES = ["README.md", "docs/quickstart.md", "docs/tutorials/", "docs/concepts.md", "docs/search.md",
              "docs/choosing.md", "docs/python.md", "docs/faiss.md", "docs/cuda.md", "docs/command.md",
              "docs/benchmarks.md"]
MOST_WORDS = 90

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
# Names that stand alone; those with "…" after them are the beginnings of several.
SQL_SOURCES = "bindings/sqlite/src"
C_NAME = re.compile(r"\b((?:polar|POLAR)_\w+)(…?)")


def anchors(text):
    """What may stand after # in a link to this page, as GitHub makes it of headings."""
    found = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).replace(" ", "-")
        number = 0
        while (anchor := f"{plain}-{number}" if number else plain) in found:
            number += 1
        found.add(anchor)
    return found


def pages_of(root):
    ignored = ("build", ".")
    found = [path for path in root.rglob("*.md")
             if not path.relative_to(root).parts[0].startswith(ignored)]
    return sorted(found)


def dead_links(root, page):
    text = page.read_text(encoding="utf-8")
    for link in LINK.findall(CODE.sub("", FENCE.sub("", text))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name) if name else page
        if not target.exists():
            yield f"{page.relative_to(root)}: {link} does not exist"
        elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
            yield f"{page.relative_to(root)}: {link}: no heading makes this anchor"


def names_of(root):
    """Names of the C library and of SQL functions, and of source files that are named like them."""
    header = (root / HEADER).read_text(encoding="utf-8")
    for topic in TOPIC.findall(header):
        header += (root / "include" / topic).read_text(encoding="utf-8")
    for source in (root / SQL_SOURCES).glob("*.cc"):
        header += " " + " ".join(re.findall(r'"(polar_\w+)",', source.read_text(encoding="utf-8")))
    files = {path.stem for folder in ("cuda", "src", "bindings/sqlite/src") for path in (root / folder).rglob("*.*")}
    return {name for name, _ in C_NAME.findall(header)} | files


def unknown_names(root, page, known):
    for name, is_beginning in sorted(set(C_NAME.findall(page.read_text(encoding="utf-8")))):
        is_known = any(k.startswith(name) for k in known) if is_beginning else name in known
        if not is_known:
            yield f"{page.relative_to(root)}: {name}{is_beginning} is not in {HEADER}"


def paragraphs_of(text):
    """Paragraphs and entries of lists, without code, tables and headings."""
    prose = re.sub(r"<!--.*?-->", "", FENCE.sub("\n", text), flags=re.DOTALL)
    prose = re.sub(r"^(\||#).*$", "", prose, flags=re.MULTILINE)
    return re.split(r"\n\s*\n|\n(?=\s*(?:-|\d+\.) )", prose)


def missing_files(root, page):
    """Paths of sources that a page names, and names of sources in the first columns of the developers' tables."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(root).as_posix()
    for path in sorted(set(re.findall(r"`((?:src|cuda|bindings|tools|tests|examples|include)/[\w./-]+)`", text))):
        if not (root / path).exists() and not list((root / path).parent.glob(f"{pathlib.Path(path).name}.*")):
            yield f"{name}: {path} does not exist"
    if not name.startswith("docs/dev/"):
        return
    stems = {path.stem for folder in ("cuda", "src") for path in (root / folder).rglob("*.*")}
    for table in re.findall(r"^\| (?:file|folder of [^\n]*) \|[^\n]*\n((?:\|[^\n]*\n)+)", text, re.MULTILINE):
        for row in table.splitlines()[1:]:
            for cell in row.split("|")[1:-2]:
                for source in re.findall(r"`(\w+_\w+)`", cell):
                    if source not in stems:
                        yield f"{name}: no source file is called {source}"


def hard_to_read(root, page):
    name = page.relative_to(root).as_posix()
    if not name.startswith(tuple(USER_PAGES)):
        return
    text = page.read_text(encoding="utf-8")
    for paragraph in paragraphs_of(text):
        words = paragraph.split()
        if len(words) > MOST_WORDS:
            yield f"{name}: {len(words)} words in a paragraph (allowed: {MOST_WORDS}): {' '.join(words[:8])} …"


def unlisted(root):
    """Pages that no reader finds: the README lists those of docs, docs/README.md those in its folders too."""
    for lists, folder, pages in [("README.md", "docs/", "*.md"), ("docs/README.md", "", "**/*.md")]:
        text = (root / lists).read_text(encoding="utf-8")
        for page in sorted((root / "docs").glob(pages)):
            name = page.relative_to(root / "docs").as_posix()
            if name != "README.md" and not re.search(rf"\]\({folder}{re.escape(name)}[#)]", text):
                yield f"{lists}: does not list docs/{name}"


def problems_of(root):
    known = names_of(root)
    for page in pages_of(root):
        yield from dead_links(root, page)
        if page.parent == root or root / "docs" in page.parents:
            yield from unknown_names(root, page, known)
            yield from missing_files(root, page)
        yield from hard_to_read(root, page)
    yield from unlisted(root)
    for page in sorted((root / "docs").glob("*.md")):
        if page.name == "README.md":
            continue
        sections = re.findall(r"^## (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
        if not sections or sections[-1] != "Limits":
            yield f"docs/{page.name}: does not end with its limits, a section \"Limits\""


def self_test():
    good = {
        HEADER: "POLAR_API void polar_go(void);\n#define POLAR_ERROR_BAD 10\n",
        "README.md": "[a](docs/a.md) [b](docs/b.md#a-code-of-2-bits)\n",
        "docs/README.md": "[a](a.md) [b](b.md)\n",
        "docs/a.md": "# A\n`polar_go`, `POLAR_ERROR_…`, [up](../README.md), [web](https://x.y/z.md)\n## Limits\n",
        "docs/b.md": "# B\n## A `code` of 2 bits!\n```\n[no](link.md)\n## None\n```\n## Limits\n",
    }
    cases = [
        ({}, None),
        ({"docs/a.md": good["docs/a.md"].replace("../README", "../READYOU")}, "does not exist"),
        ({"README.md": good["README.md"].replace("2-bits", "3-bits")}, "no heading"),
        ({"docs/a.md": good["docs/a.md"].replace("polar_go", "polar_went")}, "polar_went is not in"),
        ({"docs/a.md": good["docs/a.md"].replace("ERROR_…", "ERRER_…")}, "POLAR_ERRER_"),
        ({"docs/README.md": "[a](a.md)\n"}, "does not list docs/b.md"),
        ({"docs/b.md": good["docs/b.md"] + "## More\n"}, "does not end with its limits"),
        ({"docs/c/d.md": "# D\n"}, "does not list docs/c/d.md"),
        ({"docs/a.md": good["docs/a.md"].replace("## L", "`src/no/file.h`\n## L")}, "src/no/file.h does not exist"),
        ({"docs/README.md": good["docs/README.md"] + "[d](dev/d.md)\n",
          "docs/dev/d.md": "# D\n| file | does |\n|---|---|\n| `a_file` | it |\n"}, "is called a_file"),
        ({"README.md": good["README.md"] + "\n" + "word " * 91}, "91 words"),
        ({"README.md": good["README.md"] + "\n" + "word " * 90 + "\n- word\n\n```\n" + "word " * 91 + "\n```\n"}, None),
    ]
    failed = 0
    for changes, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**good, **changes}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            found = list(problems_of(root))
        is_right = not found if expected is None else len(found) == 1 and expected in found[0]
        if not is_right:
            print(f"{changes}: expected {expected!r}, found {found}")
            failed += 1
    print(f"self-test: {len(cases) - failed} of {len(cases)} trees judged rightly")
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[0]).resolve()
    problems = list(problems_of(root))
    print(*problems, f"{len(pages_of(root))} pages read, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
