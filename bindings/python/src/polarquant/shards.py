# SPDX-License-Identifier: MIT
"""An index in several files that other processes or machines built, searched as one.

>>> index.train(sample)
>>> state = polarquant.shards.write_state(index, "big/state.polar")
>>> made = [polarquant.shards.build_shard(batches, state, f"big/{i}.polar")
...         for i, batches in enumerate(parts)]   # anywhere, in any order
>>> polarquant.shards.write_manifest("big/manifest.json", state, made)
>>> sharded = polarquant.ShardedIndex.open("big/manifest.json")
>>> scores, ids = sharded.search(queries, k=10)
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Union

import numpy as np

from polarquant import manifest as _manifest
from polarquant._arrays import Floats, Ids
from polarquant._arrow import ids_of, rows_of
from polarquant._handle import create
from polarquant._library import lib
from polarquant._storage import PathLike, as_path
from polarquant.builder import MEMORY_BYTES, IndexBuilder
from polarquant.errors import BadArgumentError, PolarError
from polarquant.index import Index
from polarquant.manifest import Manifest, Shard
from polarquant.places import is_url, local_copy, upload

__all__ = ["Batch", "Shard", "ShardedIndex", "build_shard", "write_manifest", "write_state"]

#: Rows of one batch: an array, (n, dim); a pair of such an array and ids, (n,); or a record batch or
#: table of Arrow's.
Batch = Union[Any, tuple[Any, Any]]


def write_state(index: Index, out: PathLike) -> Shard:
    """Writes what a trained index without rows codes rows by: all shards are built with it. Returns
    its entry for `write_manifest`."""
    if index.ntotal:
        raise BadArgumentError(f"index: it holds {index.ntotal} rows; one without is needed")
    with _written_to(out) as path:
        index.save(path)
        entry = _manifest.describe(path, 0)
    return entry._replace(path=os.fspath(out))


def build_shard(
    batches: Iterable[Batch],
    state: Shard | PathLike,
    out: PathLike,
    *,
    column: str = "vector",
    id_column: str | None = None,
    memory_bytes: int = MEMORY_BYTES,
    num_threads: int = 0,
) -> Shard:
    """Builds a shard's file from batches of rows, within memory_bytes (`IndexBuilder`), and returns its
    entry. The same batches and state make the same bytes, on any machine.

    batches: arrays, pairs of rows and ids, or Arrow's record batches and tables, whose `column` has
    lists of numbers and `id_column` integers. All with ids, or none; of shards without, rows are
    numbered on in the manifest's order.
    out: a path or a URL of fsspec's.
    """
    place = os.fspath(state.path if isinstance(state, Shard) else state)
    with tempfile.TemporaryDirectory() as folder:
        if is_url(place):
            place = local_copy(place, os.path.join(folder, "state.polar"), -1)
        with Index.load(place) as index, _written_to(out) as path:
            low, high = 2**63 - 1, -1
            with IndexBuilder(path, index, memory_bytes=memory_bytes, replace=True) as builder:
                for rows, ids in rows_of_batches(batches, column, id_column):
                    if ids is None:
                        builder.add(rows, num_threads=num_threads)
                    else:
                        builder.add_with_ids(rows, ids, num_threads=num_threads)
                        if len(ids):
                            low, high = min(low, int(ids.min())), max(high, int(ids.max()))
                total = builder.ntotal
                builder.finish()
            entry = _manifest.describe(path, total, (low, high) if high >= 0 else None)
    return entry._replace(path=os.fspath(out))


def write_manifest(path: PathLike, state: Shard, shards: Sequence[Shard]) -> Manifest:
    """Writes the manifest of shards that were built by one state, in the order of their rows. It is
    the last file to be written: whoever finds it finds all of the index."""
    with tempfile.TemporaryDirectory() as folder:
        local = _manifest.fetch(path, state, folder)
        with Index.load(local) as index:
            made = _manifest.make_manifest(
                path, index.description, index.dim, index.metric.name.lower(), state, shards
            )
    made.write(path)
    return made


class ShardedIndex(Index):
    """Several files searched as one index: the same answers, to the bit, as one index of all rows in
    the manifest's order has. Rows stay in their files; it cannot be changed, but saved and cloned.

    All of `Index` that does not change rows works: filters, nprobe, range search, explain, verify.
    """

    #: What was opened.
    manifest: Manifest
    #: Shards that are not searched, each with the error that says why; with on_missing="partial".
    missing: tuple[tuple[Shard, PolarError], ...]

    @classmethod
    def open(
        cls,
        manifest: PathLike,
        *,
        shards: Sequence[int] | None = None,
        on_missing: Literal["error", "partial"] = "error",
        cache: PathLike | None = None,
        read: Manifest | None = None,
    ) -> ShardedIndex:
        """The index of a manifest.

        shards: numbers of those to search, by default all.
        on_missing: "error" refuses, by its name, a shard that is missing, damaged or coded by another
        state; "partial" goes on without it: `missing` and `share` say so.
        cache: a folder for copies of shards that URLs name, kept; by default a temporary one.
        read: what the manifest said when it was read, where several processes are to open the same.
        Damage in a file's rows is found when they are first searched, or by `verify`.
        """
        if on_missing not in ("error", "partial"):
            raise BadArgumentError(f"on_missing: {on_missing!r} is not allowed; error or partial")
        read = Manifest.read(manifest) if read is None else read
        numbers = range(len(read.shards)) if shards is None else shards
        for number in numbers:
            if not 0 <= number < len(read.shards):
                raise BadArgumentError(
                    f"shards: {number} is not there; 0 to {len(read.shards) - 1} are"
                )
        # Files that are mapped may be removed.
        with tempfile.TemporaryDirectory(prefix="polar-shards-") as folder:
            kept = os.fspath(cache) if cache is not None else folder
            return cls._open(manifest, read, numbers, on_missing == "partial", kept)

    @classmethod
    def _open(
        cls, place: PathLike, read: Manifest, numbers: Sequence[int], partial: bool, cache: str
    ) -> ShardedIndex:
        state = _manifest.fetch(place, read.state, cache)
        chosen, missing = [], []
        for number in numbers:
            try:
                path = _manifest.fetch(place, read.shards[number], cache)
                if partial:
                    _open_files([state, path]).close()
                chosen.append(path)
            except PolarError as error:
                if not partial:
                    raise
                missing.append((read.shards[number], error))
        opened: ShardedIndex = _open_files([state, *chosen])
        opened.manifest, opened.missing = read, tuple(missing)
        return opened

    @property
    def share(self) -> float:
        """The share of the manifest's rows that is searched, 1 for all."""
        return self.ntotal / self.manifest.rows if self.manifest.rows else 1.0


