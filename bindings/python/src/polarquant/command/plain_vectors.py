# SPDX-License-Identifier: MIT
"""Formats of vectors that lie in a file as they lie in memory: .npy, .fvecs, .fbin and their kin."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from polarquant._arrays import Floats, Ids
from polarquant.command.failure import CommandError
from polarquant.command.vectors import Shape, Vectors

#: What can be read as numbers.
_NUMBERS = "fiu"


#: Of those that are read one here, one there.
_ROWS_AT_A_TIME = 16384


class MappedArray:
    """An array, most often mapped from a file, whose pages do not stay in the process's memory: they
    would count there until the system wants them back."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self._array = array
        base: Any = array
        while base is not None and not isinstance(base, mmap.mmap):
            base = getattr(base, "_mmap", None) or getattr(base, "base", None)
        self._pages = base if hasattr(mmap, "MADV_DONTNEED") else None

    def take(self, rows: slice | Ids, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """A copy of these rows, of this type."""
        with np.errstate(over="ignore"):  # what does not fit is refused as not finite
            taken = np.array(self._array[rows], dtype=dtype, order="C")
        if self._pages is not None:
            self._pages.madvise(mmap.MADV_DONTNEED)
        return taken


class MappedVectors(Vectors):
    """An array, (count, dim), of numbers, most often mapped from a file."""

    def __init__(self, path: str, array: npt.NDArray[Any]) -> None:
        super().__init__(path, array.shape[0], array.shape[1], str(array.dtype))
        self._array = MappedArray(array)

    def read(self, first: int, end: int) -> Floats:
        return self._array.take(slice(first, end), np.float32)

    def take(self, wanted: Ids) -> Floats:
        rows = np.empty((len(wanted), self.dim), dtype=np.float32)
        for first in range(0, len(wanted), _ROWS_AT_A_TIME):
            part = slice(first, first + _ROWS_AT_A_TIME)
            rows[part] = self._array.take(wanted[part], np.float32)
        return self._checked(rows, lambda row: int(wanted[row]))


class FvecsVectors(MappedVectors):
    """Rows that each begin with their dim."""

    def __init__(self, path: str, rows: npt.NDArray[Any]) -> None:
        super().__init__(path, rows["numbers"])
        self._dims = rows["dim"]

    def read(self, first: int, end: int) -> Floats:
        self._check_dims(np.arange(first, end))
        return super().read(first, end)

    def take(self, wanted: Ids) -> Floats:
        self._check_dims(wanted)
        return super().take(wanted)

    def _check_dims(self, rows: Ids) -> None:
        dims = self._dims[rows]
        if not np.all(dims == self.dim):
            wrong = int(np.argmax(dims != self.dim))
            raise CommandError(
                f"{self.path}: row {rows[wrong]} has {dims[wrong]} numbers; row 0 has {self.dim}"
            )


def read_npy(path: str, mmap_mode: Literal["r"] | None = None) -> npt.NDArray[Any]:
    """The array of a .npy file; CommandError for other files."""
    try:
        with open(path, "rb") as file:
            if file.read(2) == b"PK":
                raise CommandError(
                    f"{path}: is an archive of arrays, .npz; save one of its arrays as .npy"
                )
        array: npt.NDArray[Any] = np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
        return array
    except CommandError:
        raise
    except OSError as error:
        raise CommandError(f"{path}: cannot be read ({error.strerror or error})") from None
    except Exception as error:  # NumPy tells of damaged heads by errors of many kinds
        raise CommandError(f"{path}: cannot be read as .npy ({error})") from None


def open_npy(path: str, dataset: str, prefer: tuple[str, ...]) -> Vectors:
    refuse_dataset(path, dataset)
    array = read_npy(path, mmap_mode="r")
    if array.ndim != 2 or array.dtype.kind not in _NUMBERS:
        raise CommandError(f"{path}: {array.dtype} {array.shape}; numbers, (rows, dim), allowed")
    return MappedVectors(path, array)


def open_fvecs(path: str, dataset: str, prefer: tuple[str, ...]) -> Vectors:
    """Each row is its dim, int32, and dim float32."""
    return _open_vecs(path, dataset, "<f4", ".fvecs")


def open_bvecs(path: str, dataset: str, prefer: tuple[str, ...]) -> Vectors:
    """Each row is its dim, int32, and dim uint8."""
    return _open_vecs(path, dataset, "u1", ".bvecs")


def _open_vecs(path: str, dataset: str, dtype: str, ending: str) -> Vectors:
    refuse_dataset(path, dataset)
    data = _map(path, "u1", 0)
    if len(data) == 0:
        raise CommandError(f"{path}: is empty; {ending} tells the dim in its first row")
    dim = int(data[:4].view("<i4")[0]) if len(data) >= 4 else 0
    row = np.dtype([("dim", "<i4"), ("numbers", dtype, (dim if 1 <= dim <= 65535 else 1,))])
    if not 1 <= dim <= 65535 or len(data) % row.itemsize != 0:
        raise CommandError(f"{path}: is not {ending}: {len(data)} bytes, the first row of {dim}")
    return FvecsVectors(path, data.view(row))


def open_fbin(path: str, dataset: str, prefer: tuple[str, ...]) -> Vectors:
    """Rows and dim, uint32, then the numbers, whose type the file's name tells."""
    refuse_dataset(path, dataset)
    dtype = _fbin_type(path)
    size = os.path.getsize(path)
    head = np.fromfile(path, dtype="<u4", count=2)
    count, dim = (int(head[0]), int(head[1])) if len(head) == 2 else (0, 0)
    if size != 8 + count * dim * np.dtype(dtype).itemsize or dim == 0:
        raise CommandError(f"{path}: {size} bytes; its head says {count} rows of {dim} {dtype}")
    return MappedVectors(path, _map(path, dtype, 8).reshape(count, dim))


def _fbin_type(path: str) -> str:
    ending = path.lower().rpartition(".")[2]
    return {"f16bin": "<f2", "u8bin": "u1", "i8bin": "i1"}.get(ending, "<f4")


def _map(path: str, dtype: str, offset: int) -> npt.NDArray[Any]:
    size = os.path.getsize(path) - offset
    item = np.dtype(dtype).itemsize
    if size % item != 0:
        raise CommandError(f"{path}: {size} bytes; a multiple of {item} is allowed")
    if size == 0:  # which cannot be mapped
        return np.empty(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r", offset=offset)


def refuse_dataset(path: str, dataset: str) -> None:
    if dataset:
        raise CommandError(f"{path}: has no dataset {dataset!r}; HDF5 and Parquet files have them")


def write_npy(path: str, shape: Shape, dataset: str, blocks: Iterator[Floats]) -> None:
    refuse_dataset(path, dataset)
    dtype = np.dtype(shape.dtype).newbyteorder("<")
    header = {"descr": dtype.str, "fortran_order": False, "shape": (shape.rows, shape.dim)}
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype=dtype).data)


def write_fvecs(path: str, shape: Shape, dataset: str, blocks: Iterator[Floats]) -> None:
    refuse_dataset(path, dataset)
    if shape.dtype != "float32":
        raise CommandError(f".fvecs: {shape.dtype} is not allowed; float32")
    with open(path, "wb") as file:
        for block in blocks:
            rows = np.empty((len(block), shape.dim + 1), dtype="<i4")
            rows[:, 0] = shape.dim
            rows[:, 1:] = block.astype("<f4").view("<i4")
            file.write(rows.data)


def write_fbin(path: str, shape: Shape, dataset: str, blocks: Iterator[Floats]) -> None:
    refuse_dataset(path, dataset)
    dtype = _fbin_type(path)
    if np.dtype(shape.dtype) != np.dtype(dtype):
        raise CommandError(f".fbin is float32 and .f16bin float16; {shape.dtype} is not allowed")
    if shape.rows >= 2**32:
        raise CommandError(f".fbin: {shape.rows} rows; fewer than 2^32 are allowed")
    with open(path, "wb") as file:
        file.write(np.array([shape.rows, shape.dim], dtype="<u4").data)
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype=dtype).data)
