# SPDX-License-Identifier: MIT
"""Rows of a file, read block by block."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from typing import Callable, NamedTuple

import numpy as np

from polarquant._arrays import Floats, Ids
from polarquant.command.failure import CommandError

#: Bytes of one block of rows: small beside memory, large beside what a call costs.
BLOCK_BYTES = 64 << 20


class Shape(NamedTuple):
    """Of a file's vectors, and the type that they have in it."""

    rows: int
    dim: int
    dtype: str


class RowIds(abc.ABC):
    """Ids of rows, read block by block."""

    @abc.abstractmethod
    def rows(self, first: int, end: int) -> Ids:
        """Those of rows first to end − 1, int64."""


class Vectors(abc.ABC):
    """Vectors of a file, (count, dim)."""

    def __init__(self, path: str, count: int, dim: int, dtype: str) -> None:
        self.path = path
        self.count = count
        self.dim = dim
        self.dtype = dtype

    @abc.abstractmethod
    def read(self, first: int, end: int) -> Floats:
        """Rows first to end − 1, float32, unchecked."""

    def ids(self, column: str) -> RowIds:
        """The integers beside the vectors in a column of this name."""
        raise CommandError(f"{self.path}: has no columns beside the vectors")

    def rows(self, first: int = 0, end: int | None = None) -> Floats:
        """Rows first to end − 1, or to the last, float32, finite."""
        rows = self.read(first, self.count if end is None else end)
        return self._checked(rows, lambda row: first + row)

    def take(self, wanted: Ids) -> Floats:
        """The rows of these numbers, ascending: (len(wanted), dim). Reads the whole file unless a
        format knows a shorter way."""
        if len(wanted) == self.count:
            return self.rows()
        taken = np.empty((len(wanted), self.dim), dtype=np.float32)
        for first, block in self.blocks():
            low, high = np.searchsorted(wanted, (first, first + len(block)))
            taken[low:high] = block[wanted[low:high] - first]
        return taken

    @property
    def block_rows(self) -> int:
        """Rows of a block, but for the last."""
        return max(1, BLOCK_BYTES // (4 * self.dim))

    def blocks(self) -> Iterator[tuple[int, Floats]]:
        """All rows in blocks, each with the number of its first row."""
        step = self.block_rows
        for first in range(0, self.count, step):
            yield first, self.rows(first, min(first + step, self.count))

    def _checked(self, rows: Floats, number_of: Callable[[int], int]) -> Floats:
        finite = np.isfinite(rows).all(axis=1)
        if not finite.all():
            row = number_of(int(np.argmin(finite)))
            raise CommandError(f"{self.path}: row {row} has numbers that are not finite")
        return rows


def draw_rows(vectors: Vectors, wanted: int, seed: int) -> np.typing.NDArray[np.float32]:
    """A random sample, (wanted, dim), in the file's order."""
    if wanted >= vectors.count:
        return vectors.rows()
    drawn = np.random.default_rng(seed).choice(vectors.count, wanted, replace=False)
    return vectors.take(np.sort(drawn))


def choose_name(
    path: str, what: str, asked: str, names: Sequence[str], prefer: tuple[str, ...]
) -> str:
    """The part of a file that is meant."""
    listed = ", ".join(map(repr, names)) or "none"
    if asked:
        if asked not in names:
            raise CommandError(f"{path}: no {what} {asked!r}; it has {listed}")
        return asked
    for name in prefer:
        if name in names:
            return name
    if len(names) != 1:
        raise CommandError(f"{path}: which {what}? It has {listed}: name one with --dataset")
    return names[0]