def _open_files(paths: list[str]) -> ShardedIndex:
    names = (ctypes.c_char_p * len(paths))(*map(as_path, paths))
    opened = ShardedIndex._adopt_loaded(create(lib.polar_index_open_shards, len(paths), names))
    assert isinstance(opened, ShardedIndex)
    return opened


def rows_of_batches(
    batches: Iterable[Batch], column: str, id_column: str | None
) -> Iterator[tuple[Floats, Ids | None]]:
    """The rows of batches, and their ids, as arrays."""
    first = 0
    for batch in batches:
        if hasattr(batch, "column_names") or hasattr(batch, "schema"):
            for part in batch.to_batches() if hasattr(batch, "to_batches") else [batch]:
                rows = rows_of(_column(part, column), f"column {column!r}", first)
                ids = None
                if id_column is not None:
                    ids = ids_of(_column(part, id_column), f"column {id_column!r}", first)
                first += len(rows)
                yield rows, ids
        elif isinstance(batch, tuple):
            rows, ids = np.asarray(batch[0]), np.asarray(batch[1])
            yield rows, ids
        else:
            yield np.asarray(batch), None


def _column(batch: Any, name: str) -> Any:
    if name not in batch.schema.names:
        raise BadArgumentError(f"column: {name!r} is not there; {', '.join(batch.schema.names)} are")
    return batch.column(batch.schema.names.index(name))


class _written_to:
    """A local path for a file that is to lie at `out`, which may be a URL: then it is copied there."""

    def __init__(self, out: PathLike) -> None:
        self._out = os.fspath(out)
        self._folder = tempfile.TemporaryDirectory() if is_url(self._out) else None

    def __enter__(self) -> str:
        if self._folder is None:
            return self._out
        return os.path.join(self._folder.name, "file.polar")

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if self._folder is None:
            return
        try:
            if kind is None:
                upload(os.path.join(self._folder.name, "file.polar"), self._out)
        finally:
            self._folder.cleanup()
