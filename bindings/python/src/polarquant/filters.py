# SPDX-License-Identifier: MIT
"""Which rows a search may return, by id.

A search's argument `filter` takes

- a bool array or list, (n,): ids whose element is True; ids from n on are left out;
- an integer array, list, tuple, set or frozenset: these ids, in any order;
- a range with step 1: its ids, at no cost;
- a function from an id to a bool: asked row by row, which is slow;
- a `Bitset` or an `IdSet`: a bool array, or ids, for many searches. Which rows of an index it leaves
  is found by the first search, and again after each change of the index; this is worth most where
  rows have ids of yours, and where few rows are left.

Rows that a filter leaves out cost next to nothing.
"""

from __future__ import annotations

import ctypes
from typing import Any, Callable, Union

import numpy as np
import numpy.typing as npt

from polarquant import _structs
from polarquant._arrays import Ids, address, as_ids
from polarquant._handle import create
from polarquant._library import default_options, lib
from polarquant._use import Use, callback_of
from polarquant.errors import BadArgumentError

_BITSET, _IDS, _RANGE, _CALLBACK, _PREPARED = range(1, 6)


class _Prepared:
    """A prepared filter of the library's, which has copies of what it was made of."""

    def __init__(self, filter: _structs.Filter) -> None:
        self.handle = create(lib.polar_prepared_filter_create, ctypes.byref(filter))

    # A search that uses it refers to it.
    def __del__(self) -> None:
        if hasattr(self, "handle"):
            lib.polar_prepared_filter_destroy(self.handle)


class _ForManySearches:
    _prepared: _Prepared | None = None

    def _set(self, filter: _structs.Filter) -> None:
        """As the library takes it for one search."""
        raise NotImplementedError

    def _prepare(self) -> _Prepared:
        prepared = self._prepared
        if prepared is None:  # two threads may make one each, of which one stays
            filter = default_options(_structs.Filter, lib.polar_filter_init_sized)
            self._set(filter)
            prepared = self._prepared = _Prepared(filter)
        return prepared

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_prepared"}


class Bitset(_ForManySearches):
    """Ids that searches may return, one bit each.

    mask: (n,), bool; id i is kept where mask[i] is True, ids from n on are left out.
    Raises BadArgumentError for another shape or type. Immutable; used by any number of indexes and
    threads. Memory: two bits for each of n ids, and what the last four indexes' searches found: a
    bit for each row, and copies of the rows where they are an eighth of all or fewer.
    """

    def __init__(self, mask: npt.ArrayLike) -> None:
        bools = np.asarray(mask)
        if bools.ndim != 1 or (bools.dtype != np.bool_ and bools.size > 0):
            raise BadArgumentError(
                f"mask: {bools.dtype} of shape {bools.shape} is not allowed; bool of shape (n,)"
            )
        self._num_bits = len(bools)
        packed = np.packbits(bools.astype(np.bool_), bitorder="little")
        padded = np.zeros(-(-self._num_bits // 64) * 8, dtype=np.uint8)
        padded[: len(packed)] = packed
        self._words: npt.NDArray[np.uint64] = padded.view("<u8").astype(np.uint64, copy=False)

    def _set(self, filter: _structs.Filter) -> None:
        filter.kind = _BITSET
        filter.bitset = _structs.Bitset(address(self._words), self._num_bits)

    def __len__(self) -> int:
        return self._num_bits

    def __repr__(self) -> str:
        return f"Bitset({self._num_bits} bits)"


class IdSet(_ForManySearches):
    """Ids that searches may return, as a list of them.

    ids: integers, (n,), in any order, as an array, a list, a set or the like.
    Raises BadArgumentError for other values. Immutable; used by any number of indexes and threads.
    Memory: 16 bytes an id, and what the last four indexes' searches found, as of a `Bitset`.
    """

    def __init__(self, ids: npt.ArrayLike | set[int] | frozenset[int]) -> None:
        self._take("ids", as_array(ids))

    @classmethod
    def _named(cls, name: str, ids: npt.NDArray[Any]) -> IdSet:
        made = cls.__new__(cls)
        made._take(name, ids)
        return made

    def _take(self, name: str, array: npt.NDArray[Any]) -> None:
        ids = as_ids(name, array)
        self._ids: Ids = ids if np.all(ids[1:] > ids[:-1]) else np.unique(ids)

    def _set(self, filter: _structs.Filter) -> None:
        filter.kind = _IDS
        filter.ids = _structs.IdList(address(self._ids), len(self._ids))

    def __len__(self) -> int:
        return len(self._ids)

    def __repr__(self) -> str:
        return f"IdSet({len(self._ids)} ids)"


def as_array(given: Any) -> npt.NDArray[Any]:
    """Ids or bools, sets among them."""
    return np.asarray(sorted(given) if isinstance(given, (set, frozenset)) else given)


FilterLike = Union[
    None,
    Bitset,
    IdSet,
    range,
    Callable[[int], Any],
    npt.ArrayLike,
    "set[int]",
    "frozenset[int]",
]


class AppliedFilter:
    """A filter of the library's; holds what it points to, and what the function raised."""

    def __init__(self, filter: FilterLike, use: Use) -> None:
        self.error: BaseException | None = None
        #: Whether the search asks a function of Python's.
        self.calls_python = False
        self._use = use
        self._held: Any = None
        self._filter = default_options(_structs.Filter, lib.polar_filter_init_sized)
        #: Its address, for the library; 0 where there is none.
        self.address = 0 if filter is None else ctypes.addressof(self._filter)
        if filter is None:
            return
        if isinstance(filter, _ForManySearches):
            self._apply_prepared(filter)
        elif isinstance(filter, range):
            self._apply_range(filter)
        elif callable(filter):
            self._apply_function(filter)
        else:
            self._apply_array(filter)

    def _apply_prepared(self, filter: _ForManySearches) -> None:
        self._held = filter._prepare()
        self._filter.kind = _PREPARED
        self._filter.prepared = self._held.handle

    def _apply_range(self, ids: range) -> None:
        largest = 2**63 - 1
        if ids.step < 0:
            ids = ids[::-1]
        count = max(0, -(-(min(ids.stop, largest + 1) - ids.start) // ids.step))
        if ids.step != 1 or count == 0:
            numbers = np.arange(count, dtype=np.int64)
            self._apply_ids(ids.start + ids.step * numbers if count else numbers)
        elif ids.stop == largest:  # which as an end stands for none
            self._apply_function(ids.__contains__)
        else:
            self._filter.kind = _RANGE
            begin, end = max(-largest, ids.start), max(-largest, min(ids.stop, largest))
            self._filter.range = _structs.IdRange(begin, end)

    def _apply_array(self, given: Any) -> None:
        array = as_array(given)
        if array.dtype == np.bool_:
            self._held = Bitset(array)
            self._held._set(self._filter)
        else:
            self._apply_ids(array)

    def _apply_ids(self, ids: npt.NDArray[Any]) -> None:
        self._held = IdSet._named("filter", ids)
        self._held._set(self._filter)

    def _apply_function(self, keep: Callable[[int], Any]) -> None:
        def asked(user: int | None, id: int) -> int:
            if self.error is not None:
                return 0
            try:
                with callback_of(self._use):
                    return 1 if keep(id) else 0
            except BaseException as error:  # carried over the C library
                self.error = error
                return 0

        self.calls_python = True
        self._held = _structs.KeepFunction(asked)
        self._filter.kind = _CALLBACK
        self._filter.callback.keep = self._held
