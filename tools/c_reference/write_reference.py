#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the reference of the C library into docs/c_api.md, from the comments of its headers.

usage: write_reference.py ROOT [--check] | write_reference.py --self-test

Each section of a header becomes one of the page: declarations, and under each its comment; those of the
headers that it includes come in their order. They stand
between `<!-- reference of FILE -->` and `<!-- end of reference -->`; what is around them is written by
hand. With --check nothing is written: it ends with 1 when the page is not what would be. A header that
is not written as this program reads it is an error, as is a function without a comment.
"""

import difflib
import pathlib
import re
import sys

PAGE = "docs/c_api.md"
MARKS = re.compile(r"(<!-- reference of (\S+) -->\n).*?(<!-- end of reference -->)", re.DOTALL)

TOPIC = re.compile(r'^#include "(polarquant/\w+\.h)"$', re.MULTILINE)
SECTION = re.compile(r"/\* -{4,} (.+?) -+ \*/")
RULES = "Rules for every function:"
END = "#ifdef __cplusplus"
FUNCTION = "POLAR_API "
# A function of the header alone, which ends with a line "}".
INLINE = "static inline "
FUNCTION_NAME = re.compile(r"^POLAR_API\s[^;(]*?(\w+)\(", re.MULTILINE)
# What is code in a text: names with an underscore, members, where a result goes, and what has backticks
# already. Pages become links. The rest of Markdown's marks are text.
NAME = re.compile(
    r"(?P<page>\bdocs/(?P<file>\w+\.md))"
    r"|`(?P<quoted>[^`]+)`"
    r"|(?P<name>(?:\bpolar|\bPOLAR)_[\w…]+(?:(?:->|\.)\w+)*(?:\(\w*\))?"
    r"|\b\w+->\w+|\b\w*_\w+|(?<![\w*])\*[a-z]\w*)"
)



class HeaderError(Exception):
    pass


def comment_text(lines):
    """A comment's text, without its frame."""
    text = "\n".join(lines)[2:-2].split("\n")
    return [re.sub(r"^ \* ?", "", line).strip() for line in text]


def as_markdown(lines):
    """Paragraphs and lists of a comment: each paragraph, and each entry of a list, in one line."""
    parts = []
    goes_on = False
    for line in lines:
        if goes_on and line and not line.startswith("- "):
            parts[-1] += f" {line}"
        elif line:
            if parts and not (line.startswith("- ") and parts[-1].startswith("- ")):
                parts.append("")
            parts.append(line)
        goes_on = bool(line)
    return "\n".join(escape(part) for part in parts)


def escape(text):
    """Text in which names are code, and nothing else is a mark."""
    escaped = ""
    end = 0
    for name in NAME.finditer(text):
        escaped += escape_plain(text[end : name.start()])
        if name["page"]:
            escaped += f"[{name['file']}]({name['file']})"
        else:
            escaped += f"`{name['quoted'] or name['name']}`"
        end = name.end()
    return escaped + escape_plain(text[end:])


def escape_plain(text):
    return re.sub(r"([*_`\\|])", r"\\\1", text).replace("<", "&lt;")


def without_export(lines):
    """A declaration as a reader needs it: without POLAR_API, which its further lines stand after."""
    if not lines[0].startswith(FUNCTION):
        return lines
    indent = " " * len(FUNCTION)
    return [lines[0][len(FUNCTION) :], *(line.removeprefix(indent) for line in lines[1:])]


class Lines:
    """A header's lines, read one by one."""

    def __init__(self, text):
        self.lines = text.split("\n")
        self.at = 0

    def is_done(self):
        return self.at >= len(self.lines)

    def next(self):
        return "" if self.is_done() else self.lines[self.at]

    def take_until(self, is_last):
        """Lines from here to the first one that is_last."""
        begin = self.at
        while not is_last(self.next()):
            self.at += 1
            if self.is_done():
                raise HeaderError(f"line {begin + 1}: what begins here has no end")
        self.at += 1
        return self.lines[begin : self.at]


