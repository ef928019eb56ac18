# SPDX-License-Identifier: MIT
"""Formats of vectors that a library of their own reads: HDF5 by h5py, Parquet by pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from polarquant._arrays import Floats
from polarquant.command.failure import CommandError, import_for
from polarquant.command.vectors import Shape, Vectors

#: What is written where no name is given.
_HDF5_DATASET = "train"
_PARQUET_COLUMN = "vector"


class Hdf5Vectors(Vectors):
    """A dataset of two dimensions."""

    def __init__(self, path: str, file: Any, dataset: Any) -> None:
        super().__init__(path, dataset.shape[0], dataset.shape[1], str(dataset.dtype))
        self._file = file
        self._dataset = dataset

    def read(self, first: int, end: int) -> Floats:
        with np.errstate(over="ignore"):  # what does not fit is refused as not finite
            return np.asarray(self._dataset[first:end]).astype(np.float32)


class ParquetVectors(Vectors):
    """A column of lists of numbers, all of one length."""

    def __init__(self, path: str, file: Any, column: str, dim: int, dtype: str) -> None:
        super().__init__(path, file.metadata.num_rows, dim, dtype)
        self._file = file
        self._column = column
        sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        self._ends = np.cumsum(sizes, dtype=np.int64)
        self._group = -1
        self._rows = np.empty((0, dim), dtype=np.float32)

    def read(self, first: int, end: int) -> Floats:
        rows = np.empty((end - first, self.dim), dtype=np.float32)
        done = first
        while done < end:
            group = int(np.searchsorted(self._ends, done, side="right"))
            begin = int(self._ends[group - 1]) if group else 0
            stop = min(end, int(self._ends[group]))
            rows[done - first : stop - first] = self._read_group(group)[done - begin : stop - begin]
            done = stop
        return rows

    def _read_group(self, group: int) -> Floats:
        """All rows of a group; that of the last call is kept, since blocks of rows cut groups."""
        if group == self._group:
            return self._rows
        column = self._file.read_row_group(group, columns=[self._column])[self._column]
        parts = []
        for chunk in column.chunks:
            numbers = chunk.flatten()
            if chunk.null_count or numbers.null_count:
                raise CommandError(f"{self.path}: column {self._column!r} has empty places")
            if len(numbers) != len(chunk) * self.dim or not _all_of_length(chunk, self.dim):
                raise CommandError(
                    f"{self.path}: column {self._column!r} has lists of other lengths than the "
                    f"first, {self.dim}"
                )
            parts.append(numbers.to_numpy(zero_copy_only=False).astype(np.float32))
        self._rows = np.concatenate(parts).reshape(-1, self.dim)
        self._group = group
        return self._rows


def _all_of_length(chunk: Any, dim: int) -> bool:
    compute = import_for("pyarrow.compute", "pyarrow", "a Parquet file")
    lengths = compute.list_value_length(chunk).to_numpy(zero_copy_only=False)
    return bool(np.all(lengths == dim))


def _open_hdf5_file(path: str) -> tuple[Any, dict[str, Any]]:
    """The file, and its datasets of vectors."""
    h5py = import_for("h5py", "h5py", f"{path}: HDF5")
    file = h5py.File(path, "r")
    found: dict[str, Any] = {}

    def look_at(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.ndim == 2 and item.dtype.kind in "fiu":
            found[name] = item

    file.visititems(look_at)
    return file, found


def has_hdf5_dataset(path: str, dataset: str) -> bool:
    """Whether a file has vectors of this name."""
    file, found = _open_hdf5_file(path)
    with file:
        return dataset in found


def open_hdf5(path: str, dataset: str, prefer: tuple[str, ...]) -> Vectors:
    file, found = _open_hdf5_file(path)
    name = choose_name(path, "dataset", dataset, list(found), prefer)
    return Hdf5Vectors(path, file, found[name])


def open_parquet(path: str, dataset: str, prefer: tuple[str, ...]) -> Vectors:
    pyarrow = import_for("pyarrow", "pyarrow", f"{path}: Parquet")
    parquet = import_for("pyarrow.parquet", "pyarrow", f"{path}: Parquet")
    try:
        # As bytes: a name need be no UTF-8.
        file = parquet.ParquetFile(pyarrow.OSFile(os.fsencode(path)))
    except pyarrow.ArrowInvalid as error:
        raise CommandError(f"{path}: cannot be read as Parquet ({error})") from None
    is_number = {pyarrow.float16(), pyarrow.float32(), pyarrow.float64()}.__contains__
    columns = {
        field.name: field.type
        for field in file.schema_arrow
        if hasattr(field.type, "value_type")
        and pyarrow.types.is_nested(field.type)
        and is_number(field.type.value_type)
    }
    name = choose_name(path, "column of numbers", dataset, list(columns), prefer)
    if file.metadata.num_rows == 0:
        raise CommandError(f"{path}: has no rows")
    first = next(file.iter_batches(batch_size=1, columns=[name]))[0][0].as_py()
    if not first:
        raise CommandError(f"{path}: column {name!r} has empty places")
    return ParquetVectors(path, file, name, len(first), str(columns[name].value_type))


def choose_name(
    path: str, what: str, asked: str, names: Sequence[str], prefer: tuple[str, ...]
) -> str:
    """The part of a file that is meant."""
    listed = ", ".join(map(repr, names)) or "none"
    if asked:
        if asked not in names:
            raise CommandError(f"{path}: no {what} {asked!r}; it has {listed}")
        return asked
    for name in prefer:
        if name in names:
            return name
    if len(names) != 1:
        raise CommandError(f"{path}: which {what}? It has {listed}: name one with --dataset")
    return names[0]


def write_hdf5(path: str, shape: Shape, dataset: str, blocks: Iterator[Floats]) -> None:
    h5py = import_for("h5py", "h5py", "HDF5")
    with h5py.File(path, "w") as file:
        size = (shape.rows, shape.dim)
        made = file.create_dataset(dataset or _HDF5_DATASET, size, dtype=shape.dtype)
        done = 0
        for block in blocks:
            made[done : done + len(block)] = block
            done += len(block)


def write_parquet(path: str, shape: Shape, dataset: str, blocks: Iterator[Floats]) -> None:
    pyarrow = import_for("pyarrow", "pyarrow", "Parquet")
    parquet = import_for("pyarrow.parquet", "pyarrow", "Parquet")
    numbers = pyarrow.from_numpy_dtype(np.dtype(shape.dtype))
    name = dataset or _PARQUET_COLUMN
    schema = pyarrow.schema([(name, pyarrow.list_(numbers, shape.dim))])
    with open(path, "wb") as file, parquet.ParquetWriter(file, schema) as writer:
        for block in blocks:
            flat = pyarrow.array(block.astype(shape.dtype).ravel(), type=numbers)
            lists = pyarrow.FixedSizeListArray.from_arrays(flat, shape.dim)
            writer.write_table(pyarrow.Table.from_arrays([lists], schema=schema))
