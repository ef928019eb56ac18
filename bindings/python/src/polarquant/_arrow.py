# SPDX-License-Identifier: MIT
"""Columns of Arrow as arrays: lists of numbers as rows, integers as ids. Nothing here needs pyarrow
itself, but what it made."""

from __future__ import annotations

from typing import Any, Callable, Union

import numpy as np

from polarquant._arrays import Floats, Ids
from polarquant.errors import BadArgumentError

#: How errors name a row by its place in a column: the number of the column's first row, or a function.
Rows = Union[int, Callable[[int], str]]


def rows_of(column: Any, name: str, rows: Rows, dim: int | None = None) -> Floats:
    """A column of lists, each of `dim` numbers or as many as the first, (n, dim) float32, unchecked.

    name, rows: what errors call the column and its rows. Raises BadArgumentError for empty places and
    lists of other lengths, by row.
    """
    refuse_empty(column, name, rows)
    numbers = column.flatten()
    if hasattr(column, "offsets"):
        offsets = column.offsets.to_numpy(zero_copy_only=False)
        lengths = np.diff(offsets)
    else:
        lengths = np.full(len(column), column.type.list_size)
    wanted = dim if dim is not None else int(lengths[0]) if len(lengths) else 0
    if not np.all(lengths == wanted):
        row = int(np.argmax(lengths != wanted))
        raise BadArgumentError(
            f"{name} has {lengths[row]} numbers in {_row_name(rows, row)}; {wanted} are needed"
        )
    if numbers.null_count:
        place = int(np.argmax(numbers.is_null().to_numpy(zero_copy_only=False)))
        raise BadArgumentError(f"{name} has an empty place in {_row_name(rows, place // wanted)}")
    with np.errstate(over="ignore"):  # what does not fit is refused as not finite
        values: Floats = numbers.to_numpy(zero_copy_only=False).astype(np.float32)
    return values.reshape(len(column), wanted)


def ids_of(column: Any, name: str, rows: Rows) -> Ids:
    """A column of integers, (n,) int64. Raises BadArgumentError for empty places, by row."""
    refuse_empty(column, name, rows)
    ids: Ids = column.to_numpy(zero_copy_only=False).astype(np.int64)
    return ids


def refuse_empty(column: Any, name: str, rows: Rows) -> None:
    """BadArgumentError, naming the row, where a place of the column is empty."""
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise BadArgumentError(f"{name} is empty in {_row_name(rows, row)}")


def _row_name(rows: Rows, place: int) -> str:
    return f"row {rows + place}" if isinstance(rows, int) else rows(place)
