# SPDX-License-Identifier: MIT
"""Arrays that lie in the host's memory or in a device's.

One in a device's memory tells where by `__cuda_array_interface__`, as those of CuPy, PyTorch and
Numba do. It is used where it lies: nothing here copies from a device.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from polarquant._arrays import address, as_rows
from polarquant.errors import BadArgumentError


class AnyArray(NamedTuple):
    """Where numbers lie that the library reads or writes."""

    address: int
    shape: tuple[int, ...]
    is_writable: bool
    #: Keeps them there.
    held: Any


def rows_anywhere(name: str, x: Any, dim: int) -> AnyArray:
    """Rows, (n, dim), float32."""
    if not hasattr(x, "__cuda_array_interface__"):
        rows = as_rows(name, x, dim)
        return AnyArray(address(rows), rows.shape, False, rows)
    found = _read_interface(name, x, "<f4")
    if len(found.shape) != 2 or found.shape[1] != dim:
        raise BadArgumentError(f"{name}: shape {found.shape} is not allowed; (n, {dim})")
    return found


def codes_anywhere(name: str, codes: Any, shape: tuple[int, int]) -> AnyArray:
    """Room for uint8 of this shape."""
    if hasattr(codes, "__cuda_array_interface__"):
        found = _read_interface(name, codes, "|u1")
    elif isinstance(codes, np.ndarray) and codes.dtype == np.uint8 and codes.flags.c_contiguous:
        found = AnyArray(address(codes), codes.shape, codes.flags.writeable, codes)
    else:
        raise TypeError(f"{name}: {type(codes).__name__} is not a contiguous array of uint8")
    if found.shape != shape:
        raise BadArgumentError(f"{name}: shape {found.shape} is not allowed; {shape}")
    if not found.is_writable:
        raise BadArgumentError(f"{name}: cannot be written; an array that can is allowed")
    return found


def _read_interface(name: str, array: Any, wanted: str) -> AnyArray:
    """An array in a device's memory, which must be contiguous and of the wanted type."""
    interface = array.__cuda_array_interface__
    shape, typestr = tuple(interface["shape"]), interface["typestr"]
    if typestr != wanted:
        raise TypeError(f"{name}: {typestr} in a device's memory is not allowed; {wanted}")
    where, is_read_only = interface["data"]
    strides = interface.get("strides")
    if strides is not None and math.prod(shape) > 0:
        size = np.dtype(wanted).itemsize
        for axis, (length, stride) in enumerate(zip(shape, strides)):
            if length > 1 and stride != size * math.prod(shape[axis + 1 :]):
                raise BadArgumentError(
                    f"{name}: strides {tuple(strides)} are not allowed; contiguous rows"
                )
    return AnyArray(where, shape, not is_read_only, array)
