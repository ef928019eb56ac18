# SPDX-License-Identifier: MIT
"""Arrays in a device's memory that tell where by DLPack alone, as those of JAX do."""

from __future__ import annotations

import ctypes
import math
from typing import Any, NamedTuple

import numpy as np

_CUDA, _CUDA_MANAGED = 2, 13
#: The kinds of numbers that we read, by DLPack's codes.
_KINDS = {0: "i", 1: "u", 2: "f"}
#: DLPack's number of the default stream.
_DEFAULT_STREAM = 1


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    """DLTensor, with which a DLManagedTensor begins."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DeviceTensor(NamedTuple):
    """Where an array lies."""

    address: int
    shape: tuple[int, ...]
    #: As NumPy writes it, "<f4".
    typestr: str
    #: In bytes; None for contiguous rows.
    strides: tuple[int, ...] | None
    #: Keeps it there.
    held: Any


def has_device_tensor(value: Any) -> bool:
    """Whether it is an array in a device's memory that DLPack tells of."""
    where = getattr(value, "__dlpack_device__", None)
    return where is not None and int(where()[0]) in (_CUDA, _CUDA_MANAGED)


def read_device_tensor(value: Any, stream: int | None) -> DeviceTensor:
    """Waits, on `stream`, for what writes the array."""
    capsule = value.__dlpack__(stream=stream or _DEFAULT_STREAM)
    read = ctypes.pythonapi.PyCapsule_GetPointer
    read.restype, read.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _Tensor.from_address(read(capsule, b"dltensor"))
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    dtype = tensor.dtype
    size = dtype.bits * dtype.lanes // 8
    strides = None
    if tensor.strides and math.prod(shape) > 0:
        strides = tuple(tensor.strides[axis] * size for axis in range(tensor.ndim))
    typestr = (
        np.dtype(f"{_KINDS[dtype.code]}{size}").str if dtype.code in _KINDS else "another type"
    )
    # A capsule that nobody renames gives the array back when it goes.
    return DeviceTensor(
        (tensor.data or 0) + tensor.byte_offset, shape, typestr, strides, (value, capsule)
    )
