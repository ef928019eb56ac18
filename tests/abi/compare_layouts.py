#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares where the fields of the C structs lie, as the compiler has them: each field that there was is where it was
and as large, and only structs that begin with struct_size have grown.

usage: compare_layouts.py OLD_INCLUDE NEW_INCLUDE
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)^\} \1;", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
FIELD = re.compile(r"(\w+)(?:\[\w+\])*;")


def structs_of(include):
    """{struct: [fields]} of the C headers."""
    found = {}
    for header in sorted(pathlib.Path(include, "polarquant").glob("*.h")):
        if not header.name.startswith("faiss"):
            text = COMMENT.sub("", header.read_text(encoding="utf-8"))
            found.update((name, FIELD.findall(fields)) for name, fields in STRUCT.findall(text))
    return found


def layouts(include, structs):
    """{"struct" or "struct.field": numbers} by the compiler, for fields that may be missing there."""
    lines = []
    for name, fields in structs.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for field in fields:
            where = f"offsetof({name}, {field}), sizeof((({name}*)0)->{field})"
            lines.append(f'printf("{name}.{field} %zu %zu\\n", {where});')
    source = "#include <stdio.h>\n#include <stddef.h>\n#include <polarquant/polarquant.h>\n"
    source += "int main(void) {\n" + "\n".join(lines) + "\nreturn 0;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "layouts")
        pathlib.Path(f"{program}.c").write_text(source, encoding="utf-8")
        compiler = [os.environ.get("CC") or "cc", f"-I{include}", f"{program}.c", "-o", program]
        subprocess.run(compiler, check=True)
        printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {line.split()[0]: line.split()[1:] for line in printed.splitlines()}


def main(old_include, new_include):
    old_structs, new_structs = structs_of(old_include), structs_of(new_include)
    gone = [name for name in old_structs if name not in new_structs]
    gone += [f"{name}.{field}" for name, fields in old_structs.items() if name in new_structs
             for field in fields if field not in new_structs[name]]  # fmt: skip
    if gone:
        print("gone:", *gone, sep="\n  ")
        return 1
    old, new = layouts(old_include, old_structs), layouts(new_include, old_structs)
    changed = [
        f"{name}: {' '.join(old[name])} before, {' '.join(new[name])} now"
        for name in old
        if old[name] != new[name]
        and not (old_structs.get(name, [""])[0] == "struct_size" and int(new[name][0]) > int(old[name][0]))
    ]
    if changed:
        print("places and sizes in bytes that are others:", *changed, sep="\n  ")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
