# SPDX-License-Identifier: MIT
"""A search on a device whose queries, filter and results may lie in the device's memory."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from polarquant import _structs
from polarquant._arrays import as_int
from polarquant._device_arrays import (
    is_on_device,
    output_anywhere,
    rows_or_vector_anywhere,
    words_on_device,
)
from polarquant._library import check, default_options, lib
from polarquant._search import SearchFunction
from polarquant._use import Use
from polarquant.errors import BadArgumentError
from polarquant.filters import AppliedFilter

_BITSET = 1
_FLOAT32 = np.dtype(np.float32)
_INT64 = np.dtype(np.int64)


class DeviceSearch(NamedTuple):
    """What is searched for, and where the arrays are."""

    queries: Any
    k: int
    filter: Any
    #: Scores and ids, or None for new arrays beside the queries.
    out: Any
    stream: int | None

    @property
    def has_device_arrays(self) -> bool:
        """Whether more is needed than NumPy's arrays in and out."""
        return self.out is not None or is_on_device(self.queries) or is_on_device(self.filter)


def run_device_search(
    function: SearchFunction,
    use: Use,
    search: DeviceSearch,
    dim: int,
    options: _structs.SearchOptions,
) -> tuple[Any, Any]:
    """Scores and ids, (nq, k); (k,) for one query of shape (dim,)."""
    given = rows_or_vector_anywhere("queries", search.queries, dim, search.stream)
    k = as_int("k", search.k, 1, 2**63 - 1)
    nq = 1 if len(given.shape) == 1 else given.shape[0]
    shape = (k,) if len(given.shape) == 1 else (nq, k)
    wanted = result_shapes(shape)
    out = new_arrays_beside(search.queries, wanted) if search.out is None else search.out
    if not isinstance(out, tuple) or len(out) != 2:
        raise TypeError("out: a tuple of two arrays is allowed, scores and ids")
    scores = output_anywhere("out[0]", out[0], shape, _FLOAT32)
    ids = output_anywhere("out[1]", out[1], shape, _INT64)
    with applied_filter(search.filter, use, search.stream, options):
        check(
            function(nq, given.address, k, ctypes.addressof(options), scores.address, ids.address)
        )
    return out[0], out[1]


@contextlib.contextmanager
def applied_filter(
    filter: Any, use: Use, stream: int | None, options: _structs.SearchOptions
) -> Iterator[None]:
    """While the options have a filter, which may lie in the device's memory. Raises what a function
    of the caller's did, in the place of the error that follows from it."""
    if is_on_device(filter):
        words = words_on_device("filter", filter, stream)
        given = default_options(_structs.Filter, lib.polar_filter_init_sized)
        given.kind = _BITSET
        given.bitset = _structs.Bitset(words.address, 64 * words.shape[0])
        options.filter = ctypes.addressof(given)
        yield
        return
    applied = AppliedFilter(filter, use)
    options.filter = applied.address
    try:
        yield
    finally:
        if applied.error is not None:
            raise applied.error


class ArrayShape(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def result_shapes(shape: tuple[int, ...]) -> list[ArrayShape]:
    """Of scores and ids."""
    return [ArrayShape(shape, _FLOAT32), ArrayShape(shape, _INT64)]


def new_arrays_beside(queries: Any, wanted: list[ArrayShape]) -> tuple[Any, ...]:
    """New arrays where the queries lie: of their library, or of one that is installed, where theirs
    cannot be written."""
    if not is_on_device(queries):
        return tuple(np.empty(*one) for one in wanted)
    name = type(queries).__module__.partition(".")[0]
    if name in _MAKERS:
        return _MAKERS[name](sys.modules[name], queries.device, wanted)
    place = getattr(queries, "__dlpack_device__", None)
    number = int(place()[1]) if place is not None else 0
    for other in ("cupy", "torch"):
        if importlib.util.find_spec(other) is not None:
            library: Any = importlib.import_module(other)
            device = library.cuda.Device(number) if other == "cupy" else f"cuda:{number}"
            return _MAKERS[other](library, device, wanted)
    raise BadArgumentError(
        f"out: None is not allowed for queries of {name} in a device's memory, where neither CuPy nor "
        f"PyTorch is installed; a tuple of {len(wanted)} arrays"
    )


def _make_by_torch(torch: Any, device: Any, wanted: list[ArrayShape]) -> tuple[Any, ...]:
    return tuple(
        torch.empty(one.shape, dtype=getattr(torch, one.dtype.name), device=device)
        for one in wanted
    )


def _make_by_cupy(cupy: Any, device: Any, wanted: list[ArrayShape]) -> tuple[Any, ...]:
    with device:
        return tuple(cupy.empty(*one) for one in wanted)


_MAKERS = {"torch": _make_by_torch, "cupy": _make_by_cupy}
