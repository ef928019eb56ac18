# SPDX-License-Identifier: MIT
"""What callers pass in, as the arrays and numbers that the C library reads.

A float32 array that is contiguous is used where it lies; all else is copied once.
"""

from __future__ import annotations

import ctypes
import operator
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from polarquant.errors import BadArgumentError

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint8]
CodesLike = Union[npt.NDArray[np.uint8], bytes, bytearray, memoryview]

_FLOAT32 = np.dtype(np.float32)
_INT64 = np.dtype(np.int64)
_UINT8 = np.dtype(np.uint8)
_INT64_RANGE = range(-(2**63), 2**63)


def address(array: npt.NDArray[Any]) -> int:
    """Where the first element of a contiguous array lies."""
    if array.flags.writeable and array.size > 0:
        # A fifth of the time of the other way, which also knows arrays that cannot be written.
        buffer: Any = array
        return ctypes.addressof(ctypes.c_byte.from_buffer(buffer))
    where: int = array.ctypes.data
    return where


def as_int(name: str, value: Any, low: int, high: int) -> int:
    """An integer from low to high: C integers would silently lose the bits above."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r} is not an integer") from None
    if not low <= number <= high:
        raise BadArgumentError(f"{name}: {number} is not allowed; {low} to {high}")
    return number


def as_text(name: str, value: Any) -> bytes:
    """A text for C, whose end is its first zero byte."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: {value!r} is not a str")
    if "\0" in value:
        raise BadArgumentError(f"{name}: {value!r} has a zero byte; none is allowed")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise BadArgumentError(f"{name}: {value!r} is no text that UTF-8 can hold") from None


def as_floats(name: str, value: Any) -> Floats:
    """Float32, contiguous, of any shape."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        if value.dtype == _FLOAT32 and flags.c_contiguous and flags.aligned:
            return value
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"{name}: dtype {array.dtype} is not allowed; float32, float64, float16 or integers"
        )
    # What does not fit becomes infinite, which the library refuses by row.
    with np.errstate(over="ignore"):
        copied: Floats = np.array(array, dtype=_FLOAT32, order="C")
    return copied


def as_rows(name: str, value: Any, dim: int) -> Floats:
    """Rows, (n, dim)."""
    array = as_floats(name, value)
    if array.ndim != 2 or array.shape[1] != dim:
        raise BadArgumentError(f"{name}: shape {array.shape} is not allowed; (n, {dim})")
    return array


def as_rows_or_vector(name: str, value: Any, dim: int) -> Floats:
    """Rows, (n, dim), or one vector, (dim,)."""
    array = as_floats(name, value)
    if not 1 <= array.ndim <= 2 or array.shape[-1] != dim:
        raise BadArgumentError(
            f"{name}: shape {array.shape} is not allowed; (n, {dim}) or ({dim},)"
        )
    return array


def as_vector(name: str, value: Any, dim: int) -> Floats:
    """One vector, (dim,)."""
    array = as_floats(name, value)
    if array.shape != (dim,):
        raise BadArgumentError(f"{name}: shape {array.shape} is not allowed; ({dim},)")
    return array


def as_ids(name: str, value: Any) -> Ids:
    """Ids, (n,), int64."""
    array = np.asarray(value)
    if array.ndim != 1:
        raise BadArgumentError(f"{name}: shape {array.shape} is not allowed; (n,)")
    if array.dtype.kind not in "iu" and array.size > 0:
        raise TypeError(f"{name}: dtype {array.dtype} is not allowed; integers")
    if array.dtype.kind == "u" and array.size > 0 and int(array.max()) not in _INT64_RANGE:
        raise BadArgumentError(f"{name}: {array.max()} is not allowed; up to 2^63 - 1")
    if array.dtype == _INT64 and array.flags.c_contiguous and array.flags.aligned:
        return array
    return np.array(array, dtype=_INT64, order="C")


def as_codes(name: str, value: Any) -> Codes:
    """Bytes, contiguous, of any shape."""
    array = value if isinstance(value, np.ndarray) else np.frombuffer(value, dtype=_UINT8)
    if array.dtype != _UINT8:
        raise TypeError(f"{name}: dtype {array.dtype} is not allowed; uint8")
    return np.ascontiguousarray(array)


def count_codes(codes: Codes, code_size: int) -> int:
    """Rows of these codes, whose last axis, where there are two, is one code."""
    if codes.nbytes % code_size or (codes.ndim > 1 and codes.shape[-1] != code_size):
        raise BadArgumentError(f"codes: shape {codes.shape} is not allowed; (n, {code_size})")
    return codes.nbytes // code_size
