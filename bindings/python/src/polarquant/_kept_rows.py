# SPDX-License-Identifier: MIT
"""The vectors of a store, under numbers: as codes in an index, or as floats until it can be trained.

An index that needs training would learn little from the first documents of a store, or could not be
trained by them at all. So they are kept as floats, which are searched exactly, until there are as many
as its training does well from; then they train it and go in.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from polarquant._arrays import Floats, Ids, as_vector
from polarquant.errors import BadArgumentError, CorruptDataError, UnsupportedError
from polarquant.index import Index
from polarquant.metric import Metric

#: FAISS's own rule for k-means: fewer rows for each centroid draw a warning.
_ROWS_PER_CENTROID = 39
#: From so many on a code or a transform that learns something of each dimension does well.
_ROWS_PER_DIM = 10
_LEARNS_DIMS = "-pca|-online|PolarPair|PCA|PQ|ITQ|SQ"


_OPTIONS = {"exactness", "nprobe", "ef_search", "k_factor", "num_threads"}


class Kind(NamedTuple):
    """What a store's index is made from."""

    description: str
    dim: int
    metric: Metric

    def make(self) -> Index:
        return Index(*self)


class KeptRows(Protocol):
    """Vectors under numbers, which ascend as they come."""

    #: Of the file that `save` writes.
    ending: str

    def put(self, old: Sequence[int], numbers: range, rows: Floats) -> KeptRows:
        """Rows under new numbers, in the place of old ones; returns what has them all, itself or its
        successor. After an error nothing has changed."""

    def remove(self, numbers: Sequence[int]) -> None: ...

    def find(
        self, query: npt.ArrayLike, k: int, among: Ids | None, **options: Any
    ) -> tuple[Floats, Ids]:
        """As `Index.search` of one query, among these numbers, ascending, or all."""

    def vectors(self, numbers: Sequence[int]) -> Floats:
        """The stored forms, (n, dim), normalized for cosine."""

    def save(self, path: pathlib.Path) -> None: ...

    def __len__(self) -> int: ...


class IndexRows:
    """Vectors in an index."""

    ending = ".polar"

    def __init__(self, index: Index) -> None:
        self.index = index

    @classmethod
    def trained_on(cls, kind: Kind, numbers: npt.ArrayLike, rows: Floats) -> IndexRows:
        """A new index that has learned from these rows and has them."""
        index = kind.make()
        if not index.is_trained:
            index.train(rows)
        if not _takes_ids(index):  # graphs and refined indexes
            kind = kind._replace(description=f"{kind.description},IDMap2")
            index = kind.make()
            if not index.is_trained:
                index.train(rows)
        index.add_with_ids(rows, numbers)
        return cls(index)

    def put(self, old: Sequence[int], numbers: range, rows: Floats) -> IndexRows:
        if old:
            self.index.remove_ids([])  # tells of an index that cannot, while nothing has changed
        new = np.arange(numbers.start, numbers.stop)
        self.index.add_with_ids(rows, new)
        try:
            self.remove(old)
        except BaseException:
            self.index.remove_ids(new)
            raise
        return self

    def remove(self, numbers: Sequence[int]) -> None:
        if numbers:
            self.index.remove_ids(numbers)

    def find(
        self, query: npt.ArrayLike, k: int, among: Ids | None, **options: Any
    ) -> tuple[Floats, Ids]:
        if among is not None:
            options = {**options, "filter": among}
        return self.index.search(query, k, **options)

    def vectors(self, numbers: Sequence[int]) -> Floats:
        return self.index.reconstruct_batch(list(numbers))

    def save(self, path: pathlib.Path) -> None:
        self.index.save(path)

    def __len__(self) -> int:
        return self.index.ntotal


def _takes_ids(index: Index) -> bool:
    try:
        index.add_with_ids(np.empty((0, index.dim), dtype=np.float32), [])
    except UnsupportedError:
        return False
    return True


