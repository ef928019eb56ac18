# SPDX-License-Identifier: MIT
"""What an index tells of itself."""

from __future__ import annotations

import ctypes

from polarquant._arrays import as_int
from polarquant._handle import Handle
from polarquant._library import lib
from polarquant.metric import Metric


class IndexTraits(Handle):
    """The properties of Index."""

    _destroy = lib.polar_index_destroy
    _description: str
    _dim: int
    _metric: Metric

    @property
    def description(self) -> str:
        """The factory string it was made from."""
        return self._description

    @property
    def dim(self) -> int:
        """Dimensions of a vector."""
        return self._dim

    @property
    def metric(self) -> Metric:
        """How nearness is measured."""
        return self._metric

    @property
    def ntotal(self) -> int:
        """Rows held."""
        with self._use.shared as handle:
            return int(lib.polar_index_ntotal(handle))

    @property
    def is_trained(self) -> bool:
        """Whether rows can be added; False when `train` must come first."""
        with self._use.shared as handle:
            return bool(lib.polar_index_is_trained(handle))

    @property
    def nlist(self) -> int:
        """Lists of an inverted file; 0 for an index that is none."""
        with self._use.shared as handle:
            return int(lib.polar_index_nlist(handle))

    @property
    def nprobe(self) -> int:
        """Lists of an inverted file that a search looks through for each query where it names no
        number, 1 in a new index; 0 for an index that is none. Can be set; files keep it.

        Setting raises BadArgumentError for less than 1, UnsupportedError for another index.
        """
        with self._use.shared as handle:
            return int(lib.polar_index_nprobe(handle))

    @nprobe.setter
    def nprobe(self, nprobe: int) -> None:
        self._change(lib.polar_index_set_nprobe, as_int("nprobe", nprobe, 1, 2**63 - 1))

    @property
    def code_size(self) -> int:
        """Bytes of one row's code, without ids and graph links; UnsupportedError where rows share
        codes or FAISS does not tell."""
        out = ctypes.c_size_t()
        self._read(lib.polar_index_code_size, ctypes.byref(out))
        return out.value

    @property
    def memory_bytes(self) -> int:
        """Memory held: codes, ids, what was trained; not what lies in a mapped file."""
        out = ctypes.c_size_t()
        self._read(lib.polar_index_memory_bytes, ctypes.byref(out))
        return out.value

    def __len__(self) -> int:
        return self.ntotal

    def __repr__(self) -> str:
        if self.closed:
            return "Index(closed)"
        metric = self._metric.name.lower()
        return f"Index({self._description!r}, dim={self._dim}, metric={metric!r}, ntotal={self.ntotal})"
