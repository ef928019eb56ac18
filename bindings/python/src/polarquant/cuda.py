# SPDX-License-Identifier: MIT
"""Searches, encoding, scores and sums on NVIDIA GPUs, by libpolarquant_cuda where the package was
built with it.

Without that library, or a device, every call raises UnsupportedError that says which is missing.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from polarquant import _structs
from polarquant._arrays import Floats, address, as_floats, as_int
from polarquant._cuda_index import CudaIndex
from polarquant._cuda_options import Layout, make_options
from polarquant._cuda_search import CudaSearch
from polarquant._device_arrays import (
    AnyArray,
    codes_anywhere,
    floats_anywhere,
    output_anywhere,
    rows_anywhere,
)
from polarquant._handle import Handle, create
from polarquant._library import check, lib, sized
from polarquant.codec import Codec
from polarquant.errors import BadArgumentError

__all__ = [
    "CudaCodec",
    "CudaDevice",
    "CudaEncoder",
    "CudaIndex",
    "CudaSearch",
    "Layout",
    "devices",
]

_FLOAT32 = np.dtype(np.float32)
_UINT8 = np.dtype(np.uint8)


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


class CudaEncoder(Handle):
    """What encoding needs of a trained codec, in a device's memory. Immutable.

    codec: "Polar0.5" to "Polar5" of more than 64 dimensions, rotated as they are by default or with
    "-norot", or a trained code of as many ("Polar4-pca"). It may change, or go, afterwards.
    device: its number, a place in `devices`.

    Raises UnsupportedError for other codecs and for rows too long for the device (some 13,000
    dimensions), NotTrainedError, OutOfMemoryError, CudaError. Threads may encode at the same time.
    """

    _destroy = lib.polar_cuda_encoder_destroy

    def __init__(self, codec: Codec, device: int = 0) -> None:
        options = make_options(device)
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
        contiguous, that has `__cuda_array_interface__` (CuPy, PyTorch, Numba) or DLPack (JAX).
        out: where the codes go, which is returned: uint8, (n, code_size), contiguous, writable, in
        the host's memory or the device's; None makes an array in the host's.
        stream: a cudaStream_t of the device as a number; None is the default stream. It is waited
        for. What wrote x must have been put on it, or have ended.
        Raises BadArgumentError that names the row for one that is not finite or is outside the
        unit's range; `out` then holds nothing of use.
        """
        rows = rows_anywhere("x", x, self._dim, stream)
        n = rows.shape[0]
        shape = (n, self._code_size)
        codes = np.empty(shape, dtype=_UINT8) if out is None else out
        written = output_anywhere("out", codes, shape, _UINT8)
        function = lib.polar_cuda_encoder_encode
        self._read(function, n, rows.address, written.address, n * self._code_size, stream)
        return codes


