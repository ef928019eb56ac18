#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels ask for what an instruction set has (src/simd/capabilities.h), and name no target of Highway's.

A kernel that names one, as AVX3_DL, falls to its general form on the targets that a later Highway puts above
it: the same answers, at a third of the speed. And a file that asks without including capabilities.h is told
no, silently, by the preprocessor.

usage: check_targets.py ROOT | --self-test
"""

import re

from source_checks import check_sources, judge, run

TOPS = ("src", "bench")
#: What may name targets: the conditions themselves, and what is compiled.
MAY_NAME = ("src/simd/capabilities.h", "src/simd/targets.h")
NAMED = re.compile(
    r"\bHWY_(AVX\w*|SSE\w*|SSSE3|NEON\w*|SVE\w*|RVV|EMU128|SCALAR|WASM\w*|PPC\w*)\b"
    r"|\bHWY_TARGET\s*(==|!=|<|>)"
)
ASKS = re.compile(r"\bPOLAR_SIMD_\w+")
INCLUDES = re.compile(r'^#include "src/simd/capabilities\.h"', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def wrong_with(name, text):
    """What is wrong with a file, line by line."""
    if name in MAY_NAME:
        return []
    code = COMMENT.sub("", text)
    wrong = [f"{name}: names {match[0]}: ask for a POLAR_SIMD_… instead" for match in NAMED.finditer(code)]
    if ASKS.search(code) and not INCLUDES.search(code):
        wrong.append(f"{name}: asks for a POLAR_SIMD_… without including src/simd/capabilities.h")
    return wrong


def self_test():
    include = '#include "src/simd/capabilities.h"\n'
    right = (
        include + "#if POLAR_SIMD_VBMI || HWY_HAVE_SCALABLE\n// HWY_AVX3_DL\n#endif\n",
        "const char* name() { return hwy::TargetName(HWY_TARGET); }\n",
        "#define HWY_TARGET_INCLUDE HWY_TARGET_TOGGLE\n",
    )
    wrong = (
        "#if HWY_TARGET == HWY_AVX3_DL\n",
        "#if HWY_TARGET <= kBest\n",
        "if (target == HWY_SCALAR) return;\n",
        "#if POLAR_SIMD_VBMI\n",
        "// " + include + "#if POLAR_SIMD_VBMI\n",
    )
    return judge(wrong_with, [("a.cc", text, False) for text in right] + [("a.cc", text, True) for text in wrong])


if __name__ == "__main__":
    run(__doc__, lambda root: check_sources(root, TOPS, wrong_with), self_test)
