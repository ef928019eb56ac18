# SPDX-License-Identifier: MIT
"""polar convert: vectors from one format to another."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from polarquant._arrays import Floats
from polarquant.command import vector_files
from polarquant.command.progress import say, shown
from polarquant.command.shared_arguments import add_dataset, whole_number
from polarquant.command.vectors import Shape, Vectors

HELP = "vectors from one format to another"
DESCRIPTION = """\
Copies vectors to another format, block by block; float16 stays float16, all else becomes float32.
"""
EXAMPLES = """\
examples:
  polar convert sift_base.fvecs sift.npy
  polar convert embeddings.parquet base.npy --dataset embedding --dtype float16
  polar convert sift.hdf5 queries.npy --dataset test --rows 1000
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    endings = ", ".join(vector_files.ENDINGS)
    parser.add_argument("source", help=f"a file: {endings}")
    parser.add_argument("target", help=f"a file: {endings}; replaced if it is there")
    parser.add_argument("--dtype", choices=("float32", "float16"), help="of the numbers written")
    parser.add_argument(
        "--rows", type=whole_number(1, 2**62), metavar="N", help="the first N rows alone"
    )
    add_dataset(parser)
    parser.add_argument(
        "--target-dataset",
        default="",
        metavar="NAME",
        help="how to name the dataset (default train), or the column (default vector), written",
    )


def run(given: argparse.Namespace) -> int:
    vectors = vector_files.open_vectors(given.source, given.dataset)
    count = vectors.count if given.rows is None else min(given.rows, vectors.count)
    shape = Shape(count, vectors.dim, given.dtype or _dtype_for(given.target, vectors.dtype))
    vector_files.write_vectors(given.target, shape, _blocks(vectors, count), given.target_dataset)
    say(f"{given.target}: {count} vectors of {vectors.dim} dimensions, {shape.dtype}")
    return 0


def _dtype_for(target: str, dtype: str) -> str:
    ending = target.lower().rpartition(".")[2]
    if ending in ("fvecs", "fbin"):
        return "float32"
    return "float16" if ending == "f16bin" or dtype in ("float16", "halffloat") else "float32"


def _blocks(vectors: Vectors, count: int) -> Iterator[Floats]:
    with shown("convert") as show:
        for first, rows in vectors.blocks():
            if first >= count:
                return
            yield rows[: count - first]
            show(min(1.0, (first + len(rows)) / count))
