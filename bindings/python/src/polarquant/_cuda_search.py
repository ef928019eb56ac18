# SPDX-License-Identifier: MIT
"""Searches of one shape on a device, which are started and not waited for."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from polarquant import _structs
from polarquant._arrays import as_int
from polarquant._device_arrays import is_on_device, output_anywhere, rows_anywhere
from polarquant._device_search import (
    ArrayShape,
    applied_filter,
    new_arrays_beside,
    result_shapes,
)
from polarquant._handle import Handle, create
from polarquant._library import lib
from polarquant._use import Use
from polarquant.errors import BadArgumentError

_INT32 = np.dtype(np.int32)
_LARGEST = 2**63 - 1


class CudaSearch(Handle):
    """Searches of one shape on a device, which are started and not waited for.

    Made by `CudaIndex.prepare_search`; it keeps what it needs of the index.
    """

    _destroy = lib.polar_cuda_search_destroy
    _dim: int
    _nq: int
    _k: int

    @classmethod
    def _prepare(
        cls,
        use: Use,
        shape: tuple[int, int, int],
        filter: Any,
        options: _structs.SearchOptions,
    ) -> CudaSearch:
        """Of the index of `use`. shape: nq, dim, k."""
        nq, dim, k = shape
        nq, k = as_int("nq", nq, 1, _LARGEST), as_int("k", k, 1, _LARGEST)
        with use.shared as handle, applied_filter(filter, use, None, options):
            function = lib.polar_cuda_search_create
            made = cls._adopt(create(function, handle, nq, k, ctypes.byref(options)))
        made._nq, made._dim, made._k = nq, dim, k
        return made

    @property
    def nq(self) -> int:
        """Queries of a start."""
        return self._nq

    @property
    def dim(self) -> int:
        """Dimensions of a query."""
        return self._dim

    @property
    def k(self) -> int:
        """Neighbors of each query."""
        return self._k

    @property
    def memory_bytes(self) -> int:
        """Bytes of the device's memory that it has, without the index."""
        out = ctypes.c_size_t()
        self._read(lib.polar_cuda_search_memory_bytes, ctypes.byref(out))
        return out.value

    def start(
        self, queries: Any, *, out: tuple[Any, Any, Any] | None = None, stream: int | None = None
    ) -> tuple[Any, Any, Any]:
        """Puts a search on a stream and returns its arrays: scores, float32, and ids, int64, (nq, k),
        and unfinished, int32, (1,). They hold something once the stream has come there.

        Where unfinished is 0, scores and ids are those of `CudaIndex.search`. It is 1 where more rows
        were near than the memory has room for, as where very many are alike, or where a query is not
        finite or nearly too long: then `CudaIndex.search` finds them, or says what is wrong.

        queries: (nq, dim), float32, contiguous, in the device's memory, with
        `__cuda_array_interface__` (CuPy, PyTorch, Numba) or DLPack (JAX). They are read when the stream
        comes there; keep them until then.
        out: the three arrays, contiguous, in the device's memory, which are returned; None makes new
        ones, of CuPy or PyTorch, as `CudaIndex.search` does.
        stream: a cudaStream_t of the device as a number; None is the default stream.

        Takes no memory and waits for nothing, so that a CUDA graph can hold it (give `out` then). The
        starts of one CudaSearch, and launches of graphs with it, are to follow each other, as those on
        one stream do.
        """
        if not is_on_device(queries):
            raise BadArgumentError(
                f"queries: {type(queries).__name__} in host memory is not allowed; an array in the "
                "device's"
            )
        rows = rows_anywhere("queries", queries, self._dim, stream)
        if rows.shape[0] != self._nq:
            raise BadArgumentError(
                f"queries: shape {rows.shape} is not allowed; ({self._nq}, {self._dim})"
            )
        wanted = [*result_shapes((self._nq, self._k)), ArrayShape((1,), _INT32)]
        if out is None:
            made = new_arrays_beside(queries, wanted)
            out = (made[0], made[1], made[2])
        if not isinstance(out, tuple) or len(out) != len(wanted):
            raise TypeError("out: a tuple of three arrays is allowed, scores, ids, unfinished")
        written = [
            output_anywhere(f"out[{number}]", array, *one).address
            for number, (array, one) in enumerate(zip(out, wanted))
        ]
        self._read(lib.polar_cuda_search_start, rows.address, stream, *written)
        return out
