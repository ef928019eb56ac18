# SPDX-License-Identifier: MIT
"""Which rows a search may return, by id.

A search's argument `filter` takes

- a bool array or list, (n,): ids whose element is True; ids from n on are left out;
- an integer array, list, tuple, set or frozenset: these ids, in any order;
- a range with step 1: its ids, at no cost;
- a function from an id to a bool: asked row by row, which is slow;
- a `Bitset`: a bool array packed once, for many searches.

Rows that a filter leaves out cost next to nothing.
"""

from __future__ import annotations

import ctypes
from typing import Any, Callable, Union

import numpy as np
import numpy.typing as npt

from polarquant import _structs
from polarquant._arrays import Ids, address, as_ids
from polarquant._library import default_options, lib
from polarquant._use import Use, callback_of
from polarquant.errors import BadArgumentError

_BITSET, _IDS, _RANGE, _CALLBACK = range(1, 5)


class Bitset:
    """Ids that a search may return, one bit each.

    mask: (n,), bool; id i is kept where mask[i] is True, ids from n on are left out.
    Raises BadArgumentError for another shape or type. Immutable.
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

    def __len__(self) -> int:
        return self._num_bits

    def __repr__(self) -> str:
        return f"Bitset({self._num_bits} bits)"


FilterLike = Union[
    None,
    Bitset,
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
        self._filter = default_options(_structs.Filter, lib.polar_filter_init)
        #: Its address, for the library; 0 where there is none.
        self.address = 0 if filter is None else ctypes.addressof(self._filter)
        if filter is None:
            return
        if isinstance(filter, Bitset):
            self._apply_bitset(filter)
        elif isinstance(filter, range):
            self._apply_range(filter)
        elif callable(filter):
            self._apply_function(filter)
        else:
            self._apply_array(filter)

    def _apply_bitset(self, bitset: Bitset) -> None:
        self._held = bitset
        self._filter.kind = _BITSET
        self._filter.bitset = _structs.Bitset(address(bitset._words), len(bitset))

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
        array = np.asarray(sorted(given) if isinstance(given, (set, frozenset)) else given)
        if array.dtype == np.bool_:
            self._apply_bitset(Bitset(array))
        else:
            self._apply_ids(as_ids("filter", array))

    def _apply_ids(self, ids: Ids) -> None:
        if not np.all(ids[1:] > ids[:-1]):
            ids = np.unique(ids)
        self._held = ids
        self._filter.kind = _IDS
        self._filter.ids = _structs.IdList(address(ids), len(ids))

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
