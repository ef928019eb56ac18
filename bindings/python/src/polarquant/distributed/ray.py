# SPDX-License-Identifier: MIT
"""Builds and searches an index in shards on a Ray cluster.

>>> from polarquant.distributed import ray as ray_shards
>>> manifest = ray_shards.build(["s1.parquet", "s2.parquet"], "s3://bucket/big",
...                            index="IVF8192,Polar4", id_column="id", num_shards=16)
>>> with ray_shards.RayIndex("s3://bucket/big/manifest.json", replicas=4) as index:
...     scores, ids = index.search(queries, k=10, nprobe=32)

A task trains on a sample; then a task for each shard reads its rows, codes them, and writes its file.
Rows do not pass through the driver. A task whose worker or node dies is begun again elsewhere, and
makes the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np
import ray

from polarquant._arrays import as_int
from polarquant._storage import PathLike
from polarquant.builder import MEMORY_BYTES
from polarquant.distributed.ray_index import RayIndex
from polarquant.distributed.rebuild import finish_build
from polarquant.distributed.sources import Files, Piece, split_rows
from polarquant.distributed.training import rows_to_train, write_trained
from polarquant.errors import BadArgumentError
from polarquant.manifest import Manifest, Shard
from polarquant.metric import MetricLike, as_metric
from polarquant.places import is_url
from polarquant.shards import build_shard, rows_of_batches

__all__ = ["RayIndex", "build"]


def build(
    source: Sequence[PathLike] | Any,
    out: PathLike,
    *,
    index: str,
    metric: MetricLike = "cosine",
    column: str = "vector",
    id_column: str | None = None,
    num_shards: int | None = None,
    train_rows: int | None = None,
    seed: int = 1,
    num_cpus: int = 1,
    memory_bytes: int = MEMORY_BYTES,
    progress: Callable[[float], Any] | None = None,
) -> Manifest:
    """Builds shards and their manifest, `out`/manifest.json, and returns it.

    source: paths of files of vectors, which each node finds under these names (.parquet, .arrow, .npy,
    .hdf5 and what else `polar build` reads), or a ray.data.Dataset.
    out: a folder that each node sees, or a URL of fsspec's. Files of an earlier build are replaced, and
    those that its manifest named in this folder and the new one does not are removed: whoever searches
    them still wants a build into a folder of its own.
    index, metric: as for `Index`; the kinds that `IndexBuilder` takes.
    column, id_column: of Parquet and Arrow files and datasets: lists of numbers, and integers of 0 or
    more, each once. Without id_column rows are numbered in the order of the source.
    num_shards: by default one for each CPU of the cluster that num_cpus leaves.
    train_rows: drawn at random by `seed` from all rows, by default 100,000 or 39 a list.
    num_cpus: of each task, which uses as many threads.
    memory_bytes: of a task, for rows of a part (`IndexBuilder`).
    progress: hears the share of the shards that are done.

    ray.init comes first. The answers of the sharded index are, to the bit, those of one index that was
    trained alike and given all rows in order.
    """
    cpus = as_int("num_cpus", num_cpus, 1, 1024)
    if num_shards is None:
        num_shards = max(1, int(ray.cluster_resources().get("CPU", 1)) // cpus)
    count = as_int("num_shards", num_shards, 1, 100_000)
    wanted = rows_to_train(index, train_rows)
    as_metric(metric)
    folder = os.fspath(out)
    if not is_url(folder):
        os.makedirs(folder, exist_ok=True)
    task = ray.remote(num_cpus=cpus, max_retries=5)
    if isinstance(source, ray.data.Dataset):
        parts: list[Any] = source.split(count)
        columns = {"column": column, "id_column": id_column}
        sample = _sample_of_dataset(source.select_columns([column]), wanted, seed)
        state = ray.get(task(_train_on_table).remote(sample, column, index, metric, folder))
        tasks = [
            task(_build_of_dataset).remote(
                part, columns, state, _place(folder, number), memory_bytes, cpus
            )
            for number, part in enumerate(parts)
        ]
    else:
        if isinstance(source, (str, bytes, os.PathLike)):
            raise BadArgumentError(f"source: {source!r} is one path; a list of paths is needed")
        files = Files(tuple(map(os.fspath, source)), column, id_column)
        counts = ray.get(task(_count).remote(files))
        if sum(counts) == 0:
            raise BadArgumentError("source: it has no rows")
        state = ray.get(task(_train).remote(files, counts, wanted, seed, index, metric, folder))
        tasks = [
            task(_build).remote(files, pieces, state, _place(folder, number), memory_bytes, cpus)
            for number, pieces in enumerate(split_rows(files.paths, counts, count))
        ]
    _wait(tasks, progress)
    return finish_build(folder, state, ray.get(tasks))


def _wait(tasks: list[Any], progress: Callable[[float], Any] | None) -> None:
    """Until all are done; the error of one ends the others."""
    left = tasks
    try:
        while left:
            done, left = ray.wait(left, num_returns=1)
            ray.get(done)
            if progress is not None:
                progress(1 - len(left) / len(tasks))
    except BaseException:
        for other in left:
            ray.cancel(other, force=True)
        raise


def _place(folder: str, number: int) -> str:
    return f"{folder}/shard-{number:05}.polar"


def _count(files: Files) -> list[int]:
    return files.counts()


def _train(
    files: Files,
    counts: list[int],
    wanted: int,
    seed: int,
    description: str,
    metric: MetricLike,
    folder: str,
) -> Shard:
    rows = files.sample(counts, wanted, seed)
    return write_trained(rows, description, metric, f"{folder}/state.polar")


def _build(
    files: Files, pieces: list[Piece], state: Shard, out: str, memory_bytes: int, cpus: int
) -> Shard:
    return build_shard(
        files.batches(pieces), state, out, memory_bytes=memory_bytes, num_threads=cpus
    )


# ---- Datasets ----


def _sample_of_dataset(dataset: Any, wanted: int, seed: int) -> Any:
    """A reference to about as many rows."""
    total = dataset.count()
    if total == 0:
        raise BadArgumentError("source: it has no rows")
    drawn = dataset if wanted >= total else dataset.random_sample(wanted / total, seed=seed)
    return drawn.materialize()


def _train_on_table(
    sample: Any, column: str, description: str, metric: MetricLike, folder: str
) -> Shard:
    batches = sample.iter_batches(batch_format="pyarrow", batch_size=None)
    rows = np.concatenate([rows for rows, _ in rows_of_batches(batches, column, None)])
    return write_trained(rows, description, metric, f"{folder}/state.polar")


def _build_of_dataset(
    part: Any, columns: dict[str, Any], state: Shard, out: str, memory_bytes: int, cpus: int
) -> Shard:
    batches = part.iter_batches(batch_format="pyarrow", batch_size=None)
    return build_shard(batches, state, out, memory_bytes=memory_bytes, num_threads=cpus, **columns)
