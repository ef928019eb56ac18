#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the site of the pages into build-docs/site, by MkDocs (requirements.txt).

usage: build_site.py ROOT | build_site.py --self-test

Pages are copied to build-docs/pages as they lie in the repository, so that their links stay. What they link
to besides, sources and folders, becomes a page there, which shows the source or lists the folder. A link
that leads nowhere is an error.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(\))")
LANGUAGES = {".c": "c", ".cc": "cpp", ".h": "cpp", ".py": "python", ".sh": "bash", ".yml": "yaml"}
PICTURES = {".png", ".svg"}
# Beginnings of pages that the site has; others become pages where one of these links to them.
FIRST_PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md"]


def page_of(root, target):
    """Where the site has what a link names: a page, or a picture as it is."""
    if target.is_dir():
        return target / ("README.md" if (target / "README.md").exists() else "index.md")
    if target.suffix == ".md" or target.suffix in PICTURES:
        return target
    return target.with_name(target.name + ".md")


def text_of(root, target):
    """The page that shows a source, or lists a folder."""
    name = target.relative_to(root).as_posix()
    if target.is_dir():
        names = sorted(f"{path.name}{'/' * path.is_dir()}" for path in target.iterdir())
        return f"# {name}\n\n" + "".join(f"- `{each}`\n" for each in names)
    if target.suffix == ".md":
        return target.read_text(encoding="utf-8")
    source = target.read_text(encoding="utf-8").rstrip("\n")
    return f"# {name}\n\n````{LANGUAGES.get(target.suffix, 'text')}\n{source}\n````\n"


def with_links(root, page, text, found):
    """The text with links to the site's pages; what these show is added to `found`."""

    def replaced(link):
        target = (page.parent / link[2]).resolve()
        if not target.exists() or root not in (target, *target.parents):
            raise SystemExit(f"{page.relative_to(root)}: {link[2]} does not exist")
        found.append(target)
        there = page_of(root, target)
        if there == target:
            return link[0]
        up = [".."] * (len(page.parent.relative_to(root).parts))
        return f"{link[1]}{'/'.join([*up, there.relative_to(root).as_posix()])}{link[3] or ''}{link[4]}"

    parts = FENCE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(replaced, part) for part in parts)


def stage(root, folder):
    """Copies all that the site has."""
    shutil.rmtree(folder, ignore_errors=True)
    waiting = [path for pattern in FIRST_PAGES for path in sorted(root.glob(pattern))]
    done = set()
    while waiting:
        target = waiting.pop()
        if target in done:
            continue
        done.add(target)
        there = folder / page_of(root, target).relative_to(root)
        there.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix in PICTURES:
            shutil.copyfile(target, there)
        elif target.is_dir() and (target / "README.md").exists():
            waiting.append(target / "README.md")
        else:
            text = text_of(root, target)
            if target.suffix == ".md":
                text = with_links(root, target, text, waiting)
            there.write_text(text, encoding="utf-8")
    # The reference stands beside the pages; its links are those of where it lies here.
    reference = (HERE / "python_api.md").read_text(encoding="utf-8").replace("../../docs/", "")
    (folder / "docs" / "python_api.md").write_text(reference, encoding="utf-8")
    (folder / "tools" / "site").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(HERE / "site.css", folder / "tools" / "site" / "site.css")


def stamp_of(root):
    """Changes with all that the site is made from."""
    made_from = hashlib.sha256()
    pages = [path for pattern in FIRST_PAGES for path in root.glob(pattern)]
    sources = [*HERE.glob("*.*"), *(root / "bindings/python/src").rglob("*.py"), *(root / "docs/images").iterdir()]
    for path in sorted({*pages, *sources}):
        made_from.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return made_from.hexdigest()


def self_test():
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name).resolve()
        for path, text in {"README.md": "[a](docs/a.md#b) [c](src/c.c) [d](src) [web](https://x.y/z)\n```\n[no](no)\n```\n",
                           "docs/a.md": "# A\n[c](../src/c.c)\n![p](p.svg)\n", "docs/p.svg": "<svg/>",
                           "src/c.c": "int c;\n"}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        stage(root, root / "build-docs/pages")
        made = lambda path: (root / "build-docs/pages" / path).read_text(encoding="utf-8")
        assert made("README.md").startswith("[a](docs/a.md#b) [c](src/c.c.md) [d](src/index.md) [web](https"), made("README.md")
        assert "[no](no)" in made("README.md") and "(../src/c.c.md)" in made("docs/a.md"), made("docs/a.md")
        assert "```c\nint c;\n" in made("src/c.c.md") and "- `c.c`" in made("src/index.md")
        assert made("docs/p.svg") == "<svg/>"
    print("pages, sources, folders and pictures are where links say")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 1:
        sys.exit(__doc__)
    root = pathlib.Path(arguments[0]).resolve()
    folder = root / "build-docs"
    stage(root, folder / "pages")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--clean", "--config-file",
                    HERE / "mkdocs.yml"], env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=True)
    (folder / "site" / "made-from.txt").write_text(stamp_of(root) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
