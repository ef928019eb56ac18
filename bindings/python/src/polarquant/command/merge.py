# SPDX-License-Identifier: MIT
"""polar merge: index files to one."""

from __future__ import annotations

import argparse
import os
import time

from polarquant.builder import merge_files
from polarquant.command.output_files import require_place
from polarquant.command.progress import say, shown
from polarquant.command.text_table import format_bytes
from polarquant.index import Index

HELP = "index files to one"
DESCRIPTION = """\
Merges index files into one, which has the bytes of a file that was built of all rows in this order.

The files must be made and trained alike: train once, and give each part that state. Ids of yours stay and
must differ; other rows are numbered on. Memory does not grow with the rows. The new file appears whole or
not at all, and may take the name of one that is read.
"""
EXAMPLES = """\
examples:
  polar merge monday.polar tuesday.polar -o week.polar
  polar merge shards/*.polar -o all.polar
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="index-file", help="in the order of their rows")
    parser.add_argument(
        "-o", "--out", required=True, metavar="FILE", help="where the merged index goes"
    )


def run(given: argparse.Namespace) -> int:
    require_place(given.out)
    start = time.perf_counter()
    with shown("merge") as show:
        merge_files(given.files, given.out, progress=show)
    taken = time.perf_counter() - start
    size = os.path.getsize(given.out)
    with Index.load(given.out, memory_map=True) as index:
        say(
            f"{given.out}: {index.ntotal} vectors as {index.description}, {format_bytes(size)}, of "
            f"{len(given.files)} files in {taken:.1f} s, {format_bytes(int(size / taken))} a second"
        )
    return 0
