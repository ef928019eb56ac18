# SPDX-License-Identifier: MIT
"""The answer of one index from parts of it that are searched apart, in processes of any kind.

Each part is a `ShardedIndex` of some shards, in the manifest's order. What `Part` finds travels to
one place, where `merge_partials` and `merge_ranges` make the answer of all parts, to the bit that of
one index:

>>> from polarquant import Part, ShardedIndex
>>> from polarquant.partials import merge_partials
>>> first = Part(ShardedIndex.open("big/manifest.json", shards=[0, 1]), 0)
>>> second = Part(ShardedIndex.open("big/manifest.json", shards=[2, 3]), first.index.ntotal)
>>> partials = [part.search_partial(queries, 10) for part in (first, second)]
>>> scores, ids = merge_partials(partials, len(queries), 10)

Filters over inverted files are the exception: which lists are searched, and which rows are left out,
depends on what a filter keeps of all parts. There each part finds the best of its own, by `search`,
and `merge_best` takes the best of all: as good an answer, and not always the same.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from polarquant._arrays import Floats, Ids, address, as_int, as_rows
from polarquant._library import check, lib
from polarquant._search import run_search_partial
from polarquant.filters import Bitset, FilterLike, IdSet, as_array
from polarquant.index import Index

__all__ = ["Part", "merge_best", "merge_partials", "merge_ranges"]


class Part:
    """Some of an index's rows.

    index: has them.
    first_row: how many rows the parts before have.
    ids_are_positions: whether rows have the numbers that they have in the whole; False for ids of
    yours.
    Filters and ids are the whole's. Threads may use it at the same time, as `Index`.
    """

    def __init__(self, index: Index, first_row: int, ids_are_positions: bool = True) -> None:
        self.index = index
        self._first_row = as_int("first_row", first_row, 0, 2**63 - 1)
        self._shift = self._first_row if ids_are_positions else 0

    def search_partial(
        self,
        queries: npt.ArrayLike,
        k: int,
        *,
        filter: FilterLike = None,
        exactness: float | None = None,
        nprobe: int = 0,
        num_threads: int = 0,
    ) -> bytes:
        """What `merge_partials` needs of this part for the k nearest rows; arguments as those of
        `Index.search`. Raises UnsupportedError for a filter over an inverted file, and for
        refinements and graphs."""
        rows = as_rows("queries", queries, self.index.dim)
        with self.index._use.shared as handle:

            def size(nq: int, k: int, bytes_: Any) -> int:
                status: int = lib.polar_index_partial_bytes(handle, nq, k, bytes_)
                return status

            def search(*arguments: Any) -> int:
                status: int = lib.polar_index_search_partial(handle, self._first_row, *arguments)
                return status

            ntotal = lib.polar_index_ntotal(handle)
            asked = (filter, exactness, num_threads, None, nprobe)
            use = self.index._use
            return run_search_partial(size, search, use, rows, self.index.dim, k, ntotal, *asked)

    def search(
        self, queries: npt.ArrayLike, k: int, *, filter: FilterLike = None, **options: Any
    ) -> tuple[Floats, Ids]:
        """The best of this part, as `Index.search` has them."""
        inside = _shifted(filter, self._shift, self.index.ntotal)
        scores, ids = self.index.search(queries, k, filter=inside, **options)
        ids[ids >= 0] += self._shift
        return scores, ids

    def range_search(
        self, queries: npt.ArrayLike, radius: float, *, filter: FilterLike = None, **options: Any
    ) -> tuple[Ids, Floats, Ids]:
        """This part's rows within a radius, as `Index.range_search` has them, for `merge_ranges`."""
        inside = _shifted(filter, self._shift, self.index.ntotal)
        lims, scores, ids = self.index.range_search(queries, radius, filter=inside, **options)
        return lims, scores, ids + self._shift


def merge_partials(partials: Sequence[bytes], nq: int, k: int) -> tuple[Floats, Ids]:
    """Scores and ids, (nq, k), from what all parts' search_partial found for the same nq queries and
    k, in the order of the parts."""
    nq, k = as_int("nq", nq, 0, 2**63 - 1), as_int("k", k, 1, 2**63 - 1)
    scores, ids = np.empty((nq, k), dtype=np.float32), np.empty((nq, k), dtype=np.int64)
    data = (ctypes.c_char_p * len(partials))(*partials)
    sizes = (ctypes.c_size_t * len(partials))(*map(len, partials))
    check(
        lib.polar_merge_partials(len(partials), data, sizes, nq, k, address(scores), address(ids))
    )
    return scores, ids


def merge_best(
    found: Sequence[tuple[Floats, Ids]], k: int, higher_is_nearer: bool
) -> tuple[Floats, Ids]:
    """The k best, (nq, k), of what several indexes' searches found; ties by lower id."""
    scores = np.concatenate([each[0] for each in found], axis=1)
    ids = np.concatenate([each[1] for each in found], axis=1)
    order = np.lexsort((ids, -scores if higher_is_nearer else scores, ids < 0), axis=1)[:, :k]
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(ids, order, axis=1)


def merge_ranges(
    found: Sequence[tuple[Ids, Floats, Ids]], higher_is_nearer: bool, ties_by_id: bool
) -> tuple[Ids, Floats, Ids]:
    """lims, scores and ids from what all parts' range_search found, in the order of the parts.

    ties_by_id: rows of equal scores are ordered by ids, as inverted files order them; False: by the
    order of their parts.
    """
    counts = [np.diff(lims) for lims, _, _ in found]
    queries = np.concatenate([np.repeat(np.arange(len(each)), each) for each in counts])
    scores = np.concatenate([each[1] for each in found])
    ids = np.concatenate([each[2] for each in found])
    keys = (-scores if higher_is_nearer else scores, queries)
    order = np.lexsort((ids, *keys) if ties_by_id else keys)  # is stable
    lims = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.sum(counts, axis=0))])
    return lims, scores[order], ids[order]


def _shifted(filter: FilterLike, first: int, count: int) -> FilterLike:
    """A filter over first, first + 1, … as one over 0 … count − 1."""
    if filter is None or first == 0:
        return filter
    if isinstance(filter, range):
        begin, end = filter.start - first, filter.stop - first
        return range(max(0, begin), max(0, end), filter.step)
    if isinstance(filter, Bitset):
        bits = np.unpackbits(filter._words.view(np.uint8), count=len(filter), bitorder="little")
        return bits[first : first + count].astype(np.bool_)
    if isinstance(filter, IdSet):
        return _ids_from(filter._ids, first)
    if callable(filter):
        return lambda id: filter(first + id)
    given = as_array(filter)
    if given.dtype == np.bool_:
        return given[first : first + count]
    return _ids_from(given, first)


def _ids_from(ids: npt.NDArray[Any], first: int) -> npt.NDArray[Any]:
    return ids[ids >= first] - first
