# SPDX-License-Identifier: MIT
"""Vectors in columns of lists, in Parquet and Arrow files, which pyarrow reads."""

from __future__ import annotations

import abc
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from polarquant._arrays import Floats, Ids
from polarquant._arrow import ids_of, rows_of
from polarquant.command.failure import CommandError, import_for
from polarquant.command.vectors import RowIds, Shape, Vectors, choose_name

#: What is written where no name is given.
_COLUMN = "vector"


class Table(abc.ABC):
    """A file's columns, in groups of rows that are read one at a time."""

    def __init__(self, path: str, schema: Any, sizes: list[int]) -> None:
        self.path = path
        self.schema = schema
        self._ends = np.cumsum(sizes, dtype=np.int64)

    @abc.abstractmethod
    def read_group(self, group: int, column: str) -> Any:
        """A column's chunks of this group."""

    @property
    def rows(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def groups(self, first: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Groups that have rows first to end − 1: number, first row and row after the last."""
        for group in range(int(np.searchsorted(self._ends, first, side="right")), len(self._ends)):
            begin = int(self._ends[group - 1]) if group else 0
            if begin >= end:
                return
            yield group, begin, int(self._ends[group])


class ParquetTable(Table):
    def __init__(self, path: str) -> None:
        pyarrow = import_for("pyarrow", "pyarrow", f"{path}: Parquet")
        parquet = import_for("pyarrow.parquet", "pyarrow", f"{path}: Parquet")
        try:
            # As bytes: a name need be no UTF-8.
            self._file = parquet.ParquetFile(pyarrow.OSFile(os.fsencode(path)))
        except pyarrow.ArrowInvalid as error:
            raise CommandError(f"{path}: cannot be read as Parquet ({error})") from None
        metadata = self._file.metadata
        sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        super().__init__(path, self._file.schema_arrow, sizes)

    def read_group(self, group: int, column: str) -> Any:
        return self._file.read_row_group(group, columns=[column])[column].chunks


class ArrowTable(Table):
    """Record batches of Arrow's file format (Feather 2)."""

    def __init__(self, path: str) -> None:
        pyarrow = import_for("pyarrow", "pyarrow", f"{path}: Arrow")
        ipc = import_for("pyarrow.ipc", "pyarrow", f"{path}: Arrow")
        try:
            self._file = ipc.open_file(pyarrow.OSFile(os.fsencode(path)))
            batches = range(self._file.num_record_batches)
            sizes = [self._file.get_batch(i).num_rows for i in batches]
        except pyarrow.ArrowInvalid as error:
            raise CommandError(f"{path}: cannot be read as an Arrow file ({error})") from None
        super().__init__(path, self._file.schema, sizes)

    def read_group(self, group: int, column: str) -> Any:
        return [self._file.get_batch(group).column(column)]


class ColumnVectors(Vectors):
    """A column of lists of numbers, all of one length."""

    def __init__(self, table: Table, column: str, dim: int, dtype: str) -> None:
        super().__init__(table.path, table.rows, dim, dtype)
        self._table = table
        self._column = column
        self._group = -1
        self._rows = np.empty((0, dim), dtype=np.float32)

    def read(self, first: int, end: int) -> Floats:
        rows = np.empty((end - first, self.dim), dtype=np.float32)
        for group, begin, stop in self._table.groups(first, end):
            low, high = max(first, begin), min(end, stop)
            rows[low - first : high - first] = self._read_group(group, begin)[
                low - begin : high - begin
            ]
        return rows

    def ids(self, column: str) -> RowIds:
        return _ColumnIds(self._table, column)

    def _read_group(self, group: int, begin: int) -> Floats:
        """All rows of a group; that of the last call is kept, since blocks of rows cut groups."""
        if group == self._group:
            return self._rows
        parts = []
        for chunk in self._table.read_group(group, self._column):
            name = f"{self.path}: column {self._column!r}"
            parts.append(rows_of(chunk, name, begin, self.dim))
            begin += len(chunk)
        self._rows = np.concatenate(parts) if parts else np.empty((0, self.dim), dtype=np.float32)
        self._group = group
        return self._rows


class _ColumnIds(RowIds):
    def __init__(self, table: Table, column: str) -> None:
        types = import_for("pyarrow", "pyarrow", f"{table.path}: ids").types
        integers = [field.name for field in table.schema if types.is_integer(field.type)]
        self._table = table
        self._column = choose_name(table.path, "column of integers", column, integers, ())

    def rows(self, first: int, end: int) -> Ids:
        ids = np.empty(end - first, dtype=np.int64)
        for group, begin, stop in self._table.groups(first, end):
            low, high = max(first, begin), min(end, stop)
            ids[low - first : high - first] = self._read_group(group, begin)[
                low - begin : high - begin
            ]
        return ids

    def _read_group(self, group: int, begin: int) -> Ids:
        parts = [np.empty(0, dtype=np.int64)]
        for chunk in self._table.read_group(group, self._column):
            parts.append(ids_of(chunk, f"{self._table.path}: column {self._column!r}", begin))
            begin += len(chunk)
        return np.concatenate(parts)


def open_parquet(path: str, dataset: str, prefer: tuple[str, ...]) -> Vectors:
    return _open_column(ParquetTable(path), dataset, prefer)


def open_arrow(path: str, dataset: str, prefer: tuple[str, ...]) -> Vectors:
    return _open_column(ArrowTable(path), dataset, prefer)


def _open_column(table: Table, dataset: str, prefer: tuple[str, ...]) -> Vectors:
    pyarrow = import_for("pyarrow", "pyarrow", f"{table.path}: Arrow")
    is_number = {pyarrow.float16(), pyarrow.float32(), pyarrow.float64()}.__contains__
    columns = {
        field.name: field.type
        for field in table.schema
        if hasattr(field.type, "value_type")
        and pyarrow.types.is_nested(field.type)
        and is_number(field.type.value_type)
    }
    name = choose_name(table.path, "column of numbers", dataset, list(columns), prefer)
    first = None
    for group, _begin, _end in table.groups(0, 1):
        first = next(chunk for chunk in table.read_group(group, name) if len(chunk))[0].as_py()
    if table.rows == 0:
        raise CommandError(f"{table.path}: has no rows")
    if not first:
        raise CommandError(f"{table.path}: column {name!r} is empty in row 0")
    return ColumnVectors(table, name, len(first), str(columns[name].value_type))


def write_parquet(path: str, shape: Shape, dataset: str, blocks: Iterator[Floats]) -> None:
    pyarrow = import_for("pyarrow", "pyarrow", "Parquet")
    parquet = import_for("pyarrow.parquet", "pyarrow", "Parquet")
    numbers = pyarrow.from_numpy_dtype(np.dtype(shape.dtype))
    name = dataset or _COLUMN
    schema = pyarrow.schema([(name, pyarrow.list_(numbers, shape.dim))])
    with open(path, "wb") as file, parquet.ParquetWriter(file, schema) as writer:
        for block in blocks:
            flat = pyarrow.array(block.astype(shape.dtype).ravel(), type=numbers)
            lists = pyarrow.FixedSizeListArray.from_arrays(flat, shape.dim)
            writer.write_table(pyarrow.Table.from_arrays([lists], schema=schema))