def take_code(lines):
    """Declarations that stand under one comment: a function, or types and constants without a blank line
    between them."""
    code = []
    while not code or not code[0].startswith(FUNCTION):
        line = lines.next()
        if line.startswith("typedef struct") and line.endswith("{"):
            code += lines.take_until(lambda text: text.startswith("}"))
        elif line.startswith("#define POLAR_"):
            code += lines.take_until(lambda text: not text.endswith("\\"))
        elif line.startswith(INLINE) and not code:
            begin, *_ = lines.take_until(lambda text: text == "}")
            return [begin.removesuffix(" {") + ";"]
        elif line.startswith("typedef ") or (line.startswith(FUNCTION) and not code):
            code += lines.take_until(lambda text: text.endswith(";"))
        else:
            break
    if not code:
        raise HeaderError(f"line {lines.at + 1}: {lines.next()!r} is no declaration")
    return without_export(code)


def read_header(text):
    """The rules, in Markdown, and [(section, [(declarations, text in Markdown)])]; either of a pair may be
    empty."""
    lines = Lines(text)
    rules, sections, comment = None, [], None
    while lines.next() != END or not sections:
        line = lines.next()
        title = SECTION.fullmatch(line)
        if line.startswith("/*") and not title:
            if comment is not None and sections:
                sections[-1][1].append(("", as_markdown(comment)))
            comment = comment_text(lines.take_until(lambda text: text.rstrip().endswith("*/")))
            if RULES in comment:
                rules = as_markdown(comment[comment.index(RULES) + 1 :])
        elif sections and line and not title:
            is_function = line.startswith((FUNCTION, INLINE))
            if is_function and comment is None:
                raise HeaderError(f"line {lines.at + 1}: {line!r} has no comment")
            code = "\n".join(take_code(lines))
            sections[-1][1].append((code, as_markdown(comment or [])))
            comment = None
        else:  # a section, a blank line, or what comes before the first section
            if comment is not None and sections:
                sections[-1][1].append(("", as_markdown(comment)))
            comment = None
            if title:
                sections.append((title[1], []))
            lines.at += 1
            if lines.is_done():
                raise HeaderError(f"{END!r} after the last section was not found")
    if rules is None:
        raise HeaderError(f"{RULES!r} was not found")
    written = "\n".join(code for _, items in sections for code, _ in items)
    for name in FUNCTION_NAME.findall(text):
        if not re.search(rf"\b{name}\(", written):
            raise HeaderError(f"{name}: is in no section")
    return rules, sections


def with_topics(text, read):
    """A header whose sections are in those of ours that it includes; another one as it is."""
    topics = list(TOPIC.finditer(text))
    if not topics:
        return text
    sections = []
    for topic in topics:
        included = read(f"include/{topic[1]}")
        first = SECTION.search(included)
        if not first or f"\n{END}" not in included[first.start() :]:
            raise HeaderError(f"{topic[1]}: has no section, or no {END!r} behind the last one")
        sections.append(included[first.start() : included.rindex(f"\n{END}")])
    return "\n".join([text[: topics[0].start()], *sections, END])


def write_reference(text):
    """The reference of a header, in Markdown."""
    rules, sections = read_header(text)
    parts = ["### Rules for every function", rules]
    for title, items in sections:
        parts.append(f"### {title}")
        for code, comment in items:
            parts += [f"```c\n{code}\n```"] if code else []
            parts += [comment] if comment else []
    return "\n" + "\n\n".join(parts) + "\n\n"


def renew(page, read):
    """The page with its reference written anew; read gives a file's text."""
    if not MARKS.search(page):
        raise HeaderError(f"{PAGE}: has no place for the reference")
    return MARKS.sub(
        lambda mark: mark[1] + write_reference(with_topics(read(mark[2]), read)) + mark[3], page
    )


