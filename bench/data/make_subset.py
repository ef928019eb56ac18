#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cuts the bundled subset out of the full embedding files; needs nothing but Python.

    make_subset.py FULL_BASE.npy FULL_QUERY.npy OUTPUT_FOLDER

Writes base.npy, rows 0, STEP, 2*STEP, ... of the base (9000 rows in all), and query.npy, the first
200 queries. Rows are copied byte for byte, so their type stays what it is. A fixed step spreads the
subset over the whole base, whose neighbouring rows are related words.
"""
import argparse
import ast
import pathlib
import struct


def read_header(file):
    """The header's dict and the offset of the data; .npy version 1, C order, 2 dimensions."""
    magic, version, length = struct.unpack("<6s2sH", file.read(10))
    if magic != b"\x93NUMPY" or version != b"\x01\x00":
        raise SystemExit(f"{file.name}: magic and version {magic + version} (allowed: .npy version 1)")
    header = ast.literal_eval(file.read(length).decode("latin-1"))
    if header["fortran_order"] or len(header["shape"]) != 2:
        raise SystemExit(f"{file.name}: {header} (allowed: C order, two dimensions)")
    return header, 10 + length


def write_rows(source_path, target_path, rows):
    """Copies the rows with these numbers; refuses a number the source does not have."""
    with open(source_path, "rb") as source, open(target_path, "wb") as target:
        header, start = read_header(source)
        available, dim = header["shape"]
        if rows[-1] >= available:
            raise SystemExit(f"{source_path}: row {rows[-1]} wanted, {available} rows there")
        row_bytes = dim * int(header["descr"][2:])
        text = str({"descr": header["descr"], "fortran_order": False, "shape": (len(rows), dim)})
        # NumPy pads to a multiple of 64 and ends the header with a newline.
        text += " " * (-(10 + len(text) + 1) % 64) + "\n"
        target.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("latin-1"))
        for row in rows:
            source.seek(start + row * row_bytes)
            target.write(source.read(row_bytes))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", help="all base vectors, .npy")
    parser.add_argument("query", help="all query vectors, .npy")
    parser.add_argument("output", type=pathlib.Path, help="folder for base.npy and query.npy")
    parser.add_argument("--step", type=int, default=13)
    parser.add_argument("--rows", type=int, default=9000)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    write_rows(options.base, options.output / "base.npy",
               range(0, options.rows * options.step, options.step))
    write_rows(options.query, options.output / "query.npy", range(options.queries))


if __name__ == "__main__":
    main()
