# SPDX-License-Identifier: MIT
"""An index in the memory of devices."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from polarquant._arrays import CodesLike, address
from polarquant._cuda_options import Layout, make_places
from polarquant._cuda_search import CudaSearch
from polarquant._device_search import DeviceSearch, run_device_search
from polarquant._handle import Handle, create
from polarquant._library import check, lib
from polarquant._search import make_search_options, run_search
from polarquant.codec import Codec

if TYPE_CHECKING:
    from polarquant._index_traits import IndexTraits


class CudaIndex(Handle):
    """Codes in the memory of one device or several, searched there: the CPU's rows and scores, to the
    bit. Nothing but `refresh` changes it.

    Made by `from_index` or `from_codes`; len() is the number of rows.

    device: its number, a place in `polarquant.cuda.devices()`.
    devices: in its place the numbers of several, at most 64; one may be there more than once, and is
    then used as if it were more.
    layout: of several devices, "sharded" gives each a part of the rows, or of the lists of an inverted
    file, which it searches for every query; "replicated" gives each all rows, and it searches them for
    a part of the queries.
    """

    _destroy = lib.polar_cuda_index_destroy
    _dim: int

    @classmethod
    def from_index(
        cls,
        index: IndexTraits,
        device: int = 0,
        *,
        devices: Sequence[int] | None = None,
        layout: Layout = "sharded",
    ) -> CudaIndex:
        """A copy of an index that is one of "Polar0.5" to "Polar8", a residual or a trained code, alone
        or in an inverted file ("IVF1024,Polar4"), refined or not ("Polar2,Refine(Polar8)").

        Raises UnsupportedError for others, OutOfMemoryError, CudaError.
        """
        options = make_places(device, devices, layout)
        with index._use.shared as handle:
            function = lib.polar_cuda_index_from_index
            made = cls._adopt(create(function, handle, ctypes.byref(options)))
        made._dim = index.dim
        return made

    @classmethod
    def from_codes(
        cls,
        codec: Codec,
        codes: CodesLike,
        n: int | None = None,
        device: int = 0,
        *,
        devices: Sequence[int] | None = None,
        layout: Layout = "sharded",
    ) -> CudaIndex:
        """A copy of codes, (n, code_size), of the caller's; rows have their positions as ids."""
        options = make_places(device, devices, layout)
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

    def refresh(self, index: IndexTraits) -> None:
        """Makes the copy what `from_index` would now make of `index`, on the same devices.

        Where rows have only been added to the index since, and none changed or went, no more than
        these goes over the bus; otherwise, as from another index of the kind, of refinements that
        the host scores, and of devices that have a part of the rows each, all is copied anew. It
        waits for searches of the copy, and they for it. Searches that were prepared go on finding
        the rows that it had.

        Raises StateMismatchError for an index of another kind, and OutOfMemoryError, CudaError: the
        copy is then as it was.
        """
        with index._use.shared as source, self._use.sole as handle:
            check(lib.polar_cuda_index_refresh(handle, source))

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
        """Bytes of all devices' memory: codes, tables, and what searches keep to work in."""
        out = ctypes.c_size_t()
        self._read(lib.polar_cuda_index_memory_bytes, ctypes.byref(out))
        return out.value

    def __len__(self) -> int:
        return self.ntotal

    def search(
        self,
        queries: Any,
        k: int,
        *,
        filter: Any = None,
        exactness: float | None = None,
        nprobe: int = 0,
        num_threads: int = 0,
        out: tuple[Any, Any] | None = None,
        stream: int | None = None,
    ) -> tuple[Any, Any]:
        """As `Index.search`, on the device: scores, float32, and ids, int64, (nq, k) for queries
        (nq, dim), (k,) for (dim,).

        queries: in the host's memory, of any type of number; or in the device's, float32 and
        contiguous, with `__cuda_array_interface__` (CuPy, PyTorch, Numba) or DLPack (JAX).
        filter: as of `Index.search`; or in the device's memory words of 64 bits, uint64 or int64,
        (n,): bit i % 64 of word i // 64 keeps id i.
        nprobe: lists of an inverted file searched for each query; 0 is the index's `nprobe` when it
        was copied.
        out: two arrays for the results, scores and ids, which are returned: contiguous, each in the
        host's memory or the device's, there with `__cuda_array_interface__`. None makes NumPy arrays,
        and for queries in the device's memory arrays there, of CuPy or PyTorch: of the queries' library
        if it is one of these, else of the first that is installed, which JAX takes by DLPack.
        stream: a cudaStream_t of the device as a number; None is the default stream, and all that
        an index on several devices takes. It is waited for. What wrote an array must have been put
        on it, or have ended; DLPack sees to that. num_threads prepare queries in the host's memory,
        and merge what several devices found.

        One device uses arrays in its memory where they lie; docs/cuda.md says which are copied.
        """
        with self._use.shared as handle:

            def function(nq: int, q: int, k: int, options: Any, scores: int, ids: int) -> int:
                status: int = lib.polar_cuda_index_search(
                    handle, nq, q, k, options, stream, scores, ids
                )
                return status

            search = DeviceSearch(queries, k, filter, out, stream)
            if search.has_device_arrays:
                made = make_search_options(exactness, num_threads, nprobe)
                return run_device_search(function, self._use, search, self._dim, made)
            rows = lib.polar_cuda_index_ntotal(handle)
            asked = (filter, exactness, num_threads, None, nprobe)
            return run_search(function, self._use, queries, self._dim, k, rows, *asked)

    def prepare_search(
        self, nq: int, k: int, *, filter: Any = None, exactness: float | None = None
    ) -> CudaSearch:
        """Takes the memory for searches of nq queries for k neighbors, which `CudaSearch.start` puts on
        a stream without waiting for them, alone or in a CUDA graph. The filter is asked now.

        For an index on one device that has rows, is no inverted file and no refinement. Raises
        UnsupportedError for others, OutOfMemoryError, CudaError.
        """
        options = make_search_options(exactness, 0)
        return CudaSearch._prepare(self._use, (nq, self._dim, k), filter, options)
