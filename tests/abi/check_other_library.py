#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a self-contained library for Windows or macOS where neither is at hand: it exports the names of
the C ABI and nothing else, needs the system's own libraries alone, and on macOS runs from the version on
that it is said to.

usage: check_other_library.py LIBRARY LIST [OLDEST_MACOS]

LIST has a name a line. Reads what llvm-objdump says, of version 14 or newer.
"""

import pathlib
import re
import shutil
import subprocess
import sys

# What every Windows 10 has, the C library (ucrtbase, by its API sets) included.
WINDOWS_LIBRARIES = re.compile(
    r"(kernel32|advapi32|ntdll|bcrypt|bcryptprimitives|ws2_32|api-ms-win-[a-z0-9-]+)\.dll",
    re.IGNORECASE,
)
# Names of zig's linker itself, which are of no use to anyone and in nobody's way.
MACOS_OF_LINKER = {"__dso_handle", "_mh_dylib_header"}
MACOS_LIBRARIES = re.compile(r"/usr/lib/libSystem\.B\.dylib")


def objdump(*arguments):
    names = ["llvm-objdump", *(f"llvm-objdump-{version}" for version in range(21, 13, -1))]
    program = next((name for name in names if shutil.which(name)), None)
    if program is None:
        raise SystemExit("check_other_library.py: there is no llvm-objdump")
    ran = subprocess.run(
        [program, *map(str, arguments)], capture_output=True, check=True, text=True
    )
    return ran.stdout


def read_windows(library):
    """(exported names, libraries needed, what is wrong besides)."""
    text = objdump("--private-headers", library)
    table = text[text.index("Export Table:") :]
    exported = re.findall(r"^ +\d+ +0x[0-9a-f]+ +(\S+)$", table, re.MULTILINE)
    needed = re.findall(r"^ +DLL Name: (\S+)$", text, re.MULTILINE)
    wrong = []
    characteristics = re.search(r"^DllCharacteristics\s+([0-9a-f]+)", text, re.MULTILINE)
    flags = int(characteristics[1], 16) if characteristics else 0
    for bit, what in (
        (0x40, "its address is the same everywhere"),
        (0x100, "its data may run as code"),
    ):
        if not flags & bit:
            wrong.append(what)
    return exported, needed, wrong


def read_macos(library, oldest):
    exported = [
        line.split()[1].removeprefix("_")
        for line in objdump("--macho", "--exports-trie", library).splitlines()
        if line.startswith("0x")
    ]
    exported = [name for name in exported if name not in MACOS_OF_LINKER]
    commands = objdump("--macho", "--private-headers", library)
    needed = re.findall(r"cmd LC_LOAD\w*DYLIB\s+cmdsize \d+\s+name (\S+)", commands)
    wrong = []
    version = re.search(
        r"(?:minos|LC_VERSION_MIN_MACOSX\s+cmdsize \d+\s+version) ([\d.]+)", commands
    )
    if version is None or version[1] != oldest:
        wrong.append(f"is for macOS {version[1] if version else 'unknown'}, not {oldest}")
    name = re.search(r"cmd LC_ID_DYLIB\s+cmdsize \d+\s+name (\S+)", commands)
    if name is None or name[1] != "@rpath/libpolarquant.0.dylib":
        wrong.append(f"calls itself {name[1] if name else 'nothing'}")
    if "LC_CODE_SIGNATURE" not in commands and "ARM64" in commands:
        wrong.append("is not signed, and ARM's macOS loads no such file")
    return exported, needed, wrong


def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    library = pathlib.Path(arguments[0])
    listed = set(pathlib.Path(arguments[1]).read_text(encoding="utf-8").split())
    if library.suffix == ".dll":
        (exported, needed, wrong), allowed = read_windows(library), WINDOWS_LIBRARIES
    else:
        (exported, needed, wrong), allowed = read_macos(library, arguments[2]), MACOS_LIBRARIES
    wrong += [f"exports {name}, which is not listed" for name in sorted(set(exported) - listed)]
    wrong += [f"does not export {name}" for name in sorted(listed - set(exported))]
    wrong += [f"needs {name}" for name in needed if not allowed.fullmatch(name)]
    if not needed:
        wrong.append("needs no library at all: the form of llvm-objdump is not known")
    for line in wrong:
        print(f"{library}: {line}")
    if not wrong:
        print(
            f"{len(set(exported))} exported names, as listed; needs {', '.join(sorted(set(needed)))}"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
