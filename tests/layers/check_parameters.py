#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No function has more than six parameters: what travels together is a struct with a name.

Kernels may have more, and the calls of the C header; other functions have more only where somebody else's
header says so.

usage: check_parameters.py ROOT | --self-test
"""

import re

from source_checks import check_sources, judge, run

MOST_PARAMETERS = 6
TOPS = ("src", "include")
#: Folders of kernels.
MAY_HAVE_MORE = ("src/scan/kernels", "src/simd")
#: Functions whose parameters the headers of others say, and calls of the C header.
SAID_ELSEWHERE = re.compile(r"^(search_preassigned|distances_batch_4|dsyrk_|dsyevd_|[sd](?:gemm|syrk|syev|gesvd|geqrf|orgqr|gelsd|getri)_|polar_\w+)$")

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"([\w~]+)\)?\s*\(")
#: A type, and a name or a reference.
PARAMETER = re.compile(
    r"^(?:\[\[\w+\]\]\s*)?(?:(?:const|struct|typename)\s+)*(?:::)?[A-Za-z_][\w:]*(?:<>)?(?:::\w+)*(?:\s+const)?"
    r"(?:\s*(?:\.\.\.|[*&]+)\s*(?:const\s*|__restrict\s*)*\w*|\s+[A-Za-z_]\w*)(?:\[\w*\])*(?:\s*=.*)?$",
    re.DOTALL,
)
#: A parameter without a name is a type alone.
TYPE = re.compile(r"^(?:const\s+)?(?:float|double|int|bool|char|size_t|u?int\d+_t|idx_t|::faiss::\w+|[A-Z]\w+)$")


def inside(text, begin):
    """What stands in the parentheses that open at `begin`, with types' arguments and inner parentheses left
    out; None where they do not close."""
    depth, angles, kept = 0, 0, []
    for i in range(begin, len(text)):
        char = text[i]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                return "".join(kept)
        elif char == "<" and re.search(r"\w$", text[max(0, i - 1) : i]):
            angles += 1
        elif char == ">" and angles > 0 and text[i - 1] != "-":
            angles -= 1
        elif depth == 1 and angles == 0:
            kept.append(char)
    return None


def long_functions(text):
    """The functions of more than MOST_PARAMETERS parameters: (line, name, count)."""
    code = NOT_CODE.sub(lambda match: "\n" * match[0].count("\n"), text)
    found = []
    for match in NAMED.finditer(code):
        parameters = inside(code, match.end() - 1)
        if parameters is None or parameters.count(",") < MOST_PARAMETERS:
            continue
        parts = [part.strip() for part in parameters.split(",")]
        if all(PARAMETER.match(part) or TYPE.match(part) for part in parts):
            found.append((code[: match.start()].count("\n") + 1, match[1], len(parts)))
    return found


def wrong_with(name, text):
    """What is wrong with a file, line by line."""
    if name.startswith(tuple(folder + "/" for folder in MAY_HAVE_MORE)):
        return []
    return [
        f"{name}:{line}: {function} has {count} parameters; {MOST_PARAMETERS} are allowed"
        for line, function, count in long_functions(text)
        if not SAID_ELSEWHERE.match(function)
    ]


def self_test():
    seven = "int a, const float* b, Codec& c, std::span<const int, 3> d, int64_t e = 0, ::faiss::Index* f, bool g"
    wrong = (
        f"void scan({seven});",
        f"Scan::Scan({seven}) : a_(a) {{}}",
        f"template <typename T>\nstd::vector<T> scan({seven}) const {{",
        "int (*trace)(const Cells& a, int b, int c, int d, int e, int f, float* g);",
        "void scan(const Codec& /*codec*/, int64_t, float, bool, size_t, int, const std::function<bool(int, int)>& f);",
    )
    right = (
        "void scan(int a, const float* b, Codec& c, std::map<int, std::pair<int, int>> d, int64_t e, int f);",
        "scan(a, b, c, d, e, f, g);",
        "scan(int{a}, b, c + 1, d, e, f, g);",
        "const int table[] = {1, 2, 3, 4, 5, 6, 7};",
        f"// void scan({seven});",
        f"polar_status polar_codec_search({seven});",
    )
    return judge(
        wrong_with,
        [("src/codec/a.cc", text, False) for text in right]
        + [("src/codec/a.cc", text, True) for text in wrong]
        + [("src/simd/a.cc", text, False) for text in wrong],
    )


if __name__ == "__main__":
    run(__doc__, lambda root: check_sources(root, TOPS, wrong_with), self_test)
