# SPDX-License-Identifier: MIT
"""Searches on NVIDIA GPUs, by libpolarquant_cuda where the package was built with it.

Without that library, or a device, every call raises UnsupportedError that says which is missing.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy.typing as npt

from polarquant import _structs
from polarquant._arrays import CodesLike, Floats, Ids, address, as_int
from polarquant._handle import Handle, create
from polarquant._library import check, default_options, lib, sized
from polarquant._search import run_search
from polarquant.codec import Codec
from polarquant.filters import FilterLike
from polarquant.index import Index

__all__ = ["CudaDevice", "CudaIndex", "devices"]


class CudaDevice(NamedTuple):
    """A device of this machine."""

    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    total_bytes: int
    free_bytes: int


def devices() -> tuple[CudaDevice, ...]:
    """The devices; a device's number is its place. Raises UnsupportedError, CudaError."""
    count = ctypes.c_int32()
    check(lib.polar_cuda_device_count(ctypes.byref(count)))
    return tuple(_read_device(device) for device in range(count.value))


def _read_device(device: int) -> CudaDevice:
    raw = sized(_structs.CudaDeviceInfo)
    check(lib.polar_cuda_get_device_info(device, ctypes.byref(raw)))
    return CudaDevice(
        raw.name.decode("utf-8", "replace"),
        (raw.compute_major, raw.compute_minor),
        raw.multiprocessors,
        raw.total_bytes,
        raw.free_bytes,
    )


class CudaIndex(Handle):
    """Codes in a device's memory, searched there: the CPU's rows and scores, to the bit. Immutable.

    Made by `from_index` or `from_codes`; len() is the number of rows.
    """

    _destroy = lib.polar_cuda_index_destroy
    _dim: int

    @classmethod
    def from_index(cls, index: Index, device: int = 0) -> CudaIndex:
        """A copy of an index that is one of "Polar0.5" to "Polar8" or a residual code alone.

        Raises UnsupportedError for others, OutOfMemoryError, CudaError.
        """
        options = _make_options(device)
        with index._use.shared as handle:
            function = lib.polar_cuda_index_from_index
            made = cls._adopt(create(function, handle, ctypes.byref(options)))
        made._dim = index.dim
        return made

    @classmethod
    def from_codes(
        cls, codec: Codec, codes: CodesLike, n: int | None = None, device: int = 0
    ) -> CudaIndex:
        """A copy of codes, (n, code_size), of the caller's; rows have their positions as ids."""
        options = _make_options(device)
        array, n = codec._as_coded(codes, n)
        with codec._use.shared as handle:
            function = lib.polar_cuda_index_from_codes
            made = cls._adopt(
                create(
                    function,
                    handle,
                    n,
                    address(array),
                    array.nbytes,
                    ctypes.byref(options),
                )
            )
        made._dim = codec.dim
        return made

    @property
    def dim(self) -> int:
        """Dimensions of a vector."""
        return self._dim

    @property
    def ntotal(self) -> int:
        """Rows held."""
        with self._use.shared as handle:
            return int(lib.polar_cuda_index_ntotal(handle))

    @property
    def memory_bytes(self) -> int:
        """Bytes of device memory: codes, tables, and what searches keep to work in."""
        with self._use.shared as handle:
            return int(lib.polar_cuda_index_memory_bytes(handle))

    def __len__(self) -> int:
        return self.ntotal

    def search(
        self,
        queries: npt.ArrayLike,
        k: int,
        *,
        filter: FilterLike = None,
        exactness: float | None = None,
        num_threads: int = 0,
        stream: int | None = None,
    ) -> tuple[Floats, Ids]:
        """As `Index.search`, on the device. queries are in host memory, and so are results.

        stream: a cudaStream_t of the device as a number; None is the default stream. It is waited
        for. num_threads prepare the queries.
        """
        with self._use.shared as handle:

            def function(nq: int, q: int, k: int, options: Any, scores: int, ids: int) -> int:
                status: int = lib.polar_cuda_index_search(
                    handle, nq, q, k, options, stream, scores, ids
                )
                return status

            rows = lib.polar_cuda_index_ntotal(handle)
            asked = (filter, exactness, num_threads, None)
            return run_search(function, self._use, queries, self._dim, k, rows, *asked)


def _make_options(device: int) -> _structs.CudaOptions:
    options = default_options(_structs.CudaOptions, lib.polar_cuda_options_init)
    options.device = as_int("device", device, 0, 2**31 - 1)
    return options
