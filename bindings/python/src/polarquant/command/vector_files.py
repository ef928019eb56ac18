# SPDX-License-Identifier: MIT
"""Files of vectors, opened and written by their names' endings.

A file is read in blocks of rows, so that it may be larger than memory. Each format is a class in
`plain_vectors` (NumPy reads them), `hdf5_vectors` or `arrow_vectors` (Parquet, Arrow), and a row in a table here.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Callable, NamedTuple

import numpy as np

from polarquant._arrays import Floats, Ids
from polarquant.command.arrow_vectors import open_arrow, open_parquet, write_parquet
from polarquant.command.failure import CommandError
from polarquant.command.hdf5_vectors import has_hdf5_dataset, open_hdf5, write_hdf5
from polarquant.command.output_files import whole_file
from polarquant.command.plain_vectors import (
    MappedArray,
    open_bvecs,
    open_fbin,
    open_fvecs,
    open_npy,
    read_npy,
    write_fbin,
    write_fvecs,
    write_npy,
)
from polarquant.command.vectors import RowIds, Shape, Vectors


class Format(NamedTuple):
    """How vectors lie in files of one kind."""

    endings: tuple[str, ...]
    #: (path, dataset or "", datasets to prefer) → the vectors
    open: Callable[[str, str, tuple[str, ...]], Vectors]
    #: (path, shape, dataset or "", blocks of rows); None where it is only read
    write: Callable[[str, Shape, str, Iterator[Floats]], None] | None
    #: Whether queries can lie beside the rows, in a dataset of this name.
    has_dataset: Callable[[str, str], bool] = lambda path, dataset: False


FORMATS = (
    Format((".npy",), open_npy, write_npy),
    Format((".fvecs",), open_fvecs, write_fvecs),
    Format((".fbin", ".f16bin"), open_fbin, write_fbin),
    Format((".bvecs",), open_bvecs, None),
    Format((".u8bin", ".i8bin"), open_fbin, None),
    Format((".hdf5", ".h5"), open_hdf5, write_hdf5, has_hdf5_dataset),
    Format((".parquet",), open_parquet, write_parquet),
    Format((".arrow", ".feather"), open_arrow, None),
)

ENDINGS = tuple(ending for row in FORMATS for ending in row.endings)
WRITTEN_ENDINGS = tuple(ending for row in FORMATS if row.write for ending in row.endings)


def find_format(path: str) -> Format | None:
    """The format that the ending of a file's name means; None for others."""
    ending = pathlib.PurePath(path).suffix.lower()
    return next((row for row in FORMATS if ending in row.endings), None)


def _format_of(path: str) -> Format:
    found = find_format(path)
    if found is None:
        raise CommandError(f"{path}: is not a name of vectors; {', '.join(ENDINGS)} are")
    return found


def open_vectors(path: str, dataset: str = "", prefer: tuple[str, ...] = ("train",)) -> Vectors:
    """The vectors of a file. dataset: that of an HDF5 file, or the column of a Parquet file; "" is
    the one whose name is in `prefer`, else the only one."""
    found = _format_of(path)
    try:
        vectors = found.open(path, dataset, prefer)
    except OSError as error:
        raise CommandError(f"{path}: cannot be read ({error.strerror or error})") from None
    if not 1 <= vectors.dim <= 65535:
        raise CommandError(f"{path}: vectors of {vectors.dim} numbers; 1 to 65535 are allowed")
    return vectors


def has_dataset(path: str, dataset: str) -> bool:
    """Whether a file of several datasets has this one."""
    return _format_of(path).has_dataset(path, dataset)


def write_vectors(path: str, shape: Shape, blocks: Iterator[Floats], dataset: str = "") -> None:
    """Writes blocks of rows, shape.rows in all. The file appears whole or not at all."""
    write = _format_of(path).write
    if write is None:
        raise CommandError(f"{path}: is not written; {', '.join(WRITTEN_ENDINGS)} are")
    with whole_file(path) as unfinished:
        write(unfinished, shape, dataset, _that_fit(path, shape.dtype, blocks))


def _that_fit(path: str, dtype: str, blocks: Iterator[Floats]) -> Iterator[Floats]:
    largest = float(np.finfo(dtype).max)
    for block in blocks:
        if block.size > 0 and np.abs(block).max() > largest:
            raise CommandError(f"{path}: numbers beyond {largest:g} do not fit {dtype}")
        yield block


class _FileIds(RowIds):
    def __init__(self, array: MappedArray) -> None:
        self._array = array

    def rows(self, first: int, end: int) -> Ids:
        return self._array.take(slice(first, end), np.int64)


def open_ids(path: str, count: int) -> RowIds:
    """Ids of `count` rows, of a .npy file."""
    ids = read_npy(path, mmap_mode="r")
    if ids.shape != (count,) or ids.dtype.kind not in "iu":
        raise CommandError(f"{path}: {ids.dtype} {ids.shape}; integers of shape ({count},) allowed")
    return _FileIds(MappedArray(ids))
