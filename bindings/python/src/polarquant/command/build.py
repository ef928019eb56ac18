# SPDX-License-Identifier: MIT
"""polar build: vectors to an index file."""

from __future__ import annotations

import argparse
import os
import re
import time

from polarquant.command import vector_files
from polarquant.command.build_parts import LEAST_MEMORY, build_in_parts, make_coder
from polarquant.command.database import build_table, is_database
from polarquant.command.failure import CommandError
from polarquant.command.output_files import refuse_overlaps, require_place
from polarquant.command.progress import say, shown
from polarquant.command.shared_arguments import (
    add_dataset,
    add_metric,
    add_table,
    memory_size,
    whole_number,
)
from polarquant.command.text_table import format_bytes
from polarquant.index import Index

HELP = "vectors to an index file"
DESCRIPTION = """\
Makes an index of vectors and writes it to a file, which any program of polarquant's searches.

The index is trained on a random sample, then the vectors are added block by block, so that they may be
larger than memory. Ids are row numbers, or those of --ids or --id-column. The file appears whole or not
at all.

With --memory the index too may be larger than memory: codes are written in parts to a folder beside the
index file, FILE.parts, and merged at the end. A build that was stopped, by Ctrl-C or a kill, goes on
when the same command is given again. It has the same bytes as without.

A file that ends in .db is an SQLite database: the vectors become a new table of it, in one transaction,
and the code learns from the first of them.
"""
EXAMPLES = """\
examples:
  polar build vectors.npy rows.polar
  polar build vectors.parquet rows.polar --dataset embedding --index Polar4
  polar build sift.hdf5 rows.polar --index IVF1024,Polar4 --metric l2
  polar build vectors.npy rows.polar --index Polar2-pca --train-rows 200000 --ids ids.npy
  polar build tuesday.npy tuesday.polar --like monday.polar
  polar build big.parquet rows.polar --index IVF65536,Polar4 --memory 4G --id-column id
  polar build vectors.npy documents.db --index Polar4 --table docs
"""

_TRAIN_ROWS = 100_000
#: As FAISS's k-means wants at least.
_ROWS_A_LIST = 39


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("vectors", help=f"a file: {', '.join(vector_files.ENDINGS)}")
    parser.add_argument("out", metavar="index-file", help="where the index goes; replaced if there")
    parser.add_argument(
        "--index",
        metavar="STRING",
        help="a code, or one in a FAISS factory string: Polar4, IVF1024,Polar2, HNSW32,Polar4 "
        "(default Polar2)",
    )
    parser.add_argument(
        "--like",
        metavar="FILE",
        help="codes as the index of this file does, in place of training: both files can be merged",
    )
    add_metric(parser)
    ids = parser.add_mutually_exclusive_group()
    ids.add_argument("--ids", metavar="FILE", help="ids of the rows, integers in a .npy file")
    ids.add_argument(
        "--id-column", metavar="NAME", help="ids of the rows, a column of integers beside the vectors"
    )
    parser.add_argument(
        "--train-rows",
        type=whole_number(1, 2**40),
        metavar="N",
        help="rows drawn to train on (default 100,000, of an inverted file 39 a list if that is more, or "
        "all)",
    )
    parser.add_argument(
        "--seed", type=whole_number(0, 2**63 - 1), default=1, help="of that draw (default 1)"
    )
    parser.add_argument(
        "--memory",
        type=memory_size(LEAST_MEMORY),
        metavar="SIZE",
        help="what the process may take, as 4G: builds in parts, and goes on where it was stopped",
    )
    parser.add_argument(
        "--restart", action="store_true", help="with --memory: removes the parts of a stopped build"
    )
    parser.add_argument(
        "--verify", action="store_true", help="read the file back before it takes its name"
    )
    add_dataset(parser)
    add_table(parser)


def run(given: argparse.Namespace) -> int:
    refuse_overlaps([given.out], [given.vectors, given.ids, given.like])
    require_place(given.out)
    vectors = vector_files.open_vectors(given.vectors, given.dataset)
    if vectors.count == 0:
        raise CommandError(f"{given.vectors}: has no rows")
    ids = None if given.ids is None else vector_files.open_ids(given.ids, vectors.count)
    if given.id_column:
        ids = vectors.ids(given.id_column)
    if given.like is None:
        given.index = given.index or "Polar2"
    elif given.index or is_database(given.out):
        raise CommandError("--like: takes the place of --index, and makes index files")
    else:
        with Index.load_empty(given.like) as like:
            given.index, given.metric = like.description, like.metric
            if like.dim != vectors.dim:
                raise CommandError(
                    f"{given.vectors}: vectors of {vectors.dim} numbers; {given.like} has {like.dim}"
                )
    if given.train_rows is None:
        given.train_rows = max(_TRAIN_ROWS, _ROWS_A_LIST * lists_of(given.index))
    if given.memory is None and given.restart:
        raise CommandError("--restart: is for builds in parts; give --memory too")
    if is_database(given.out):
        start = time.perf_counter()
        count = build_table(given.out, given.table, vectors, given.index, given.metric, ids)
        say(
            f"{given.out}: {count} vectors of {vectors.dim} dimensions as {given.index} in the table "
            f"{given.table}, in {time.perf_counter() - start:.1f} s"
        )
        return 0
    if given.memory is not None:
        built = build_in_parts(given, vectors, ids)
        with Index.load(given.out, memory_map=True) as index:
            if given.verify:
                index.verify()
            _tell(given.out, index, built.trained_on, built.seconds_to_train, built.seconds_to_add)
        return 0
    start = time.perf_counter()
    index, train_rows = make_coder(given, vectors, given.train_rows)
    trained = time.perf_counter()
    with shown("add") as show:
        for first, rows in vectors.blocks():
            end = first + len(rows)
            if ids is None:
                index.add(rows)
            else:
                index.add_with_ids(rows, ids.rows(first, end))
            show(end / vectors.count)
    added = time.perf_counter()
    index.save(given.out, verify=given.verify)

    _tell(given.out, index, train_rows, trained - start, added - trained)
    return 0


def lists_of(description: str) -> int:
    """Lists of the inverted file that a string asks for; 0 for another."""
    found = re.search(r"(?:^|,)IVF(\d+)", description)
    return int(found[1]) if found else 0


def _tell(path: str, index: Index, trained_on: int, to_train: float, to_add: float) -> None:
    size = os.path.getsize(path)
    training = f"trained on {trained_on} in {to_train:.1f} s, " if trained_on else ""
    say(
        f"{path}: {index.ntotal} vectors of {index.dim} dimensions as {index.description}, "
        f"{format_bytes(size)}, {size / max(1, index.ntotal):.1f} bytes a vector; {training}"
        f"added in {to_add:.1f} s"
    )
