#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads every #include of the library and reports those that break the layer rule: a file includes
its own layer and those that stand below it in the table LAYERS, nothing else. The public C headers
include nothing else of ours, and bindings include only them. And no file outside the codec's layer asks
by a cast which codec there is.

usage: check_includes.py ROOT | check_includes.py --self-test
"""
import pathlib
import re
import tempfile

from source_checks import run

# A layer's folder or header, and the layers right below it; it may include all that is below these
# as well. The longest name that a path begins with is its layer.
LAYERS = {
    "src/core": (),
    "src/io": ("src/core",),
    "src/codec": ("src/core",),
    "src/simd": ("src/codec",),
    "src/scan/layout": ("src/codec", "src/io"),
    "src/scan/model": ("src/scan/layout", "src/simd"),
    "src/scan/kernels": ("src/scan/model",),
    "src/scan/search": ("src/scan/kernels",),
    "src/scan/stores": ("src/scan/search",),
    "cuda": ("src/codec",),
    "src/device": ("src/scan/stores", "cuda"),
    "src/advice": ("src/scan/stores",),
    "include/polarquant/faiss_ivf_base.h": (),
    "include/polarquant/faiss_parameters.h": (),
    "include/polarquant/faiss_ivf.h": ("include/polarquant/faiss_ivf_base.h",
                                       "include/polarquant/faiss_parameters.h"),
    "include/polarquant/faiss.h": ("include/polarquant/faiss_ivf.h",),
    "src/faiss": ("src/scan/stores", "include/polarquant/faiss.h"),
    "include/polarquant/types.h": (),
    "include/polarquant/codec.h": ("include/polarquant/types.h",),
    "include/polarquant/blocks.h": ("include/polarquant/codec.h",),
    "include/polarquant/index.h": ("include/polarquant/types.h",),
    "include/polarquant/files.h": ("include/polarquant/index.h",),
    "include/polarquant/build.h": ("include/polarquant/files.h",),
    "include/polarquant/advice.h": ("include/polarquant/types.h",),
    "include/polarquant/cuda.h": ("include/polarquant/codec.h", "include/polarquant/index.h"),
    "include/polarquant/polarquant.h": ("include/polarquant/blocks.h", "include/polarquant/build.h",
                                        "include/polarquant/advice.h", "include/polarquant/cuda.h"),
    "src/capi": ("src/faiss", "src/device", "src/advice", "include/polarquant/polarquant.h"),
    "bindings": ("include/polarquant/polarquant.h",),
}


def layers_below(layer):
    """The layer and all that it may include."""
    found = {layer}
    for below in LAYERS[layer]:
        found |= layers_below(below)
    return found


# Headers of other projects that only some places may see.
FOREIGN = {
    "faiss/": {"src/faiss", "src/capi", "include/polarquant/faiss.h",
               "include/polarquant/faiss_ivf.h", "include/polarquant/faiss_ivf_base.h",
               "include/polarquant/faiss_parameters.h"},
    "cuda": {"cuda"},
    "cublas": {"cuda"},
    "omp.h": {"src/core"},
    "hwy/": {"src/simd", "src/scan/kernels"},
}
C_HEADERS = layers_below("include/polarquant/polarquant.h")
C_HEADERS_MAY_INCLUDE = {"stddef.h", "stdint.h"}

SOURCES = {".h", ".c", ".cc", ".cpp", ".cu", ".cuh", ".inc"}
# Which codec a quantizer is, is for src/codec alone.
CODEC_CAST = re.compile(r"\bdynamic_cast<(?:const\s+)?(?:polarquant::)?\w*Quantizer\b")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def place_of(path):
    """The layer that a path inside the repository belongs to, or None."""
    places = [layer for layer in LAYERS if path == layer or path.startswith(layer + "/")]
    return max(places, key=len, default=None)


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
        if place in C_HEADERS and name not in C_HEADERS_MAY_INCLUDE:
            return "C headers include each other and only " + " and ".join(sorted(C_HEADERS_MAY_INCLUDE))
        for prefix, places in FOREIGN.items():
            if name.startswith(prefix) and place not in places:
                return f"{place} may not see {prefix}…"
        if name.startswith(("src/", "polarquant/", "bindings/")):
            return "no such file"
        return None
    target_place = place_of(target)
    if target_place is None:
        return f"{target} is outside the layers"
    if target_place not in layers_below(place):
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
            for match in () if place_of(relative) == "src/codec" else CODEC_CAST.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                messages.append(f"{relative}:{line}: {match[0]}: Quantizer::describe() tells instead")
    return messages, read


# (file, its include line, part of the message or None when it is fine)
SELF_TEST = [
    ("src/codec/codec.cc", '#include "src/core/status.h"', None),
    ("src/codec/codec.cc", '#include "codec.h"', None),
    ("src/scan/stores/rows.cc", '#include "src/io/file.h"', None),
    ("src/io/file.cc", '#include "src/codec/codec.h"', "src/io is below or beside"),
    ("src/codec/codec.cc", '#include "src/io/file.h"', "src/codec is below or beside"),
    ("src/core/status.cc", '#include "src/codec/codec.h"', "src/core is below"),
    ("src/core/status.cc", '#include "../codec/codec.h"', "src/core is below"),
    ("src/codec/codec.cc", '  #  include "src/scan/search/search.h"', "src/codec is below"),
    ("src/scan/search/search.cc", '#include "cuda/launch.h"', "src/scan/search is below or beside"),
    ("src/scan/search/search.cc", "#include <faiss/Index.h>", "may not see faiss/"),
    ("src/codec/codec.cc", "#include <omp.h>", "may not see omp.h"),
    ("src/faiss/index/index_polar.cc", "#include <faiss/Index.h>", None),
    ("src/faiss/index/index_polar.cc", '#include "polarquant/faiss.h"', None),
    ("src/faiss/index/index_polar.cc", "#include <polarquant/polarquant.h>", "src/faiss is below"),
    ("src/scan/search/search.cc", "#include <polarquant/faiss.h>", "src/scan/search is below"),
    ("src/capi/index_api.cc", '#include "include/polarquant/polarquant.h"', None),
    ("src/capi/index_api.cc", '#include "src/scan/search/search.h"', None),
    ("include/polarquant/faiss.h", '#include "src/codec/codec.h"', "is below or beside"),
    ("include/polarquant/polarquant.h", "#include <stdio.h>", "only stddef.h and stdint.h"),
    ("include/polarquant/polarquant.h", "#include <stdint.h>", None),
    ("cuda/launch.cu", '#include "src/codec/codec.h"', None),
    ("cuda/launch.cu", "#include <cuda_runtime.h>", None),
    ("cuda/launch.cu", '#include "src/scan/search/search.h"', "cuda is below or beside"),
    ("bindings/go/polar.c", '#include "polarquant/polarquant.h"', None),
    ("bindings/go/polar.c", '#include "src/core/status.h"', "bindings is below or beside"),
    ("src/codec/codec.cc", '#include "src/codec/gone.h"', "no such file"),
    ("src/codec/codec.cc", '#include "tests/support/catch.h"', "outside the layers"),
    ("src/scan/kernels/dot.cc", '#include "src/scan/search/search.h"', "src/scan/kernels is below"),
    ("src/scan/stores/rows.cc", '#include "src/scan/search/search.h"', None),
    ("src/scan/search/search.cc", "#include <hwy/highway.h>", "may not see hwy/"),
    ("src/scan/rows.cc", "#include <vector>", "in no layer"),
    ("src/extra/more.cc", "#include <vector>", "in no layer"),
    ("src/scan/model/rows.cc", "const auto* byte = dynamic_cast<const ByteQuantizer*>(&q);", "Quantizer::describe()"),
    ("src/codec/codec.cc", "const auto* byte = dynamic_cast<const ByteQuantizer*>(&q);", None),
]
SELF_TEST_FILES = ["src/core/status.h", "src/io/file.h", "src/codec/codec.h", "src/scan/search/search.h", "cuda/launch.h",
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


def check(root):
    messages, read = find_violations(root)
    for message in messages:
        print(message)
    print(f"{read} includes read, {len(messages)} break the layer rule")
    return 1 if messages or read == 0 else 0


if __name__ == "__main__":
    run(__doc__, check, self_test)
