#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many instructions searches and encoding take on ARM's NEON beside x86's SSE4, whose vectors are as
long, and how many of them work on vectors: a kernel that has fallen to scalar code has few of these.

Both libraries are those of ./dev.sh cross aarch64-linux-musl x86_64-linux-musl, made by one compiler. qemu
runs both, and a plugin counts; differences of runs are told, so that the start is not counted. Fails
where NEON takes more than MOST times as many instructions, as a kernel without vectors does.

usage: count_instructions.py [ROOT]; needs Debian's qemu-user, not the static one, gcc and NumPy
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
MOST = 2.0
#: zig's name of the system: what runs its programs with SSE4 or NEON as the best there is.
EMULATORS = {
    "x86_64-linux-musl": ["qemu-x86_64", "-cpu", "Nehalem"],
    "aarch64-linux-musl": ["qemu-aarch64"],
}
#: searches.c has these sizes. Calls are made over so many times its rows, and over twice as many: the
#: difference has nothing of what a query costs by itself.
ROWS, QUERIES, ENCODED, TIMES = 512, 256, 64, 8
#: What is counted: what a call's instructions are divided by, and how many calls are counted at once. The start
#: takes up to three million more or fewer from run to run: of short calls it takes many to see past that.
KINDS = {
    "one": (ROWS * TIMES, 64),
    "every-row": (ROWS * TIMES, 16),
    "batch": (ROWS * TIMES * QUERIES, 1),
    "dense": (ROWS * TIMES * QUERIES, 1),
    "encode": (ENCODED, 8),
}


def run(*command):
    ran = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if ran.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{ran.stdout}{ran.stderr}")
    return ran.stdout + ran.stderr


def compiled(root, target, folder):
    """The program over that system's library."""
    program = folder / target
    library = root / "build-cross" / target / "lib"
    run(
        *(root / "build-cross" / "tools" / target / "cc", "-O2", HERE / "searches.c", "-dynamic"),
        *("-I", root / "include", "-L", library, "-lpolarquant", "-lm"),
        *(f"-Wl,-rpath,{library}", "-o", program),
    )
    return program


def counts(emulator, plugin, program, *arguments):
    """(instructions, those of vectors) of a run."""
    said = run(*emulator, "-plugin", plugin, "-d", "plugin", program, *arguments)
    found = re.search(r"^instructions (\d+) vector (\d+)$", said, re.MULTILINE)
    return np.array([int(number) for number in found.groups()])


def counts_of_call(emulator, plugin, program, kind, more_calls):
    """Of one call over ROWS·TIMES rows, or of encoding: what `more_calls` of them add to a first one."""

    def of_one(times):
        before, after = (
            counts(emulator, plugin, program, kind, calls, times) for calls in (1, 1 + more_calls)
        )
        return (after - before) / more_calls

    return of_one(1) if kind == "encode" else of_one(2 * TIMES) - of_one(TIMES)


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else HERE.parents[1]).resolve()
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plugin = folder / "count_plugin.so"
        run("gcc", "-O2", "-shared", "-fPIC", HERE / "count_plugin.c", "-o", plugin)
        programs = {target: compiled(root, target, folder) for target in EMULATORS}
        print(
            f"{'per row, or row and query':26} {'SSE4':>9} {'NEON':>9} {'ratio':>6}   of vectors, SSE4 and NEON"
        )
        for kind, (items, more_calls) in KINDS.items():
            each, share = {}, {}
            for target, emulator in EMULATORS.items():
                all_run, of_vectors = counts_of_call(
                    emulator, plugin, programs[target], kind, more_calls
                )
                each[target], share[target] = all_run / items, of_vectors / all_run
            sse4, neon = each.values()
            shares = " ".join(f"{100 * value:8.0f}%" for value in share.values())
            print(f"{kind:26} {sse4:9.2f} {neon:9.2f} {neon / sse4:6.2f} {shares}", flush=True)
            if neon > MOST * sse4:
                wrong.append(
                    f"{kind}: NEON takes {neon / sse4:.2f} times as many (allowed: {MOST})"
                )
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