SELF_TEST_HEADER = """\
/*
 * Title.
 *
 * Rules for every function:
 * - The first, (n, dim), goes
 * on.
 * - The second: *out < 3.
 */
#define POLAR_API __attribute__((visibility("default")))

/* ---- First ---------------------------------------------------------------------------------- */
/* Of all in it. */

/* A type. */
typedef struct polar_thing polar_thing;
typedef int32_t polar_kind;
#define POLAR_KIND_A 0 /* the first */

typedef struct polar_options {
  int32_t a; /* a comment */
} polar_options;

/*
 * Does n_rows of polar_kind, int64_t, as `row` of docs/format.md; see polar_thing_free(thing).
 *
 * More of it: POLAR_KIND_…
 */
POLAR_API int polar_thing_do(int a,
                             int* out);
/* NULL is fine. since 0.1 */
POLAR_API void polar_thing_free(polar_thing* thing);

/* Frees two. */
static inline void polar_things_free(polar_thing* first, polar_thing* second) {
  polar_thing_free(first);
  polar_thing_free(second);
}

#ifdef __cplusplus
}
#endif
"""
SELF_TEST_REFERENCE = """
### Rules for every function

- The first, (n, dim), goes on.
- The second: `*out` &lt; 3.

### First

Of all in it.

```c
typedef struct polar_thing polar_thing;
typedef int32_t polar_kind;
#define POLAR_KIND_A 0 /* the first */
```

A type.

```c
typedef struct polar_options {
  int32_t a; /* a comment */
} polar_options;
```

```c
int polar_thing_do(int a,
                   int* out);
```

Does `n_rows` of `polar_kind`, `int64_t`, as `row` of [format.md](format.md); see `polar_thing_free(thing)`.

More of it: `POLAR_KIND_…`

```c
void polar_thing_free(polar_thing* thing);
```

NULL is fine. since 0.1

```c
static inline void polar_things_free(polar_thing* first, polar_thing* second);
```

Frees two.

"""


def self_test():
    written = write_reference(SELF_TEST_HEADER)
    checks = {"the reference": written == SELF_TEST_REFERENCE}
    page = "before\n<!-- reference of x.h -->\nold\n<!-- end of reference -->\nafter\n"
    renewed = renew(page, {"x.h": SELF_TEST_HEADER}.get)
    checks["a page"] = renewed == page.replace("old\n", written)
    checks["a page that is renewed stays"] = renew(renewed, lambda _: SELF_TEST_HEADER) == renewed
    begin = SELF_TEST_HEADER.index("/* ---- First")
    files = {
        "x.h": SELF_TEST_HEADER[:begin] + '#include "polarquant/first.h"\n\n#endif\n',
        "include/polarquant/first.h": '#include "polarquant/types.h"\n' + SELF_TEST_HEADER[begin:],
    }
    checks["a header by topics"] = renew(page, files.get) == renewed
    files["include/polarquant/first.h"] = "#define POLAR_FIRST\n"
    try:
        renew(page, files.get)
        checks["a topic without a section is refused"] = False
    except HeaderError:
        checks["a topic without a section is refused"] = True
    for name, header in {
        "a function without a comment": SELF_TEST_HEADER.replace("/* NULL is fine. since 0.1 */\n", ""),
        "a line of another kind": SELF_TEST_HEADER.replace("typedef int32_t", "static int32_t"),
        "a function before all sections": "POLAR_API int polar_lost(void);\n" + SELF_TEST_HEADER,
        "no end": SELF_TEST_HEADER.replace("#ifdef __cplusplus", ""),
        "no rules": SELF_TEST_HEADER.replace("Rules", "Words"),
        "a declaration without an end": SELF_TEST_HEADER.replace("thing* thing);", "thing* thing)"),
    }.items():
        try:
            write_reference(header)
            checks[f"{name} is refused"] = False
        except HeaderError:
            checks[f"{name} is refused"] = True
    failed = [name for name, passed in checks.items() if not passed]
    if not checks["the reference"]:
        print("\n".join(difflib.ndiff(SELF_TEST_REFERENCE.split("\n"), written.split("\n"))))
    print(f"self-test: {len(checks) - len(failed)} of {len(checks)} passed", *failed, sep="\n  ")
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if not arguments or arguments[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[0])
    path = root / PAGE
    page = path.read_text(encoding="utf-8")
    try:
        renewed = renew(page, lambda name: (root / name).read_text(encoding="utf-8"))
    except HeaderError as error:
        print(f"write_reference.py: {error}", file=sys.stderr)
        return 1
    if len(arguments) == 1:
        path.write_text(renewed, encoding="utf-8")
    elif renewed != page:
        print(
            *difflib.unified_diff(page.split("\n"), renewed.split("\n"), PAGE, "the header", lineterm=""),
            f"{PAGE}: is not what the header says; run tools/c_reference/write_reference.py .",
            sep="\n",
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
