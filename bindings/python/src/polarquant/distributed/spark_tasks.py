# SPDX-License-Identifier: MIT
"""What the Python workers of Spark's executors run for `polarquant.distributed.spark`: each function takes
the record batches of one partition.

Spark may run a partition several times, one after the other or at the same time, and take the answer
of one run. So each run writes to a name of its own, and the manifest names what was taken.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

import numpy as np
import pyarrow
from pyspark import TaskContext

from polarquant._arrays import Floats, Ids
from polarquant._arrow import ids_of, rows_of
from polarquant.distributed.training import write_trained
from polarquant.errors import BadArgumentError
from polarquant.manifest import Manifest
from polarquant.shards import ShardedIndex, build_shard

#: Columns of the DataFrames that tasks read, whatever the caller's are called; `place` is Spark's
#: monotonically_increasing_id.
VECTOR, ID, PLACE = "vector", "id", "place"
#: Of a place: the number of the row in its partition, below the partition's number.
_ROW_BITS = 33
#: Scores of one call of a search by k, and of one batch of answers.
_ANSWERS = 2_000_000
#: Queries of one call of a search by radius, of which nobody knows how many rows each finds.
_RANGE_QUERIES = 64


class Columns(NamedTuple):
    """What the caller's columns are called."""

    vector: str
    id: Optional[str]


class Names(NamedTuple):
    """The files of one build, in one folder."""

    folder: str
    build: str  #: a text that no other build has

    def place_of(self, what: str) -> str:
        """The place that this run of a task may write to."""
        return f"{self.folder}/{what}-{self.build}-{_context().taskAttemptId()}.polar"

    def has(self, name: str) -> bool:
        return f"-{self.build}-" in name


class Training(NamedTuple):
    description: str
    metric: str
    columns: Columns
    wanted: int
    seed: int
    names: Names


class Coding(NamedTuple):
    state: Any  #: a broadcast of the bytes of the state's file
    dim: int
    columns: Columns
    names: Names
    memory_bytes: int


class Goal(NamedTuple):
    """What a search looks for: one of both."""

    k: Optional[int]
    radius: Optional[float]


class Search(NamedTuple):
    place: str  #: of the manifest
    manifest: Manifest  #: as it was when the search began
    columns: Columns
    goal: Goal
    options: dict[str, Any]
    cache: Optional[str]


def train(job: Training, batches: Iterator[Any]) -> Iterator[Any]:
    """Trains on a sample, all of which is in this partition, in whatever order it came."""
    parts, places = [], []
    dim = None
    for batch in batches:
        if batch.num_rows:
            parts.append(read_rows(batch, job.columns, dim)[0])
            places.append(batch.column(PLACE).to_numpy())
            dim = parts[0].shape[1]
    if not parts:
        raise BadArgumentError("train_rows: no rows were drawn; more are needed")
    rows = np.concatenate(parts)[np.argsort(np.concatenate(places))]
    if len(rows) > job.wanted:
        source = np.random.default_rng(job.seed)
        rows = rows[np.sort(source.choice(len(rows), job.wanted, replace=False))]
    place = job.names.place_of("state")
    state = write_trained(rows, job.description, job.metric, place, _context().cpus())
    yield _record({"dim": rows.shape[1], "state": state._asdict()})


def code(job: Coding, batches: Iterator[Any]) -> Iterator[Any]:
    """Builds the shard of this partition, and gives its entry; none of an empty one."""
    filled = (batch for batch in batches if batch.num_rows)
    first = next(filled, None)
    if first is None:
        return
    number = _context().partitionId()
    with tempfile.TemporaryDirectory() as folder:
        state = os.path.join(folder, "state.polar")
        with open(state, "wb") as file:
            file.write(job.state.value)
        shard = build_shard(
            _pairs(itertools.chain([first], filled), job),
            state,
            job.names.place_of(f"shard-{number:05}"),
            memory_bytes=job.memory_bytes,
            num_threads=_context().cpus(),
        )
    yield _record({"number": number, "shard": shard._asdict()})


