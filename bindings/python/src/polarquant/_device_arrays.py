# SPDX-License-Identifier: MIT
"""Arrays that lie in the host's memory or in a device's.

One in a device's memory tells where by `__cuda_array_interface__`, as those of CuPy, PyTorch and
Numba do. It is used where it lies: nothing here copies from a device.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from polarquant._arrays import address, as_codes, as_floats
from polarquant.errors import BadArgumentError

_FLOAT32 = np.dtype(np.float32)
_UINT8 = np.dtype(np.uint8)


class AnyArray(NamedTuple):
    """Where numbers lie that the library reads or writes."""

    address: int
    shape: tuple[int, ...]
    is_writable: bool
    #: Keeps them there.
    held: Any


def rows_anywhere(name: str, x: Any, dim: int) -> AnyArray:
    """Rows, (n, dim), float32."""
    found = floats_anywhere(name, x)
    if len(found.shape) != 2 or found.shape[1] != dim:
        raise BadArgumentError(f"{name}: shape {found.shape} is not allowed; (n, {dim})")
    return found


def floats_anywhere(name: str, value: Any) -> AnyArray:
    """Float32 of any shape."""
    if hasattr(value, "__cuda_array_interface__"):
        return _read_interface(name, value, _FLOAT32)
    floats = as_floats(name, value)
    return AnyArray(address(floats), floats.shape, False, floats)


def codes_anywhere(name: str, value: Any) -> AnyArray:
    """Bytes of any shape."""
    if hasattr(value, "__cuda_array_interface__"):
        return _read_interface(name, value, _UINT8)
    codes = as_codes(name, value)
    return AnyArray(address(codes), codes.shape, False, codes)


def output_anywhere(name: str, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> AnyArray:
    """Where numbers of this type and shape can be written."""
    if hasattr(out, "__cuda_array_interface__"):
        found = _read_interface(name, out, dtype)
    elif isinstance(out, np.ndarray) and out.dtype == dtype and out.flags.c_contiguous:
        found = AnyArray(address(out), out.shape, out.flags.writeable, out)
    else:
        raise TypeError(f"{name}: {type(out).__name__} is not a contiguous array of {dtype}")
    if found.shape != shape:
        raise BadArgumentError(f"{name}: shape {found.shape} is not allowed; {shape}")
    if not found.is_writable:
        raise BadArgumentError(f"{name}: cannot be written; an array that can is allowed")
    return found


def _read_interface(name: str, array: Any, dtype: np.dtype[Any]) -> AnyArray:
    """An array in a device's memory, which must be contiguous and of the wanted type."""
    wanted = dtype.str
    interface = array.__cuda_array_interface__
    shape, typestr = tuple(interface["shape"]), interface["typestr"]
    if typestr != wanted:
        raise TypeError(f"{name}: {typestr} in a device's memory is not allowed; {wanted}")
    where, is_read_only = interface["data"]
    strides = interface.get("strides")
    if strides is not None and math.prod(shape) > 0:
        size = dtype.itemsize
        for axis, (length, stride) in enumerate(zip(shape, strides)):
            if length > 1 and stride != size * math.prod(shape[axis + 1 :]):
                raise BadArgumentError(
                    f"{name}: strides {tuple(strides)} are not allowed; contiguous rows"
                )
    return AnyArray(where, shape, not is_read_only, array)
