# SPDX-License-Identifier: MIT
"""Builds an index in shards from a Spark DataFrame, and searches it for a DataFrame of queries.

>>> from polarquant.distributed import spark as spark_shards
>>> manifest = spark_shards.build(df, "s3://bucket/big", index="IVF8192,Polar4", id_column="id")
>>> found = spark_shards.search(queries, manifest, 10, query_id_column="query", nprobe=32)
>>> found.show()  # query_id, rank, id, score
>>> near = spark_shards.search(queries, manifest, radius=.5, query_id_column="query", nprobe=32)

Rows go from Spark to Python workers in Arrow's batches, and do not pass through the driver. A task that
fails, or whose executor dies, is run again by Spark; the manifest names the files of runs that counted.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import os
import re
import uuid
from collections.abc import Iterator
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql
from pyspark.sql import types

from polarquant import errors
from polarquant._arrays import as_int
from polarquant._storage import PathLike
from polarquant.builder import MEMORY_BYTES
from polarquant.distributed import spark_tasks as tasks
from polarquant.distributed.rebuild import finish_build
from polarquant.distributed.training import rows_to_train
from polarquant.errors import BadArgumentError, PolarError
from polarquant.filters import FilterLike
from polarquant.manifest import Manifest, Shard
from polarquant.metric import MetricLike, as_metric
from polarquant.places import is_url, names_in, read_bytes, remove

__all__ = ["build", "search"]

_INTEGERS = (types.ByteType, types.ShortType, types.IntegerType, types.LongType)
_NUMBERS = (types.FloatType, types.DoubleType, *_INTEGERS)
#: How the text of an error of ours ends that a worker raised.
_OURS = re.compile(r"^polarquant\.errors\.(\w+): (.*)$", re.MULTILINE)


def build(
    df: DataFrame,
    out: PathLike,
    *,
    index: str,
    metric: MetricLike = "cosine",
    vector_column: str = "vector",
    id_column: str | None = None,
    num_shards: int | None = None,
    train_rows: int | None = None,
    seed: int = 1,
    memory_bytes: int = MEMORY_BYTES,
) -> str:
    """Builds shards and their manifest, and returns the manifest's place, `out`/manifest.json.

    df: is evaluated three times, to count, to draw the sample and to code, and must have the same
    rows, in the same order, each time; a file does, and what is made from it by selections.
    out: a folder that the driver and each executor see, or a URL of fsspec's. Where it has the manifest
    of an earlier build, that is replaced, and then the files are removed that it named in this folder:
    whoever searches them still wants a build into a folder of its own.
    index, metric: as for `Index`; the kinds that `IndexBuilder` takes.
    vector_column: arrays of numbers. id_column: integers of 0 or more, each once; without it rows
    are numbered in the order that df.collect() has.
    num_shards: of about as many rows each, for which Spark moves all rows once. By default each
    partition of df becomes a shard, and no row moves; df.coalesce makes fewer of them.
    train_rows: drawn at random by `seed` from all rows, by default 100,000 or 39 a list. They are
    brought together in one task, which trains: an executor has memory for them, which a driver often
    has not.
    memory_bytes: of a task, for rows of a part (`IndexBuilder`), in its Python worker: outside of
    spark.executor.memory, in its memoryOverhead.

    Each task uses as many threads as spark.task.cpus. Null and not finite vectors, and those of other
    lengths than the first, raise BadArgumentError, which names the row. The answers of the sharded index
    are, to the bit, those of one index that was trained alike and given all rows in order.
    """
    columns = tasks.Columns(vector_column, id_column)
    _check_column("vector_column", df, vector_column, _are_vectors, "an array of numbers")
    if id_column is not None:
        _check_column("id_column", df, id_column, _is_integer, "integers")
    if num_shards is not None:
        as_int("num_shards", num_shards, 1, 100_000)
    wanted = as_int("train_rows", rows_to_train(index, train_rows), 1, 2**40)
    names = tasks.Names(_made_folder(out), uuid.uuid4().hex[:12])
    training = tasks.Training(index, as_metric(metric).name.lower(), columns, wanted, seed, names)
    rows = df.select(*_columns_of(columns), sql.monotonically_increasing_id().alias(tasks.PLACE))
    written: list[Shard] = []
    try:
        with _jobs(df, names.build):
            total = df.count()
            if total == 0:
                raise BadArgumentError("df: it has no rows")
            (trained,) = _run(_sample(rows, total, training), tasks.train, training)
            state = Shard(**trained["state"])
            broadcast = df.sparkSession.sparkContext.broadcast(read_bytes(state.path))
            try:
                coding = tasks.Coding(broadcast, trained["dim"], columns, names, memory_bytes)
                made = _run(_dealt(rows, num_shards, columns), tasks.code, coding)
            finally:
                broadcast.destroy()
        shards = [_entry(each["shard"]) for each in sorted(made, key=lambda each: each["number"])]
        coded = sum(shard.rows for shard in shards)
        if coded != total:
            raise BadArgumentError(
                f"df: {total} rows were counted and {coded} coded; it must have the same rows each "
                "time that it is evaluated: write it to files first"
            )
        finish_build(names.folder, state, shards)
        written = [state, *shards]
        return f"{names.folder}/manifest.json"
    finally:
        _remove_others(names, written)


def search(
    queries: DataFrame,
    manifest: PathLike,
    k: int | None = None,
    *,
    query_id_column: str,
    radius: float | None = None,
    vector_column: str = "vector",
    filter: FilterLike = None,
    exactness: float | None = None,
    nprobe: int = 0,
    k_factor: float = 0,
    cache: PathLike | None = None,
) -> DataFrame:
    """The k nearest rows of each query, by default 10, or all within a radius: a DataFrame with the
    columns query_id, rank (1 is the nearest), id and score. Where there are fewer than k rows, or none
    within the radius, a query has fewer, or none.

    radius: in place of k; score > radius, for L2 squared distance < radius, as of `Index.range_search`.
    manifest: of `polarquant.shards`, at a path that the driver and each executor see, or a URL.
    query_id_column: of any type, which query_id then has. vector_column: arrays of numbers.
    filter, exactness, nprobe, k_factor: as for `Index.search`; k_factor not with a radius. The filter
    travels with the tasks.
    cache: a folder on each executor for copies of shards that URLs name, kept; by default each
    Python worker has a temporary one.

    Each Python worker opens the shards once and keeps them open for its next tasks
    (spark.python.worker.reuse); a task uses as many threads as spark.task.cpus. Errors of tasks come
    when the DataFrame is evaluated. The answers are those of `ShardedIndex`, to the bit.
    """
    _check_column("vector_column", queries, vector_column, _are_vectors, "an array of numbers")
    _check_column("query_id_column", queries, query_id_column, lambda kind: True, "")
    place = _absolute(manifest)
    options = {"filter": filter, "exactness": exactness, "nprobe": nprobe}
    goal = _goal(k, radius, k_factor)
    if goal.radius is None:
        options["k_factor"] = k_factor
    columns = tasks.Columns(vector_column, query_id_column)
    kept = None if cache is None else os.fspath(cache)
    job = tasks.Search(place, Manifest.read(place), columns, goal, options, kept)
    schema = types.StructType(
        [
            types.StructField("query_id", queries.schema[query_id_column].dataType),
            types.StructField("rank", types.IntegerType()),
            types.StructField("id", types.LongType()),
            types.StructField("score", types.FloatType()),
        ]
    )
    found = queries.select(*_columns_of(columns))
    return found.mapInArrow(functools.partial(tasks.search, job), schema)


def _goal(k: int | None, radius: float | None, k_factor: float) -> tasks.Goal:
    if radius is None:
        return tasks.Goal(as_int("k", 10 if k is None else k, 1, 2**31 - 1), None)
    if k is not None or k_factor:
        raise BadArgumentError(
            f"radius: {radius} is there beside k or k_factor; one of them is allowed"
        )
    if math.isnan(radius):
        raise BadArgumentError(f"radius: {radius} is not allowed; a number or an infinity")
    return tasks.Goal(None, float(radius))


def _are_vectors(kind: types.DataType) -> bool:
    return isinstance(kind, types.ArrayType) and isinstance(kind.elementType, _NUMBERS)


def _is_integer(kind: types.DataType) -> bool:
    return isinstance(kind, _INTEGERS)


def _check_column(name: str, df: DataFrame, column: str, fits: Any, needed: str) -> None:
    kinds = {field.name: field.dataType for field in df.schema.fields}
    if column not in kinds:
        raise BadArgumentError(f"{name}: {column!r} is not there; {', '.join(kinds)} are")
    if not fits(kinds[column]):
        kind = kinds[column].simpleString()
        raise BadArgumentError(f"{name}: {column!r} is of type {kind}; {needed} is needed")


def _columns_of(columns: tasks.Columns) -> list[Column]:
    """Under the names that tasks know."""
    named = [(columns.vector, tasks.VECTOR), (columns.id, tasks.ID)]
    return [
        sql.col("`" + column.replace("`", "``") + "`").alias(name)
        for column, name in named
        if column is not None
    ]


def _absolute(path: PathLike) -> str:
    """Workers have other current folders."""
    name = os.fspath(path)
    return name if is_url(name) else os.path.abspath(name)


def _made_folder(out: PathLike) -> str:
    folder = _absolute(out)
    if not is_url(folder):
        os.makedirs(folder, exist_ok=True)
    return folder


def _sample(rows: DataFrame, total: int, training: tasks.Training) -> DataFrame:
    """Rows drawn at random, in one partition: a few more than are wanted, since Spark draws each by
    itself; the task that trains leaves the others out."""
    enough = training.wanted + 5 * training.wanted**0.5 + 10
    if enough < total:
        rows = rows.sample(False, enough / total, training.seed)
    return rows.repartition(1)


def _dealt(rows: DataFrame, num_shards: int | None, columns: tasks.Columns) -> DataFrame:
    """A partition for each shard. Rows that are numbered by their order keep it."""
    if num_shards is None:
        return rows
    if columns.id is not None:
        return rows.repartition(num_shards)
    return rows.repartitionByRange(num_shards, tasks.PLACE).sortWithinPartitions(tasks.PLACE)


def _entry(content: dict[str, Any]) -> Shard:
    ids = content["ids"]
    return Shard(**{**content, "ids": None if ids is None else tuple(ids)})


def _run(df: DataFrame, function: Any, job: Any) -> list[dict[str, Any]]:
    """What the tasks of a function say."""
    ran = df.mapInArrow(functools.partial(function, job), "record string")
    return [json.loads(row.record) for row in ran.collect()]


@contextlib.contextmanager
def _jobs(df: DataFrame, tag: str) -> Iterator[None]:
    """Ends Spark's jobs of a build that fails or is interrupted, and raises the error of ours that
    a worker raised in place of Spark's, which has its text."""
    context = df.sparkSession.sparkContext
    context.addJobTag(tag)
    try:
        yield
    except BaseException as error:
        context.cancelJobsWithTag(tag)
        found = [] if isinstance(error, PolarError) else _OURS.findall(str(error))
        kind = getattr(errors, found[-1][0], PolarError) if found else None
        if kind is not None:
            raise kind(found[-1][1]) from None
        raise
    finally:
        context.removeJobTag(tag)


def _remove_others(names: tasks.Names, written: list[Shard]) -> None:
    """The files of this build that no manifest names: of runs that Spark did not count."""
    kept = {shard.path.rpartition("/")[2] for shard in written}
    for name in names_in(names.folder):
        if names.has(name) and name not in kept:
            remove(f"{names.folder}/{name}")