class FloatRows:
    """Vectors as floats. Arrays that a search may be reading are never written to."""

    ending = ".npy"

    def __init__(self, kind: Kind, wanted: int) -> None:
        self._kind = kind
        self._wanted = wanted
        # Rows and their numbers; beyond the numbers' count there is room.
        self._held: tuple[Floats, Ids] = (
            np.empty((0, kind.dim), dtype=np.float32),
            np.empty(0, dtype=np.int64),
        )

    def put(self, old: Sequence[int], numbers: range, rows: Floats) -> KeptRows:
        rows = _checked(rows, self._kind)
        room, held = self._held
        stay = ~np.isin(held, old)
        count = int(stay.sum())
        all_numbers = np.concatenate([held[stay], np.arange(numbers.start, numbers.stop)])
        if len(all_numbers) >= self._wanted:
            all_rows = np.concatenate([room[: len(held)][stay], rows])
            return IndexRows.trained_on(self._kind, all_numbers, all_rows)
        if len(all_numbers) > len(room) or count < len(held):
            grown = np.empty((max(len(all_numbers), 2 * count), self._kind.dim), dtype=np.float32)
            grown[:count] = room[: len(held)][stay]
            room = grown
        room[count : len(all_numbers)] = rows
        self._held = (room, all_numbers)
        return self

    def remove(self, numbers: Sequence[int]) -> None:
        room, held = self._held
        stay = ~np.isin(held, numbers)
        self._held = (room[: len(held)][stay], held[stay])

    def find(
        self,
        query: npt.ArrayLike,
        k: int,
        among: Ids | None,
        **options: Any,
    ) -> tuple[Floats, Ids]:
        """Exact, so that the options, which say how exact a search of the index is, have nothing to
        say yet."""
        unknown = options.keys() - _OPTIONS
        if unknown:
            raise TypeError(f"search: no option {min(unknown)!r}")
        room, held = self._held
        rows = room[: len(held)]
        if among is not None:
            stay = np.isin(held, among)
            rows, held = rows[stay], held[stay]
        asked = _checked(as_vector("q", query, self._kind.dim)[None], self._kind)[0]
        if self._kind.metric == Metric.L2:
            scores = np.square(rows - asked, dtype=np.float64).sum(axis=1)
            order = np.argsort(scores, kind="stable")[:k]
        else:
            scores = rows @ asked
            order = np.argsort(-scores, kind="stable")[:k]
        return scores[order].astype(np.float32), held[order]

    def vectors(self, numbers: Sequence[int]) -> Floats:
        room, held = self._held
        found: Floats = room[np.searchsorted(held, np.asarray(numbers, dtype=np.int64))]
        return found

    def save(self, path: pathlib.Path) -> None:
        room, held = self._held
        with open(path, "wb") as file:
            np.save(file, room[: len(held)])
            file.flush()
            os.fsync(file.fileno())

    @classmethod
    def load(
        cls, path: pathlib.Path, description: str, metric: Metric, numbers: Sequence[int]
    ) -> FloatRows:
        """What `save` wrote, under these numbers, ascending."""
        try:
            rows = np.load(path, allow_pickle=False)
            if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype != np.float32:
                raise ValueError("no float32 of two dimensions")
            if len(rows) != len(numbers):
                raise ValueError(f"{len(rows)} rows and {len(numbers)} records")
            kind = Kind(description, rows.shape[1], metric)
            made = cls(kind, rows_to_train(kind))
            made._held = (_checked(rows, kind), np.array(numbers, dtype=np.int64))
        except (EOFError, ValueError) as error:
            raise CorruptDataError(f"{path}: is not what was saved ({error})") from None
        return made

    def __len__(self) -> int:
        return len(self._held[1])


def first_rows(kind: Kind) -> KeptRows:
    """What a store of no vectors yet puts them into."""
    wanted = rows_to_train(kind)
    if wanted > 0:
        return FloatRows(kind, wanted)
    return IndexRows.trained_on(kind, [], np.empty((0, kind.dim), dtype=np.float32))


def rows_to_train(kind: Kind) -> int:
    """How many rows an index is worth training from; 0 for one that needs no training. Raises what
    making it raises."""
    with kind.make() as index:
        if index.is_trained:
            return 0
        wanted = _ROWS_PER_CENTROID * index.nlist
    if wanted == 0 or re.search(_LEARNS_DIMS, kind.description):
        wanted = max(wanted, _ROWS_PER_DIM * kind.dim)
    # Product quantizers, OPQ's among them: 256 centroids unless their bits say otherwise.
    for bits in re.findall(r"PQ\d+(?:_\d+)?(?:x(\d+))?", kind.description):
        wanted = max(wanted, _ROWS_PER_CENTROID << int(bits or 8))
    return wanted


def _checked(rows: Floats, kind: Kind) -> Floats:
    """Rows as an index would have taken them: of its dimensions, finite, normalized for cosine."""
    if rows.shape[1] != kind.dim:
        raise BadArgumentError(f"vectors: shape {rows.shape} is not allowed; (n, {kind.dim})")
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise BadArgumentError(f"vectors: row {int(np.argmin(finite))} has numbers not finite")
    if kind.metric != Metric.COSINE:
        return rows
    norms = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    found: Floats = (rows / np.where(norms > 0, norms, 1)).astype(np.float32)
    return found
