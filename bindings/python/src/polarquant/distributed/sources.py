# SPDX-License-Identifier: MIT
"""Rows of many files, in one order, read by whoever needs a part of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from polarquant._arrays import Floats, Ids
from polarquant.command import vector_files
from polarquant.command.vectors import Vectors
from polarquant.errors import BadArgumentError


class Piece(NamedTuple):
    """Rows first to end − 1 of a file."""

    path: str
    first: int
    end: int


class Files(NamedTuple):
    """Files of vectors (`polar build` reads the same), one after the other. Each process that reads a
    part of them must find them under these names."""

    paths: tuple[str, ...]
    column: str
    id_column: str | None

    def open(self, path: str) -> Vectors:
        """`column` is the one of a Parquet or Arrow file, or the dataset of an HDF5 file."""
        plain = vector_files.find_format(path)
        named = plain is not None and plain.endings[0] in (".parquet", ".arrow", ".hdf5")
        return vector_files.open_vectors(path, self.column if named else "")

    def counts(self) -> list[int]:
        """Rows of each file; BadArgumentError where dimensions differ."""
        counts: list[int] = []
        dims: dict[int, str] = {}
        for path in self.paths:
            vectors = self.open(path)
            counts.append(vectors.count)
            dims.setdefault(vectors.dim, path)
        if len(dims) > 1:
            (dim, one), (other_dim, other) = list(dims.items())[:2]
            raise BadArgumentError(
                f"paths: {one} has vectors of {dim} numbers, {other} of {other_dim}"
            )
        return counts

    def batches(self, pieces: Sequence[Piece]) -> Iterator[Floats | tuple[Floats, Ids]]:
        """What `build_shard` takes, of these rows."""
        for path, first, end in pieces:
            vectors = self.open(path)
            ids = vectors.ids(self.id_column) if self.id_column is not None else None
            for begin in range(first, end, vectors.block_rows):
                stop = min(begin + vectors.block_rows, end)
                rows = vectors.rows(begin, stop)
                yield rows if ids is None else (rows, ids.rows(begin, stop))

    def sample(self, counts: Sequence[int], wanted: int, seed: int) -> Floats:
        """`wanted` rows drawn at random from all, or all, in their order."""
        total = sum(counts)
        numbers = np.arange(total)
        if wanted < total:
            numbers = np.sort(np.random.default_rng(seed).choice(total, wanted, replace=False))
        drawn, begin = [], 0
        for path, count in zip(self.paths, counts):
            low, high = np.searchsorted(numbers, (begin, begin + count))
            if low < high:
                drawn.append(self.open(path).take(numbers[low:high] - begin))
            begin += count
        return np.concatenate(drawn)


def split_rows(paths: Sequence[str], counts: Sequence[int], shards: int) -> list[list[Piece]]:
    """The pieces of each shard: as many rows in each, one more in the first ones, in order."""
    total = sum(counts)
    ends = [total * (number + 1) // shards for number in range(shards)]
    made: list[list[Piece]] = [[] for _ in range(shards)]
    number = begin = 0
    for path, count in zip(paths, counts):
        first = 0
        while first < count:
            while ends[number] <= begin + first:
                number += 1
            end = min(count, ends[number] - begin)
            made[number].append(Piece(path, first, end))
            first = end
        begin += count
    return made