class CudaCodec(Handle):
    """What decoding needs of a trained codec, in a device's memory: scores and weighted sums of rows
    that the caller holds, by heads as attention has its keys and values. Immutable.

    codec: any but "PolarScalar…" by "l2" whose dimensions are no multiple of 128. It may change, or
    go, afterwards.
    device: its number, a place in `devices`.

    Codes and scores, or codes and weights, are each an array in the host's memory, or one in the
    device's that is contiguous and has `__cuda_array_interface__` (CuPy, PyTorch, Numba): codes
    uint8, the others float32. What wrote them must have been put on `stream`, a cudaStream_t of the
    device as a number (None is the default stream), or have ended; the stream is waited for.

    Numbers are the CPU's up to the rounding of floats, and the same from call to call. Raises
    UnsupportedError for another codec, NotTrainedError, OutOfMemoryError, CudaError. Threads may use
    one at the same time.
    """

    _destroy = lib.polar_cuda_codec_destroy

    def __init__(self, codec: Codec, device: int = 0) -> None:
        options = make_options(device)
        options.num_threads = codec._num_threads
        function = lib.polar_cuda_codec_create
        with codec._use.shared as handle:
            super().__init__("CudaCodec", create(function, handle, ctypes.byref(options)))
        self._info = codec.info

    @property
    def dim(self) -> int:
        """Dimensions of a vector."""
        return self._info.dim

    @property
    def code_size(self) -> int:
        """Bytes of one code, factors included."""
        return self._info.code_bytes

    def score(
        self,
        queries: npt.ArrayLike,
        codes: Any,
        n: int | None = None,
        *,
        out: Any = None,
        stream: int | None = None,
    ) -> Any:
        """`Codec.score` of the rows of each head, for the queries of that head: float32.

        queries: (heads, nq, dim) in the host's memory, for codes (heads, n, code_size): scores are
        (heads, nq, n). With one head: (nq, dim) for (n, code_size), (nq, n); or (dim,), (n,). At
        most 65535 heads, and queries of each.
        n: rows of each head, where the codes' shape does not tell them, as that of "…g128".
        out: where the scores go, which is returned: float32, contiguous, writable, in the host's
        memory or the device's; None makes an array in the host's.
        Raises BadArgumentError for a shape, and for queries that are not finite.
        """
        given = as_floats("queries", queries)
        if not 1 <= given.ndim <= 3 or given.shape[-1] != self.dim:
            raise BadArgumentError(
                f"queries: shape {given.shape} is not allowed; (heads, nq, {self.dim}), "
                f"(nq, {self.dim}) or ({self.dim},)"
            )
        held, n = self._as_heads(codes, given.shape[:-2], n)
        shape = (*given.shape[:-1], n)
        scores = np.empty(shape, dtype=_FLOAT32) if out is None else out
        written = output_anywhere("out", scores, shape, _FLOAT32)
        coded = (n, held.address, math.prod(held.shape))
        function = lib.polar_cuda_codec_score
        heads, nq = _count_vectors(given.shape)
        self._read(function, heads, nq, address(given), *coded, stream, written.address)
        return scores

    def combine(
        self, weights: Any, codes: Any, n: int | None = None, *, stream: int | None = None
    ) -> Floats:
        """`Codec.combine` of the rows of each head, by the weights of that head: float32.

        weights: (heads, nw, n), for codes (heads, n, code_size): sums are (heads, nw, dim). With one
        head: (nw, n) for (n, code_size), (nw, dim); or (n,), (dim,). At most 65535 heads, and
        vectors of weights of each. The sums are in the host's memory.
        n: rows of each head, where the codes' shape does not tell them, as that of "…g128".
        Raises BadArgumentError for a shape, and for weights that are not finite, or whose sums are
        not.
        """
        given = floats_anywhere("weights", weights)
        if not 1 <= len(given.shape) <= 3:
            raise BadArgumentError(
                f"weights: shape {given.shape} is not allowed; (heads, nw, n), (nw, n) or (n,)"
            )
        held, n = self._as_heads(codes, given.shape[:-2], n)
        if given.shape[-1] != n:
            wanted = (*given.shape[:-1], n)
            raise BadArgumentError(f"weights: shape {given.shape} is not allowed; {wanted}")
        out = np.empty((*given.shape[:-1], self.dim), dtype=_FLOAT32)
        coded = (n, held.address, math.prod(held.shape))
        function = lib.polar_cuda_codec_combine
        heads, nw = _count_vectors(given.shape)
        self._read(function, heads, nw, given.address, *coded, stream, address(out))
        return out

    def _as_heads(self, codes: Any, heads: tuple[int, ...], n: int | None) -> tuple[AnyArray, int]:
        """Codes of all heads, and the rows of each. heads: (number,), or () for one alone."""
        info = self._info
        found = codes_anywhere("codes", codes)
        if n is not None:
            n = as_int("n", n, 0, 2**63 - 1)
        elif info.group_rows > 1:
            raise BadArgumentError(
                f"n: None is not allowed where {info.group_rows} rows share a code; the number of "
                "rows"
            )
        else:
            front, size = found.shape[:-2], found.shape[-1:]
            if len(found.shape) < 2 or front != heads or size != (info.code_bytes,):
                wanted = ", ".join([*map(str, heads), "n", str(info.code_bytes)])
                raise BadArgumentError(f"codes: shape {found.shape} is not allowed; ({wanted})")
            n = found.shape[-2]
        groups, left = divmod(n, info.group_rows)
        head_bytes = groups * info.code_bytes + left * info.tail_row_bytes
        given, all_heads = math.prod(found.shape), math.prod(heads)
        if given != all_heads * head_bytes:
            raise BadArgumentError(
                f"codes: {given} bytes; {all_heads} heads of {n} rows have {all_heads * head_bytes}"
            )
        return found, n


def _count_vectors(shape: tuple[int, ...]) -> tuple[int, int]:
    """Heads, and vectors of each, of an array (heads, vectors, numbers) with none of them or both."""
    return math.prod(shape[:-2]), math.prod(shape[-2:-1])
