# SPDX-License-Identifier: MIT
"""polar convert: vectors from one format to another, and inverted files from FAISS."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from polarquant._arrays import Floats
from polarquant._faiss_text import plain_faiss_text
from polarquant.command import vector_files
from polarquant.command.failure import CommandError, import_for
from polarquant.command.output_files import refuse_overlaps
from polarquant.command.progress import say, shown
from polarquant.command.shared_arguments import add_dataset, whole_number
from polarquant.command.text_table import format_bytes
from polarquant.command.vectors import Shape, Vectors
from polarquant.index import Index

HELP = "vectors to another format, and inverted files from FAISS"
DESCRIPTION = """\
Copies vectors to another format, block by block; float16 stays float16, all else becomes float32.

A source with another ending is read as an index file of FAISS's (needs faiss-cpu), and the target is an
index file of ours: an inverted file with the same lists, ids and nprobe, and rows coded anew, from what
FAISS rebuilds of them. Only files from whom you trust: FAISS's reader believes what they say.
"""
EXAMPLES = """\
examples:
  polar convert sift_base.fvecs sift.npy
  polar convert embeddings.parquet base.npy --dataset embedding --dtype float16
  polar convert sift.hdf5 queries.npy --dataset test --rows 1000
  polar convert ivf.faiss rows.polar --index Polar4
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    endings = ", ".join(vector_files.ENDINGS)
    parser.add_argument("source", help=f"a file: {endings}; or FAISS's")
    parser.add_argument(
        "target",
        help=f"a file: {', '.join(vector_files.WRITTEN_ENDINGS)}; or an index file; replaced if it "
        "is there",
    )
    parser.add_argument("--dtype", choices=("float32", "float16"), help="of the numbers written")
    parser.add_argument(
        "--rows", type=whole_number(1, 2**62), metavar="N", help="the first N rows alone"
    )
    parser.add_argument(
        "--index", default="Polar4", metavar="CODE", help="of FAISS's rows (default Polar4)"
    )
    add_dataset(parser)
    parser.add_argument(
        "--target-dataset",
        default="",
        metavar="NAME",
        help="how to name the dataset (default train), or the column (default vector), written",
    )


def run(given: argparse.Namespace) -> int:
    refuse_overlaps([given.target], [given.source])
    if vector_files.find_format(given.source) is None:
        return _convert_index(given)
    vectors = vector_files.open_vectors(given.source, given.dataset)
    count = vectors.count if given.rows is None else min(given.rows, vectors.count)
    shape = Shape(count, vectors.dim, given.dtype or _dtype_for(given.target, vectors.dtype))
    vector_files.write_vectors(given.target, shape, _blocks(vectors, count), given.target_dataset)
    say(f"{given.target}: {count} vectors of {vectors.dim} dimensions, {shape.dtype}")
    return 0


def _convert_index(given: argparse.Namespace) -> int:
    faiss = import_for("faiss", "faiss-cpu", f"{given.source}: an index file of FAISS's")
    if vector_files.find_format(given.target) is not None:
        raise CommandError(f"{given.target}: is a name of vectors; {given.source} is an index")
    try:
        # By a file of ours: FAISS knows no names that are no UTF-8.
        with open(given.source, "rb") as file:
            theirs = faiss.read_index(faiss.PyCallbackIOReader(file.read))
    except RuntimeError as error:
        text = plain_faiss_text(error)
        raise CommandError(f"{given.source}: FAISS cannot read it ({text})") from None
    with shown("convert") as show:
        index = Index.from_faiss(theirs, given.index, progress=show)
    index.save(given.target)
    say(
        f"{given.target}: {index.ntotal} vectors of {index.dim} dimensions as "
        f"{index.description}, {format_bytes(os.path.getsize(given.target))}, from "
        f"{format_bytes(os.path.getsize(given.source))}"
    )
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
