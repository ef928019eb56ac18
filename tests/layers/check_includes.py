#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads every #include of the library and reports those that break the layer rule:
core -> codec -> scan -> faiss -> capi -> bindings, io beside codec, advice beside faiss, cuda beside scan. A file includes its own layer
or lower ones; the public C header includes nothing of ours, and bindings include only it.

usage: check_includes.py ROOT | check_includes.py --self-test
"""
import pathlib
import re
import sys
import tempfile

# Folder or public header -> the layers it may include.
ALLOWED = {
    "src/core": {"core"},
    "src/io": {"core", "io"},
    "src/codec": {"core", "codec"},
    "src/scan": {"core", "io", "codec", "scan"},
    "src/advice": {"core", "codec", "scan", "advice"},
    "cuda": {"core", "codec", "cuda"},
    "src/faiss": {"core", "io", "codec", "scan", "cuda", "faiss"},
    "src/capi": {"core", "io", "codec", "scan", "advice", "cuda", "faiss", "capi"},
    "bindings": {"capi header", "bindings"},
    "include/polarquant/faiss.h": {"faiss header"},
    "include/polarquant/faiss_ivf.h": {"faiss header"},
    "include/polarquant/faiss_ivf_base.h": set(),
    "include/polarquant/faiss_parameters.h": set(),
    "include/polarquant/polarquant.h": set(),
}
# What a file of each place counts as when it is included.
LAYER = {
    "src/core": "core",
    "src/io": "io",
    "src/codec": "codec",
    "src/scan": "scan",
    "src/advice": "advice",
    "cuda": "cuda",
    "src/faiss": "faiss",
    "src/capi": "capi",
    "bindings": "bindings",
    "include/polarquant/faiss.h": "faiss",
    "include/polarquant/faiss_ivf.h": "faiss header",
    "include/polarquant/faiss_ivf_base.h": "faiss header",
    "include/polarquant/faiss_parameters.h": "faiss header",
    "include/polarquant/polarquant.h": "capi header",
}
# The C header belongs to the C ABI, whose sources define it.
ALLOWED["src/capi"].add("capi header")

# Headers of other projects that only some places may see.
FOREIGN = {
    "faiss/": {"src/faiss", "src/capi", "include/polarquant/faiss.h",
               "include/polarquant/faiss_ivf.h", "include/polarquant/faiss_ivf_base.h",
               "include/polarquant/faiss_parameters.h"},
    "cuda": {"cuda"},
    "cublas": {"cuda"},
    "omp.h": {"src/core", "src/faiss"},
}
C_HEADER = "include/polarquant/polarquant.h"
C_HEADER_MAY_INCLUDE = {"stddef.h", "stdint.h"}

SOURCES = {".h", ".c", ".cc", ".cpp", ".cu", ".cuh", ".inc"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def place_of(path):
    """The row of ALLOWED that a path inside the repository belongs to, or None."""
    for place in ALLOWED:
        if path == place or path.startswith(place + "/"):
            return place
    return None


def find_included(root, file, name, quoted):
    """The included file's path inside the repository, or None when it is not one of ours."""
    folders = [root, root / "include"]
    if quoted:
        folders.insert(0, file.parent)
    for folder in folders:
        candidate = (folder / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return None


def check_include(root, file, name, quoted):
    """What is wrong with one include, or None."""
    place = place_of(file.relative_to(root).as_posix())
    target = find_included(root, file, name, quoted)
    if target is None:
        if place == C_HEADER and name not in C_HEADER_MAY_INCLUDE:
            return "the C header includes only " + " and ".join(sorted(C_HEADER_MAY_INCLUDE))
        for prefix, places in FOREIGN.items():
            if name.startswith(prefix) and place not in places:
                return f"{place} may not see {prefix}…"
        if name.startswith(("src/", "polarquant/", "bindings/")):
            return "no such file"
        return None
    target_place = place_of(target)
    if target_place is None:
        return f"{target} is outside the layers"
    if LAYER[target_place] not in ALLOWED[place]:
        return f"{place} is below or beside {target_place}"
    return None


def find_violations(root):
    """(messages, number of includes read) for the tree at root."""
    root = root.resolve()
    messages = []
    read = 0
    for top in ("src", "include", "cuda", "bindings"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SOURCES or not file.is_file():
                continue
            relative = file.relative_to(root).as_posix()
            if place_of(relative) is None:
                messages.append(f"{relative}: in no layer; add its folder to the table")
                continue
            text = file.read_text(encoding="utf-8")
            for match in INCLUDE.finditer(text):
                read += 1
                wrong = check_include(root, file, match[2], match[1] == '"')
                if wrong:
                    line = text.count("\n", 0, match.start(2)) + 1
                    messages.append(f'{relative}:{line}: includes {match[2]}: {wrong}')
    return messages, read


# (file, its include line, part of the message or None when it is fine)
SELF_TEST = [
    ("src/codec/codec.cc", '#include "src/core/status.h"', None),
    ("src/codec/codec.cc", '#include "codec.h"', None),
    ("src/scan/rows.cc", '#include "src/io/file.h"', None),
    ("src/io/file.cc", '#include "src/codec/codec.h"', "src/io is below or beside"),
    ("src/codec/codec.cc", '#include "src/io/file.h"', "src/codec is below or beside"),
    ("src/core/status.cc", '#include "src/codec/codec.h"', "src/core is below"),
    ("src/core/status.cc", '#include "../codec/codec.h"', "src/core is below"),
    ("src/codec/codec.cc", '  #  include "src/scan/search.h"', "src/codec is below"),
    ("src/scan/search.cc", '#include "cuda/launch.h"', "src/scan is below or beside"),
    ("src/scan/search.cc", "#include <faiss/Index.h>", "may not see faiss/"),
    ("src/codec/codec.cc", "#include <omp.h>", "may not see omp.h"),
    ("src/faiss/index_polar.cc", "#include <faiss/Index.h>", None),
    ("src/faiss/index_polar.cc", '#include "polarquant/faiss.h"', None),
    ("src/faiss/index_polar.cc", "#include <polarquant/polarquant.h>", "src/faiss is below"),
    ("src/scan/search.cc", "#include <polarquant/faiss.h>", "src/scan is below"),
    ("src/capi/index_api.cc", '#include "include/polarquant/polarquant.h"', None),
    ("src/capi/index_api.cc", '#include "src/scan/search.h"', None),
    ("include/polarquant/faiss.h", '#include "src/codec/codec.h"', "is below or beside"),
    ("include/polarquant/polarquant.h", "#include <stdio.h>", "only stddef.h and stdint.h"),
    ("include/polarquant/polarquant.h", "#include <stdint.h>", None),
    ("cuda/launch.cu", '#include "src/codec/codec.h"', None),
    ("cuda/launch.cu", "#include <cuda_runtime.h>", None),
    ("cuda/launch.cu", '#include "src/scan/search.h"', "cuda is below or beside"),
    ("bindings/go/polar.c", '#include "polarquant/polarquant.h"', None),
    ("bindings/go/polar.c", '#include "src/core/status.h"', "bindings is below or beside"),
    ("src/codec/codec.cc", '#include "src/codec/gone.h"', "no such file"),
    ("src/codec/codec.cc", '#include "tests/support/catch.h"', "outside the layers"),
    ("src/extra/more.cc", "#include <vector>", "in no layer"),
]
SELF_TEST_FILES = ["src/core/status.h", "src/io/file.h", "src/codec/codec.h", "src/scan/search.h", "cuda/launch.h",
                   "include/polarquant/faiss.h", "include/polarquant/polarquant.h",
                   "tests/support/catch.h"]


def self_test():
    failed = 0
    for name, line, expected in SELF_TEST:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for existing in [*SELF_TEST_FILES, name]:
                (root / existing).parent.mkdir(parents=True, exist_ok=True)
                (root / existing).write_text("// empty\n", encoding="utf-8")
            (root / name).write_text("// head\n" + line + "\n", encoding="utf-8")
            messages, _ = find_violations(root)
            good = not messages if expected is None else len(messages) == 1 and expected in messages[0]
            if not good:
                print(f"self-test: {name}: {line}: expected {expected}, got {messages}")
                failed += 1
    print(f"self-test: {len(SELF_TEST) - failed} of {len(SELF_TEST)} includes judged rightly")
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    messages, read = find_violations(pathlib.Path(arguments[0]))
    for message in messages:
        print(message)
    print(f"{read} includes read, {len(messages)} break the layer rule")
    return 1 if messages or read == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
