# SPDX-License-Identifier: MIT
"""polar search: the nearest rows of an index file for each query."""

from __future__ import annotations

import argparse
import sys
from typing import Any, TextIO

import numpy as np

from polarquant._arrays import Floats, Ids
from polarquant.command import vector_files
from polarquant.command.database import SearchedTable, is_database
from polarquant.command.failure import CommandError
from polarquant.command.output_files import refuse_overlaps, whole_file
from polarquant.command.plain_vectors import read_npy
from polarquant.command.progress import shown
from polarquant.command.shared_arguments import (
    add_dataset,
    add_table,
    add_threads,
    number,
    whole_number,
)
from polarquant.filters import Bitset
from polarquant.index import Index
from polarquant.manifest import ENDING as MANIFEST_ENDING
from polarquant.shards import ShardedIndex

HELP = "the nearest rows of an index file for each query"
DESCRIPTION = """\
Searches an index file, or a table of vectors in an SQLite database, a file that ends in .db. Without --ids and --scores, prints a line for each result: query, rank, id and
score, parted by tabs. Scores are inner products, cosines or squared distances. Where there are fewer
rows than k, ids are -1; such lines are not printed.
"""
EXAMPLES = """\
examples:
  polar search rows.polar queries.npy
  polar search rows.polar queries.npy -k 100 --ids ids.npy --scores scores.npy
  polar search rows.polar queries.npy --nprobe 16 --allow ids-of-one-user.npy
  polar search rows.polar sift.hdf5 --dataset test --memory-map
  polar search rows.polar queries.npy --explain
  polar search documents.db queries.npy --table docs
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "index_file", metavar="index-file", help="made by polar build, or a database"
    )
    parser.add_argument("queries", help=f"a file: {', '.join(vector_files.ENDINGS)}")
    parser.add_argument(
        "-k", type=whole_number(1, 2**31), default=10, help="rows for each query (default 10)"
    )
    parser.add_argument("--ids", metavar="FILE", help="write ids, (queries, k), int64, to a .npy")
    parser.add_argument(
        "--scores", metavar="FILE", help="write scores, (queries, k), float32, to a .npy"
    )
    parser.add_argument(
        "--nprobe", type=whole_number(0, 2**40), default=0, help="lists searched, of an IVF index"
    )
    parser.add_argument(
        "--ef-search",
        type=whole_number(0, 2**31 - 1),
        default=0,
        metavar="N",
        help="nodes kept, of an HNSW index",
    )
    parser.add_argument(
        "--k-factor",
        type=number(1, float("inf")),
        default=0,
        metavar="F",
        help="rows scored again by a refinement, as a multiple of k",
    )
    parser.add_argument(
        "--exactness",
        type=number(0, float("inf")),
        metavar="Z",
        help="how surely rows are left out unscored; inf scores every row",
    )
    parser.add_argument(
        "--allow", metavar="FILE", help="ids that may be found: integers or bools in a .npy file"
    )
    parser.add_argument(
        "--explain", action="store_true", help="tell what the search would do, and do not search"
    )
    parser.add_argument("--memory-map", action="store_true", help="leave the rows in the file")
    parser.add_argument(
        "--trust-faiss",
        action="store_true",
        help="read FAISS's own kinds too, unchecked: for files from whom you trust",
    )
    add_dataset(parser)
    add_table(parser)
    add_threads(parser)


def run(given: argparse.Namespace) -> int:
    refuse_overlaps([given.ids, given.scores], [given.index_file, given.queries, given.allow])
    allowed = None
    if given.allow is not None:
        allowed = _read_allowed(given.allow, as_ids=is_database(given.index_file))
    index: Index | SearchedTable
    if is_database(given.index_file):
        index = SearchedTable(given.index_file, given.table)
    elif given.index_file.endswith(MANIFEST_ENDING):
        index = ShardedIndex.open(given.index_file)
    else:
        index = Index.load(
            given.index_file, memory_map=given.memory_map, trust_faiss=given.trust_faiss
        )
    queries = vector_files.open_vectors(given.queries, given.dataset, ("test", "queries", "train"))
    if queries.dim != index.dim:
        raise CommandError(
            f"{given.queries}: vectors of {queries.dim} numbers; the index has {index.dim}"
        )
    if given.explain:
        if not isinstance(index, Index):
            raise CommandError("--explain: is not for databases")
        _explain(index, min(queries.count, queries.block_rows), allowed, given)
        return 0
    as_text = given.ids is None and given.scores is None
    ids = np.empty((0 if as_text else queries.count, given.k), dtype=np.int64)
    scores = np.empty(ids.shape, dtype=np.float32)
    if as_text:
        print("query", "rank", "id", "score", sep="\t")
    with shown("search") as show:
        for first, rows in queries.blocks():
            end = first + len(rows)
            found_scores, found = index.search(
                rows,
                given.k,
                filter=allowed,
                exactness=given.exactness,
                nprobe=given.nprobe,
                ef_search=given.ef_search,
                k_factor=given.k_factor,
                num_threads=given.threads,
            )
            if as_text:
                _print_rows(sys.stdout, first, found, found_scores)
            else:
                ids[first:end], scores[first:end] = found, found_scores
            show(end / queries.count)
    for path, array in ((given.ids, ids), (given.scores, scores)):
        if path is not None:
            _save(path, array)
    return 0


def _explain(index: Index, nq: int, allowed: Any, given: argparse.Namespace) -> None:
    text = index.explain(
        max(nq, 1),
        given.k,
        filter=allowed,
        exactness=given.exactness,
        nprobe=given.nprobe,
        ef_search=given.ef_search,
        k_factor=given.k_factor,
        num_threads=given.threads,
    )
    sys.stdout.write(text)


def _print_rows(out: TextIO, first: int, ids: Ids, scores: Floats) -> None:
    for query, (row_ids, row_scores) in enumerate(zip(ids, scores), start=first):
        for rank, (id, score) in enumerate(zip(row_ids.tolist(), row_scores.tolist())):
            if id >= 0:
                out.write(f"{query}\t{rank}\t{id}\t{score:.7g}\n")


def _read_allowed(path: str, as_ids: bool) -> Any:
    allowed = read_npy(path)
    if allowed.ndim != 1 or allowed.dtype.kind not in "iub":
        raise CommandError(
            f"{path}: {allowed.dtype} {allowed.shape}; integers or bools of shape (n,) allowed"
        )
    if allowed.dtype.kind != "b":
        return np.unique(allowed.astype(np.int64))
    return np.flatnonzero(allowed) if as_ids else Bitset(allowed)


def _save(path: str, array: np.typing.NDArray[Any]) -> None:
    with whole_file(path) as unfinished, open(unfinished, "wb") as file:
        np.save(file, array)
