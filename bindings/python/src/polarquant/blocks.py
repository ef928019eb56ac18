# SPDX-License-Identifier: MIT
"""Codes in blocks of 64 rows: what searches read fastest, for programs that keep their own ids."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from polarquant import _structs
from polarquant._arrays import Codes, CodesLike, Floats, Ids, address, as_codes, as_int, as_rows
from polarquant._library import check, lib
from polarquant._search import (
    make_search_options,
    run_range_search,
    run_search,
    run_search_partial,
)
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
        self._memory = np.empty(0, dtype=np.uint8)
        self._blocks = _structs.Blocks()
        # The blocks are memory of this object's; what calls take is the codec's handle.
        self._use = Use("CodeBlocks", 0)
        self._reserve(0)
        if codes is not None:
            self.append(codes)

    def __len__(self) -> int:
        return int(self._blocks.rows)

    @property
    def codec(self) -> Codec:
        """Whose codes they are."""
        return self._codec

    @property
    def nbytes(self) -> int:
        """Bytes of memory, with those for further rows."""
        return self._memory.nbytes

    def __repr__(self) -> str:
        return f"CodeBlocks({self._codec!r}, {len(self)} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        return CodeBlocks, (self._codec, self.get())

    def append(self, codes: CodesLike) -> None:
        """Adds coded rows, (n, code_size), after those held."""
        array, n = self._codec._as_coded(codes, None)
        with self._use.sole, self._codec._use.shared as handle:
            self._reserve(len(self) + n)
            given = (n, address(array), array.nbytes)
            check(lib.polar_blocks_append(handle, self._where, *given))

    def get(self, first: int = 0, count: int | None = None) -> Codes:
        """The codes of `count` rows from `first` on, by default all, (count, code_size)."""
        with self._use.shared, self._codec._use.shared as handle:
            first = as_int("first", first, 0, len(self))
            left = len(self) - first
            count = left if count is None else as_int("count", count, 0, left)
            codes = np.empty((count, self._codec.code_size), dtype=np.uint8)
            out = (address(codes), codes.nbytes)
            check(lib.polar_blocks_get(handle, self._where, first, count, *out))
        return codes

    def overwrite(self, row: int, code: CodesLike) -> None:
        """Puts one code, (code_size,), in the place of row `row`. Raises NotFoundError."""
        array = as_codes("code", code)
        with self._use.sole, self._codec._use.shared as handle:
            given = (self._as_row(row), address(array), array.nbytes)
            check(lib.polar_blocks_overwrite(handle, self._where, *given))

    def remove(self, removed: npt.ArrayLike) -> int:
        """Takes out rows: a bool for each, (rows,). The others keep their order. Returns how many
        stay."""
        bits = Bitset(removed)
        with self._use.sole, self._codec._use.shared as handle:
            if len(bits) != len(self):
                raise BadArgumentError(
                    f"removed: shape ({len(bits)},) is not allowed; ({len(self)},)"
                )
            check(lib.polar_blocks_remove(handle, self._where, address(bits._words)))
            return len(self)

    def swap_remove(self, row: int) -> None:
        """Takes out one row; the last one takes its place. Raises NotFoundError."""
        with self._use.sole, self._codec._use.shared as handle:
            check(lib.polar_blocks_swap_remove(handle, self._where, self._as_row(row)))

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
            blocks = self._where

            def function(nq: int, q: int, k: int, options: Any, scores: int, ids: int) -> int:
                status: int = lib.polar_blocks_search(
                    handle, blocks, nq, q, k, options, scores, ids
                )
                return status

            asked = (filter, exactness, num_threads or codec._num_threads, progress)
            return run_search(function, self._use, queries, codec.dim, k, len(self), *asked)

    def search_partial(
        self,
        queries: npt.ArrayLike,
        k: int,
        *,
        first_row: int = 0,
        filter: FilterLike = None,
        exactness: float | None = None,
        num_threads: int = 0,
    ) -> bytes:
        """What `polarquant.partials.merge_partials` needs of these rows, where they are a part of more:
        those that are in memory at a time.

        queries: (nq, dim). first_row: how many rows the parts before have. Rows, and what a filter
        keeps, are the whole's. Other arguments as those of `search`.
        """
        codec = self._codec
        first_row = as_int("first_row", first_row, 0, 2**63 - 1)
        with self._use.shared, codec._use.shared as handle:

            def size(nq: int, k: int, bytes_: Any) -> int:
                status: int = lib.polar_blocks_partial_bytes(handle, self._where, nq, k, bytes_)
                return status

            def search(*arguments: Any) -> int:
                status: int = lib.polar_blocks_search_partial(
                    handle, self._where, first_row, *arguments
                )
                return status

            rows = as_rows("queries", queries, codec.dim)
            asked = (filter, exactness, num_threads or codec._num_threads, None)
            return run_search_partial(
                size, search, self._use, rows, codec.dim, k, len(self), *asked
            )

    def range_search(
        self,
        queries: npt.ArrayLike,
        radius: float,
        *,
        filter: FilterLike = None,
        exactness: float | None = None,
        num_threads: int = 0,
        progress: Any = None,
    ) -> tuple[Ids, Floats, Ids]:
        """All rows within a radius of each query, as `Codec.range_search`: lims, scores and rows."""
        codec = self._codec
        options = make_search_options(exactness, num_threads or codec._num_threads)
        with self._use.shared, codec._use.shared as handle:

            def function(nq: int, q: int, *arguments: Any) -> int:
                status: int = lib.polar_blocks_range_search(handle, self._where, nq, q, *arguments)
                return status

            asked = (radius, len(self), filter, options, progress)
            return run_range_search(function, self._use, queries, codec.dim, *asked)

    def _as_row(self, row: int) -> int:
        if not 0 <= row < len(self):
            raise NotFoundError(f"row: {row} is not allowed; 0 to {len(self) - 1}")
        return row

    @property
    def _where(self) -> int:
        return ctypes.addressof(self._blocks)

    def _reserve(self, rows: int) -> None:
        """Memory for that many rows; a quarter more when it must grow."""
        needed = self._bytes_of(rows)
        if needed <= self._memory.nbytes:
            return
        if len(self) > 0:
            needed = max(needed, self._bytes_of(len(self) + len(self) // 4))
        memory = np.empty(needed + _ALIGNMENT, dtype=np.uint8)
        begin = -address(memory) % _ALIGNMENT
        grown = memory[begin : begin + needed]
        grown[: self._memory.nbytes] = self._memory
        self._memory = grown
        self._blocks.data, self._blocks.bytes = address(grown), grown.nbytes

    def _bytes_of(self, rows: int) -> int:
        out = ctypes.c_size_t()
        with self._codec._use.shared as handle:
            check(lib.polar_blocks_bytes(handle, rows, ctypes.byref(out)))
        return out.value
