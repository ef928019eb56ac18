# SPDX-License-Identifier: MIT
"""A search call: arguments in, options made, scores and ids out. The same for all that can search."""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

from polarquant import _structs
from polarquant._arrays import Floats, Ids, address, as_int, as_rows_or_vector
from polarquant._library import check, search_options
from polarquant._progress import LongCall, ProgressLike
from polarquant._use import Use
from polarquant.errors import BadArgumentError
from polarquant.filters import AppliedFilter, FilterLike

#: Queries times coordinates from which Ctrl-C is listened for: a few milliseconds of a fast search,
#: seconds of the slowest.
_LONG_WORK = 1_000_000_000


#: (number of queries, their address, k, options or None, address of scores, address of ids) → status
SearchFunction = Callable[[int, int, int, Any, int, int], int]


def run_search(
    function: SearchFunction,
    use: Use,
    queries: npt.ArrayLike,
    dim: int,
    k: int,
    rows: int,
    filter: FilterLike,
    exactness: float | None,
    num_threads: int,
    progress: ProgressLike,
    nprobe: int = 0,
    ef_search: int = 0,
    k_factor: float = 0,
) -> tuple[Floats, Ids]:
    """Scores and ids, (nq, k); (k,) for one query of shape (dim,)."""
    given = as_rows_or_vector("queries", queries, dim)
    nq = 1 if given.ndim == 1 else given.shape[0]
    k = as_int("k", k, 1, 2**63 - 1)
    shape = (k,) if given.ndim == 1 else (nq, k)
    scores = np.empty(shape, dtype=np.float32)
    ids = np.empty(shape, dtype=np.int64)
    is_long = nq * rows * dim >= _LONG_WORK or progress
    if not is_long and filter is None:
        _, where = _options_of_numbers(exactness, num_threads, nprobe, ef_search, k_factor)
        check(function(nq, address(given), k, where, address(scores), address(ids)))
        return scores, ids
    options = make_search_options(exactness, num_threads, nprobe, ef_search, k_factor)
    applied = AppliedFilter(filter, use)
    options.filter = applied.address
    arguments = (nq, address(given), k, ctypes.addressof(options), address(scores), address(ids))
    # A function of the caller's would lose a Ctrl-C that comes while it runs.
    if not is_long and not applied.calls_python:
        check(function(*arguments))
        return scores, ids
    with LongCall("search", progress, use) as call:
        options.progress = call.function
        status = function(*arguments)
        if applied.error is None:
            call.check(status)
    if applied.error is not None:
        raise applied.error
    return scores, ids


#: (number of queries, k, address of the bytes' number) → status
PartialBytesFunction = Callable[[int, int, Any], int]
#: (number of queries, their address, k, options or None, capacity, address, address of the bytes' number)
#: → status
PartialFunction = Callable[[int, int, int, Any, int, int, Any], int]


def run_search_partial(
    bytes_function: PartialBytesFunction, function: PartialFunction, *arguments: Any
) -> bytes:
    """A partial result; arguments as those of run_search from `use` on."""
    found = b""

    def search(nq: int, q: int, k: int, options: Any, _scores: int, _ids: int) -> int:
        nonlocal found
        size, capacity, status = ctypes.c_size_t(), -1, 0
        while True:
            check(bytes_function(nq, k, ctypes.byref(size)))
            # The error's text is that of the search before, which success does not clear.
            if size.value <= capacity:
                return status
            capacity = size.value
            partial = np.empty(capacity, dtype=np.uint8)
            status = function(nq, q, k, options, capacity, address(partial), ctypes.byref(size))
            # Perhaps rows were added meanwhile, for which there is no memory.
            if status != BadArgumentError.status:
                found = partial[: size.value].tobytes()
                return status

    run_search(search, *arguments)
    return found


#: (number of queries, their address, radius, options, capacity, addresses of lims, scores, ids) → status
RangeSearchFunction = Callable[[int, int, float, Any, int, int, int, int], int]


def run_range_search(
    function: RangeSearchFunction,
    use: Use,
    queries: npt.ArrayLike,
    dim: int,
    radius: float,
    rows: int,
    filter: FilterLike,
    options: _structs.SearchOptions,
    progress: ProgressLike,
) -> tuple[Ids, Floats, Ids]:
    """lims, (nq + 1,), scores and ids. Searches twice, the first time to count."""
    given = as_rows_or_vector("queries", queries, dim)
    nq = 1 if given.ndim == 1 else given.shape[0]
    applied = AppliedFilter(filter, use)
    options.filter = applied.address
    lims = np.zeros(nq + 1, dtype=np.int64)
    scores, ids = np.empty(0, dtype=np.float32), np.empty(0, dtype=np.int64)

    def search() -> int:
        where = (address(lims), address(scores), address(ids))
        what = (float(radius), ctypes.addressof(options), len(ids))
        return function(nq, address(given), *what, *where)

    def grow() -> bool:
        nonlocal scores, ids
        found = int(lims[-1])
        if found <= len(ids):
            return False
        scores, ids = np.empty(found, dtype=np.float32), np.empty(found, dtype=np.int64)
        return True

    is_long = nq * rows * dim >= _LONG_WORK or progress or applied.calls_python
    # Rows that come between two searches may be more than the first one counted.
    if not is_long:
        check(search())
        while grow():
            check(search())
        return lims, scores[: lims[-1]], ids[: lims[-1]]
    with LongCall("range_search", progress, use) as call:
        options.progress = call.function
        call.begin_part(0, 0.5)
        status = search()
        while status == 0 and applied.error is None and grow():
            call.begin_part(0.5, 1)
            status = search()
        if applied.error is None:
            call.check(status)
    if applied.error is not None:
        raise applied.error
    return lims, scores[: lims[-1]], ids[: lims[-1]]


def make_search_options(
    exactness: float | None,
    num_threads: int,
    nprobe: int = 0,
    ef_search: int = 0,
    k_factor: float = 0,
) -> _structs.SearchOptions:
    options = search_options()
    options.num_threads = as_int("num_threads", num_threads, 0, 1024)
    if exactness is not None:
        options.exactness = _as_exactness(exactness)
    options.nprobe = as_int("nprobe", nprobe, 0, 2**63 - 1)
    options.ef_search = as_int("ef_search", ef_search, 0, 2**31 - 1)
    options.k_factor = float(k_factor)
    return options


def _options_of_numbers(*numbers: Any) -> tuple[_structs.SearchOptions, int]:
    """Options without filter or progress, and their address. Made anew they take 4 µs, a tenth of a
    search of some lists, so those that were used lately are kept; no one writes to them."""
    try:
        return _kept_options(*numbers)
    except TypeError:  # of no integer, which may also be no key; the text is make_search_options'
        options = make_search_options(*numbers)
        return options, ctypes.addressof(options)


# Typed: 1.0 is no integer, though it is equal to one.
@functools.lru_cache(maxsize=32, typed=True)
def _kept_options(*numbers: Any) -> tuple[_structs.SearchOptions, int]:
    options = make_search_options(*numbers)
    return options, ctypes.addressof(options)


def _as_exactness(exactness: float) -> float:
    value = float(exactness)
    if math.isnan(value) or value < 0:
        raise BadArgumentError(f"exactness: {value} is not allowed; 0 to infinity")
    return value