def search(job: Search, batches: Iterator[Any]) -> Iterator[Any]:
    """What each query of this partition finds."""
    index = _open(job.place, job.manifest, job.cache)
    radius = job.goal.radius
    if radius is not None:
        find, together = functools.partial(_within, index, radius), _RANGE_QUERIES
    else:
        k = min(job.goal.k or 1, max(1, index.ntotal))
        find, together = functools.partial(_nearest, index, k), max(1, _ANSWERS // k)
    options = {**job.options, "num_threads": _context().cpus()}
    for whole in batches:
        for begin in range(0, whole.num_rows, together):
            batch = whole.slice(begin, together)
            queries = _vectors(batch, job.columns.vector, _query_name(batch), job.manifest.dim)
            found = find(queries, options)
            for first in range(0, len(found.ids), _ANSWERS):
                yield _answers(batch, found.part(first, first + _ANSWERS))


class _Found(NamedTuple):
    """Rows that queries found, all as long: of each row, the place of its query and its rank."""

    queries: Any
    ranks: Any
    ids: Ids
    scores: Floats

    def part(self, first: int, end: int) -> _Found:
        queries, ranks, ids, scores = self
        return _Found(queries[first:end], ranks[first:end], ids[first:end], scores[first:end])


def _nearest(index: ShardedIndex, k: int, queries: Floats, options: dict[str, Any]) -> _Found:
    scores, ids = index.search(queries, k, **options)
    found = ids >= 0  # where fewer than k rows are there
    places, ranks = np.nonzero(found)
    return _Found(places, ranks + 1, ids[found], scores[found])


def _within(index: ShardedIndex, radius: float, queries: Floats, options: dict[str, Any]) -> _Found:
    lims, scores, ids = index.range_search(queries, radius, **options)
    places = np.repeat(np.arange(len(queries)), np.diff(lims))
    return _Found(places, np.arange(len(ids)) - lims[places] + 1, ids, scores)


def _answers(batch: Any, found: _Found) -> Any:
    return pyarrow.RecordBatch.from_arrays(
        [
            batch.column(ID).take(pyarrow.array(found.queries)),
            pyarrow.array(found.ranks.astype(np.int32)),
            pyarrow.array(found.ids),
            pyarrow.array(found.scores),
        ],
        names=["query_id", "rank", "id", "score"],
    )


def read_rows(batch: Any, columns: Columns, dim: int | None) -> tuple[Floats, Ids | None]:
    """Rows, and ids where there are any. What is wrong is named by id, or by its place."""

    def place_name(place: int) -> str:
        number = batch.column(PLACE)[place].as_py()
        return f"row {number % (1 << _ROW_BITS)} of partition {number >> _ROW_BITS}"

    if columns.id is None:
        return _vectors(batch, columns.vector, place_name, dim), None
    ids = ids_of(batch.column(ID), f"column {columns.id!r}", place_name)
    return _vectors(batch, columns.vector, lambda place: f"the row of id {ids[place]}", dim), ids


def _query_name(batch: Any) -> Any:
    return lambda place: f"the query {batch.column(ID)[place].as_py()!r}"


def _vectors(batch: Any, column: str, row_name: Any, dim: int | None) -> Floats:
    name = f"column {column!r}"
    rows = rows_of(batch.column(VECTOR), name, row_name, dim)
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        place = int(np.argmin(finite))
        raise BadArgumentError(f"{name} has a number that is not finite in {row_name(place)}")
    return rows


def _pairs(batches: Iterator[Any], job: Coding) -> Iterator[Any]:
    """What `build_shard` takes."""
    for batch in batches:
        rows, ids = read_rows(batch, job.columns, job.dim)
        yield rows if ids is None else (rows, ids)


# A worker that searches one partition after the other opens the files once. Two, so that searches
# of two manifests may take turns.
@functools.lru_cache(maxsize=2)
def _open(place: str, manifest: Manifest, cache: str | None) -> ShardedIndex:
    return ShardedIndex.open(place, cache=cache, read=manifest)


def _context() -> Any:
    return TaskContext.get()


def _record(content: dict[str, Any]) -> Any:
    return pyarrow.RecordBatch.from_pydict({"record": [json.dumps(content)]})
