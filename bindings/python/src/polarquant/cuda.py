# SPDX-License-Identifier: MIT
"""Searches and encoding on NVIDIA GPUs, by libpolarquant_cuda where the package was built with it.

Without that library, or a device, every call raises UnsupportedError that says which is missing.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from polarquant import _structs
from polarquant._arrays import CodesLike, Floats, Ids, address, as_int
from polarquant._device_arrays import codes_anywhere, rows_anywhere
from polarquant._handle import Handle, create
from polarquant._library import check, default_options, lib, sized
from polarquant._search import run_search
from polarquant.codec import Codec
from polarquant.filters import FilterLike
from polarquant.index import Index

__all__ = ["CudaDevice", "CudaEncoder", "CudaIndex", "devices"]


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


class CudaEncoder(Handle):
    """What encoding needs of a trained codec, in a device's memory. Immutable.

    codec: "Polar0.5" to "Polar5" of more than 64 dimensions, rotated as they are by default or with
    "-norot". It may change, or go, afterwards.
    device: its number, a place in `devices`.

    Raises UnsupportedError for other codecs and for rows too long for the device (some 13,000
    dimensions), NotTrainedError, OutOfMemoryError, CudaError. Threads may encode at the same time.
    """

    _destroy = lib.polar_cuda_encoder_destroy

    def __init__(self, codec: Codec, device: int = 0) -> None:
        options = _make_options(device)
        function = lib.polar_cuda_encoder_create
        with codec._use.shared as handle:
            super().__init__("CudaEncoder", create(function, handle, ctypes.byref(options)))
        self._dim, self._code_size = codec.dim, codec.code_size

    @property
    def dim(self) -> int:
        """Dimensions of a vector."""
        return self._dim

    @property
    def code_size(self) -> int:
        """Bytes of one code, factors included."""
        return self._code_size

    def encode(self, x: Any, *, out: Any = None, stream: int | None = None) -> Any:
        """Codes of rows x, (n, dim): uint8, (n, code_size), the bytes of `Codec.encode`.

        x: an array in the host's memory, of any type of number; or one in the device's, float32 and
        contiguous, that has `__cuda_array_interface__` (CuPy, PyTorch, Numba).
        out: where the codes go, which is returned: uint8, (n, code_size), contiguous, writable, in
        the host's memory or the device's; None makes an array in the host's.
        stream: a cudaStream_t of the device as a number; None is the default stream. It is waited
        for. What wrote x must have been put on it, or have ended.
        Raises BadArgumentError that names the row for one that is not finite or is outside the
        unit's range; `out` then holds nothing of use.
        """
        rows = rows_anywhere("x", x, self._dim)
        n = rows.shape[0]
        shape = (n, self._code_size)
        codes = np.empty(shape, dtype=np.uint8) if out is None else out
        written = codes_anywhere("out", codes, shape)
        function = lib.polar_cuda_encoder_encode
        self._read(function, n, rows.address, written.address, n * self._code_size, stream)
        return codes


def _make_options(device: int) -> _structs.CudaOptions:
    options = default_options(_structs.CudaOptions, lib.polar_cuda_options_init)
    options.device = as_int("device", device, 0, 2**31 - 1)
    return options
