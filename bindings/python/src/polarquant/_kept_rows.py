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
from polarquant._storage import save_to_file
from polarquant.errors import BadArgumentError, CorruptDataError, UnsupportedError
from polarquant.index import Index
from polarquant.metric import Metric

#: FAISS's own rule for k-means: fewer rows for each centroid draw a warning.
_ROWS_PER_CENTROID = 39
#: From so many on a code or a transform that learns something of each dimension does well.
_ROWS_PER_DIM = 10
_LEARNS_DIMS = "-pca|-online|PolarPair|PCA|PQ|ITQ|SQ"


#: Beyond k, so that rounding hides none of the k nearest.
_MORE_CANDIDATES = 32
#: Below, float32 has lost bits.
_LEAST_PRODUCT = 1e-30
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
        with self.index._use.shared as handle:
            save_to_file(handle, path)

    def __len__(self) -> int:
        return self.index.ntotal


def _takes_ids(index: Index) -> bool:
    try:
        index.add_with_ids(np.empty((0, index.dim), dtype=np.float32), [])
    except UnsupportedError:
        return False
    return True


class _Held(NamedTuple):
    """Rows and their numbers. Beyond the numbers' count there is room for more, and a row that was
    removed stays with a number of -1. What a search may be reading is never written to."""

    memory: Floats
    numbers: Ids

    def places(self) -> Ids:
        """Those of rows that are held; their numbers ascend."""
        return np.flatnonzero(self.numbers >= 0)

    def without(self, numbers: Sequence[int]) -> _Held:
        if not len(numbers):
            return self
        left = np.where(np.isin(self.numbers, numbers), -1, self.numbers)
        held = _Held(self.memory, left)
        places = held.places()
        if 2 * len(places) >= len(left):
            return held
        return _Held(self.memory[places], left[places])

    def with_more(self, numbers: range, rows: Floats) -> _Held:
        count, total = len(self.numbers), len(self.numbers) + len(rows)
        memory = self.memory
        if total > len(memory):
            memory = np.empty((max(total, 2 * count), rows.shape[1]), dtype=np.float32)
            memory[:count] = self.memory[:count]
        memory[count:total] = rows
        return _Held(memory, np.concatenate([self.numbers, np.arange(numbers.start, numbers.stop)]))


class FloatRows:
    """Vectors as floats."""

    ending = ".npy"

    def __init__(self, kind: Kind, wanted: int) -> None:
        self._kind = kind
        self._wanted = wanted
        self._held = _Held(np.empty((0, kind.dim), dtype=np.float32), np.empty(0, dtype=np.int64))

    def put(self, old: Sequence[int], numbers: range, rows: Floats) -> KeptRows:
        held = self._held.without(old).with_more(numbers, _checked(rows, self._kind))
        places = held.places()
        if len(places) >= self._wanted:
            return IndexRows.trained_on(self._kind, held.numbers[places], held.memory[places])
        self._held = held
        return self

    def remove(self, numbers: Sequence[int]) -> None:
        self._held = self._held.without(numbers)

    def find(
        self, query: npt.ArrayLike, k: int, among: Ids | None, **options: Any
    ) -> tuple[Floats, Ids]:
        """Exact, so that the options, which say how exact a search of the index is, have nothing to
        say yet."""
        unknown = options.keys() - _OPTIONS
        if unknown:
            raise TypeError(f"search: no option {min(unknown)!r}")
        asked = _checked(as_vector("q", query, self._kind.dim)[None], self._kind)[0]
        held, is_l2 = self._held, self._kind.metric == Metric.L2
        places = held.places()
        if among is not None:
            places = places[np.isin(held.numbers[places], among)]
        rows = held.memory[: len(held.numbers)]
        near = _nearest(rows, places, asked, k + _MORE_CANDIDATES, is_l2)
        # Again, in double, by sums whose order does not depend on where a row lies.
        some = rows[near].astype(np.float64)
        scores = (np.square(some - asked) if is_l2 else some * asked).sum(axis=1)
        order = np.argsort(scores if is_l2 else -scores, kind="stable")[:k]
        return scores[order].astype(np.float32), held.numbers[near[order]]

    def vectors(self, numbers: Sequence[int]) -> Floats:
        held = self._held
        places = held.places()
        wanted = np.searchsorted(held.numbers[places], np.asarray(numbers, dtype=np.int64))
        found: Floats = held.memory[places[wanted]]
        return found

    def save(self, path: pathlib.Path) -> None:
        with open(path, "wb") as file:
            # Not by tofile, as np.save does: it does not say why the system refused.
            rows = self._held.memory[self._held.places()]
            np.lib.format.write_array_header_1_0(
                file, np.lib.format.header_data_from_array_1_0(rows)
            )
            file.write(rows.data)
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
            made._held = _Held(_checked(rows, kind), np.array(numbers, dtype=np.int64))
        except (EOFError, ValueError) as error:
            raise CorruptDataError(f"{path}: is not what was saved ({error})") from None
        return made

    def __len__(self) -> int:
        return len(self._held.places())


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


def _nearest(rows: Floats, places: Ids, query: Floats, count: int, is_l2: bool) -> Ids:
    """Of these places `count` whose rows are near a query, ascending, by a product in float32; all
    where its numbers are beyond float32."""
    if count >= len(places):
        return places
    with np.errstate(over="ignore", invalid="ignore"):
        costs = -(rows @ query)
        if is_l2:
            costs += 0.5 * np.einsum("ij,ij->i", rows, rows)
    costs = costs[places]
    if not np.isfinite(costs).all() or np.abs(costs).max() < _LEAST_PRODUCT:
        return places
    return places[np.sort(np.argpartition(costs, count)[:count])]


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
