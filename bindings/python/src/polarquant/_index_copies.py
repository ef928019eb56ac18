# SPDX-License-Identifier: MIT
"""Copies of an index: in memory, and on devices."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, TypeVar

from polarquant import _structs
from polarquant._cuda_index import CudaIndex
from polarquant._cuda_options import Layout
from polarquant._handle import create
from polarquant._index_traits import IndexTraits
from polarquant._library import check, lib, read_text, sized
from polarquant.metric import Metric

_Self = TypeVar("_Self", bound="IndexCopies")


class IndexCopies(IndexTraits):
    """The copies that can be made of an Index."""

    @classmethod
    def _adopt_loaded(cls: type[_Self], handle: int) -> _Self:
        index = cls._adopt(handle)
        info = sized(_structs.IndexInfo)
        check(lib.polar_index_get_info(handle, ctypes.byref(info)))
        index._dim, index._metric = info.dim, Metric(info.metric)
        index._description = read_text(lib.polar_index_description, handle)
        return index

    def clone(self: _Self) -> _Self:
        """An index like this one, in memory, which can be changed."""
        with self._use.shared as handle:
            return self._adopt_loaded(create(lib.polar_index_clone, handle))

    __copy__ = clone

    def __deepcopy__(self: _Self, memo: dict[int, Any]) -> _Self:
        return self.clone()

    def to_cuda(
        self,
        device: int = 0,
        *,
        devices: Sequence[int] | None = None,
        layout: Layout = "sharded",
    ) -> CudaIndex:
        """A copy in the memory of an NVIDIA GPU, or of several, which is searched there and finds
        the rows and scores of this index, to the bit; `CudaIndex.from_index` of this one.

        device: its number, a place in `polarquant.cuda.devices()`.
        devices: in its place the numbers of several, each of which then has a part of the rows, or
        with layout "replicated" all rows and a part of the queries.

        The copy does not change when this index does, until `CudaIndex.refresh` makes it follow.
        Raises UnsupportedError where there is no device, or no library for it, and for an index
        that devices do not search (docs/cuda.md); OutOfMemoryError, CudaError.
        """
        return CudaIndex.from_index(self, device, devices=devices, layout=layout)
