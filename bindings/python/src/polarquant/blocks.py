# SPDX-License-Identifier: MIT
"""Codes in blocks of 64 rows: what searches read fastest, for programs that keep their own ids."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from polarquant._arrays import Codes, CodesLike, Floats, Ids, address, as_codes, as_int
from polarquant._library import check, lib
from polarquant._search import run_search
from polarquant._use import Use
from polarquant.codec import Codec
from polarquant.errors import BadArgumentError, NotFoundError
from polarquant.filters import Bitset, FilterLike

_ALIGNMENT = 64


class CodeBlocks:
    """Coded rows in memory, searched by position; codes go in and come out unchanged.

    codec: whose codes they are, of "Polar0.5" to "Polar8" or a residual code; UnsupportedError for
    others. codes: rows to begin with, as `append` takes them.

    Threads may search at the same time; calls that change the rows wait for them. len() is the
    number of rows. Pickle takes the codes and the codec's state.
    """

    def __init__(self, codec: Codec, codes: CodesLike | None = None) -> None:
        self._codec = codec
        self._rows = 0
        self._memory = np.empty(0, dtype=np.uint8)
        # The blocks are memory of this object's; what calls take is the codec's handle.
        self._use = Use("CodeBlocks", 0)
        self._reserve(0)
        if codes is not None:
            self.append(codes)

    def __len__(self) -> int:
        return self._rows

    @property
    def codec(self) -> Codec:
        """Whose codes they are."""
        return self._codec

    @property
    def nbytes(self) -> int:
        """Bytes of memory, room for further rows included."""
        return self._memory.nbytes

    def __repr__(self) -> str:
        return f"CodeBlocks({self._codec!r}, {self._rows} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        return CodeBlocks, (self._codec, self.get())

    def append(self, codes: CodesLike) -> None:
        """Adds coded rows, (n, code_size), behind those held."""
        array, n = self._codec._as_coded(codes, None)
        with self._use.sole, self._codec._use.shared as handle:
            self._reserve(self._rows + n)
            check(
                lib.polar_blocks_append(
                    handle, n, address(array), array.nbytes, self._rows, *self._buffer()
                )
            )
            self._rows += n

    def get(self, first: int = 0, count: int | None = None) -> Codes:
        """The codes of `count` rows from `first` on, by default all, (count, code_size)."""
        with self._use.shared, self._codec._use.shared as handle:
            first = as_int("first", first, 0, self._rows)
            left = self._rows - first
            count = left if count is None else as_int("count", count, 0, left)
            codes = np.empty((count, self._codec.code_size), dtype=np.uint8)
            check(
                lib.polar_blocks_get(
                    handle,
                    self._rows,
                    *self._buffer(),
                    first,
                    count,
                    address(codes),
                    codes.nbytes,
                )
            )
        return codes

    def overwrite(self, row: int, code: CodesLike) -> None:
        """Puts one code, (code_size,), in the place of row `row`. Raises NotFoundError."""
        array = as_codes("code", code)
        with self._use.sole, self._codec._use.shared as handle:
            row = self._as_row(row)
            check(
                lib.polar_blocks_overwrite(
                    handle,
                    address(array),
                    array.nbytes,
                    self._rows,
                    *self._buffer(),
                    row,
                )
            )

    def remove(self, removed: npt.ArrayLike) -> int:
        """Takes out rows: a bool for each, (rows,). The others keep their order. Returns how many
        stay."""
        bits = Bitset(removed)
        left = ctypes.c_int64()
        with self._use.sole, self._codec._use.shared as handle:
            if len(bits) != self._rows:
                raise BadArgumentError(
                    f"removed: shape ({len(bits)},) is not allowed; ({self._rows},)"
                )
            check(
                lib.polar_blocks_remove(
                    handle,
                    address(bits._words),
                    self._rows,
                    *self._buffer(),
                    ctypes.byref(left),
                )
            )
            self._rows = left.value
        return left.value

    def swap_remove(self, row: int) -> None:
        """Takes out one row; the last one takes its place. Raises NotFoundError."""
        with self._use.sole, self._codec._use.shared as handle:
            row = self._as_row(row)
            check(lib.polar_blocks_swap_remove(handle, row, self._rows, *self._buffer()))
            self._rows -= 1

    def search(
        self,
        queries: npt.ArrayLike,
        k: int,
        *,
        filter: FilterLike = None,
        exactness: float | None = None,
        num_threads: int = 0,
        progress: Any = None,
    ) -> tuple[Floats, Ids]:
        """The k best rows for each query, as `Codec.search`: scores, float32, and rows, int64, (nq, k)
        for queries (nq, dim), (k,) for (dim,)."""
        codec = self._codec
        with self._use.shared, codec._use.shared as handle:
            rows = self._rows
            where, size = self._buffer()

            def function(nq: int, q: int, k: int, options: Any, scores: int, ids: int) -> int:
                status: int = lib.polar_blocks_search(
                    handle, nq, q, rows, where, size, k, options, scores, ids
                )
                return status

            asked = (filter, exactness, num_threads, progress)
            return run_search(function, self._use, queries, codec.dim, k, rows, *asked)

    def _as_row(self, row: int) -> int:
        if not 0 <= row < self._rows:
            raise NotFoundError(f"row: {row} is not allowed; 0 to {self._rows - 1}")
        return row

    def _buffer(self) -> tuple[int, int]:
        return address(self._memory), self._memory.nbytes

    def _reserve(self, rows: int) -> None:
        """Memory for that many rows; a quarter more when it must grow."""
        needed = self._bytes_of(rows)
        if needed <= self._memory.nbytes:
            return
        if self._rows > 0:
            needed = max(needed, self._bytes_of(self._rows + self._rows // 4))
        room = np.empty(needed + _ALIGNMENT, dtype=np.uint8)
        begin = -address(room) % _ALIGNMENT
        grown = room[begin : begin + needed]
        grown[: self._memory.nbytes] = self._memory
        self._memory = grown

    def _bytes_of(self, rows: int) -> int:
        out = ctypes.c_size_t()
        with self._codec._use.shared as handle:
            check(lib.polar_blocks_bytes(handle, rows, ctypes.byref(out)))
        return out.value
