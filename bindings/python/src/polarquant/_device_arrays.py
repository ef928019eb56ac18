# SPDX-License-Identifier: MIT
"""Arrays that lie in the host's memory or in a device's.

One in a device's memory tells where by `__cuda_array_interface__`, as those of CuPy, PyTorch and
Numba do, or by DLPack, as those of JAX. It is used where it lies: nothing here copies from a device.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from polarquant._arrays import address, as_codes, as_floats
from polarquant._dlpack import has_device_tensor, read_device_tensor
from polarquant.errors import BadArgumentError

_FLOAT32 = np.dtype(np.float32)
_INT64 = np.dtype(np.int64)
_UINT8 = np.dtype(np.uint8)
_UINT64 = np.dtype(np.uint64)


class AnyArray(NamedTuple):
    """Where numbers lie that the library reads or writes."""

    address: int
    shape: tuple[int, ...]
    is_writable: bool
    #: Keeps them there.
    held: Any


def is_on_device(value: Any) -> bool:
    """Whether it is an array in a device's memory."""
    return hasattr(value, "__cuda_array_interface__") or has_device_tensor(value)


def rows_anywhere(name: str, x: Any, dim: int, stream: int | None = None) -> AnyArray:
    """Rows, (n, dim), float32."""
    found = floats_anywhere(name, x, stream)
    if len(found.shape) != 2 or found.shape[1] != dim:
        raise BadArgumentError(f"{name}: shape {found.shape} is not allowed; (n, {dim})")
    return found


def rows_or_vector_anywhere(name: str, x: Any, dim: int, stream: int | None = None) -> AnyArray:
    """Rows, (n, dim), or one vector, (dim,), float32."""
    found = floats_anywhere(name, x, stream)
    if not 1 <= len(found.shape) <= 2 or found.shape[-1] != dim:
        raise BadArgumentError(
            f"{name}: shape {found.shape} is not allowed; (n, {dim}) or ({dim},)"
        )
    return found


def floats_anywhere(name: str, value: Any, stream: int | None = None) -> AnyArray:
    """Float32 of any shape."""
    if is_on_device(value):
        return _read_device_array(name, value, (_FLOAT32,), stream)
    floats = as_floats(name, value)
    return AnyArray(address(floats), floats.shape, False, floats)


def codes_anywhere(name: str, value: Any, stream: int | None = None) -> AnyArray:
    """Bytes of any shape."""
    if is_on_device(value):
        return _read_device_array(name, value, (_UINT8,), stream)
    codes = as_codes(name, value)
    return AnyArray(address(codes), codes.shape, False, codes)


def words_on_device(name: str, value: Any, stream: int | None = None) -> AnyArray:
    """Words of 64 bits, (n,), in a device's memory. Not every library has unsigned ones."""
    found = _read_device_array(name, value, (_UINT64, _INT64), stream)
    if len(found.shape) != 1:
        raise BadArgumentError(f"{name}: shape {found.shape} is not allowed; (n,)")
    return found


def output_anywhere(name: str, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> AnyArray:
    """Where numbers of this type and shape can be written."""
    if hasattr(out, "__cuda_array_interface__"):
        found = _read_interface(name, out, (dtype,))
    elif isinstance(out, np.ndarray) and out.dtype == dtype and out.flags.c_contiguous:
        found = AnyArray(address(out), out.shape, out.flags.writeable, out)
    else:
        raise TypeError(f"{name}: {type(out).__name__} is not a contiguous array of {dtype}")
    if found.shape != shape:
        raise BadArgumentError(f"{name}: shape {found.shape} is not allowed; {shape}")
    if not found.is_writable:
        raise BadArgumentError(f"{name}: cannot be written; an array that can is allowed")
    return found


def _read_device_array(
    name: str, array: Any, allowed: tuple[np.dtype[Any], ...], stream: int | None
) -> AnyArray:
    """An array in a device's memory, which must be contiguous and of one of these types."""
    if hasattr(array, "__cuda_array_interface__"):
        return _read_interface(name, array, allowed)
    tensor = read_device_tensor(array, stream)
    _require_numbers(name, tensor.typestr, allowed)
    _require_contiguous(name, tensor.shape, tensor.strides, allowed[0].itemsize)
    # DLPack does not tell whether it can be written.
    return AnyArray(tensor.address, tensor.shape, False, tensor.held)


def _read_interface(name: str, array: Any, allowed: tuple[np.dtype[Any], ...]) -> AnyArray:
    interface = array.__cuda_array_interface__
    shape = tuple(interface["shape"])
    _require_numbers(name, interface["typestr"], allowed)
    where, is_read_only = interface["data"]
    _require_contiguous(name, shape, interface.get("strides"), allowed[0].itemsize)
    return AnyArray(where, shape, not is_read_only, array)


def _require_numbers(name: str, typestr: str, allowed: tuple[np.dtype[Any], ...]) -> None:
    if typestr not in [dtype.str for dtype in allowed]:
        wanted = " or ".join(dtype.str for dtype in allowed)
        raise TypeError(f"{name}: {typestr} in a device's memory is not allowed; {wanted}")


def _require_contiguous(
    name: str, shape: tuple[int, ...], strides: tuple[int, ...] | None, size: int
) -> None:
    if strides is None or math.prod(shape) == 0:
        return
    for axis, (length, stride) in enumerate(zip(shape, strides)):
        if length > 1 and stride != size * math.prod(shape[axis + 1 :]):
            raise BadArgumentError(
                f"{name}: strides {tuple(strides)} are not allowed; contiguous rows"
            )
