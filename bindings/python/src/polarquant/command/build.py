# SPDX-License-Identifier: MIT
"""polar build: vectors to an index file."""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from polarquant.command import vector_files
from polarquant.command.database import build_table, is_database
from polarquant.command.failure import CommandError
from polarquant.command.output_files import refuse_overlaps, require_place
from polarquant.command.progress import say, shown
from polarquant.command.shared_arguments import add_dataset, add_metric, add_table, whole_number
from polarquant.command.text_table import format_bytes
from polarquant.command.vectors import Vectors
from polarquant.index import Index

HELP = "vectors to an index file"
DESCRIPTION = """\
Makes an index of vectors and writes it to a file, which any program of polarquant's searches.

The index is trained on a random sample, then the vectors are added block by block, so that they may be
larger than memory. Ids are row numbers, or those of --ids. The file appears whole or not at all.

A file that ends in .db is an SQLite database: the vectors become a new table of it, in one transaction,
and the code learns from the first of them.
"""
EXAMPLES = """\
examples:
  polar build vectors.npy rows.polar
  polar build vectors.parquet rows.polar --dataset embedding --index Polar4
  polar build sift.hdf5 rows.polar --index IVF1024,Polar4 --metric l2
  polar build vectors.npy rows.polar --index Polar2-pca --train-rows 200000 --ids ids.npy
  polar build vectors.npy documents.db --index Polar4 --table docs
"""

_TRAIN_ROWS = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("vectors", help=f"a file: {', '.join(vector_files.ENDINGS)}")
    parser.add_argument("out", metavar="index-file", help="where the index goes; replaced if there")
    parser.add_argument(
        "--index",
        default="Polar2",
        metavar="STRING",
        help="a code, or one in a FAISS factory string: Polar4, IVF1024,Polar2, HNSW32,Polar4 "
        "(default Polar2)",
    )
    add_metric(parser)
    parser.add_argument("--ids", metavar="FILE", help="ids of the rows, integers in a .npy file")
    parser.add_argument(
        "--train-rows",
        type=whole_number(1, 2**40),
        default=_TRAIN_ROWS,
        metavar="N",
        help="rows drawn to train on (default 100,000, or all)",
    )
    parser.add_argument(
        "--seed", type=whole_number(0, 2**63 - 1), default=1, help="of that draw (default 1)"
    )
    parser.add_argument(
        "--verify", action="store_true", help="read the file back before it takes its name"
    )
    add_dataset(parser)
    add_table(parser)


def run(given: argparse.Namespace) -> int:
    refuse_overlaps([given.out], [given.vectors, given.ids])
    require_place(given.out)
    vectors = vector_files.open_vectors(given.vectors, given.dataset)
    if vectors.count == 0:
        raise CommandError(f"{given.vectors}: has no rows")
    ids = None if given.ids is None else vector_files.read_ids(given.ids, vectors.count)
    if is_database(given.out):
        start = time.perf_counter()
        count = build_table(given.out, given.table, vectors, given.index, given.metric, ids)
        say(
            f"{given.out}: {count} vectors of {vectors.dim} dimensions as {given.index} in the table "
            f"{given.table}, in {time.perf_counter() - start:.1f} s"
        )
        return 0
    index = Index(given.index, vectors.dim, given.metric)
    train_rows = min(given.train_rows, vectors.count)

    start = time.perf_counter()
    index.train(draw_rows(vectors, train_rows, given.seed))
    trained = time.perf_counter()
    with shown("add") as show:
        for first, rows in vectors.blocks():
            end = first + len(rows)
            if ids is None:
                index.add(rows)
            else:
                index.add_with_ids(rows, ids[first:end])
            show(end / vectors.count)
    added = time.perf_counter()
    index.save(given.out, verify=given.verify)

    size = os.path.getsize(given.out)
    say(
        f"{given.out}: {index.ntotal} vectors of {index.dim} dimensions as {index.description}, "
        f"{format_bytes(size)}, {size / vectors.count:.1f} bytes a vector; trained on {train_rows} "
        f"in {trained - start:.1f} s, added in {added - trained:.1f} s"
    )
    return 0


def draw_rows(vectors: Vectors, wanted: int, seed: int) -> np.typing.NDArray[np.float32]:
    """A random sample, (wanted, dim), in the file's order."""
    if wanted >= vectors.count:
        return vectors.rows()
    drawn = np.random.default_rng(seed).choice(vectors.count, wanted, replace=False)
    return vectors.take(np.sort(drawn))
