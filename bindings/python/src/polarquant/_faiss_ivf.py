# SPDX-License-Identifier: MIT
"""What an inverted file of FAISS holds, read through FAISS's own Python calls.

The FAISS in the process and the one inside our library are two, whose objects do not mix: what goes
from one to the other is numbers.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

import numpy as np

from polarquant._arrays import Floats, Ids, address
from polarquant._faiss_text import plain_faiss_text
from polarquant.errors import BadArgumentError, UnsupportedError
from polarquant.metric import Metric

#: Coordinates of the rows that are taken over at a time.
_BATCH = 16_000_000

#: Rows of the inverted file's space as rows of the caller's, and the other way for ids.
_Rows = Callable[[Floats], Floats]
_IdMap = Callable[[Ids], Ids]


class ListRows(NamedTuple):
    """Rows of some lists."""

    x: Floats
    ids: Ids
    lists: Ids


class FaissIvf:
    """An inverted file, alone or inside FAISS's containers; UnsupportedError for others.

    index: a faiss.Index. Rows come as they can be rebuilt: of "IVF…,Flat", and of a refinement by
    floats, exactly; of other codes with their error.
    """

    def __init__(self, index: Any) -> None:
        self._faiss = _import_faiss()
        if not isinstance(index, self._faiss.Index):
            raise TypeError(f"index: {index!r} is not a faiss.Index")
        self._to_caller: list[_Rows] = []
        self._id_map: _IdMap = lambda ids: ids
        self._floats: Any = None
        self._normalizes = False
        self._ivf = self._unwrap(self._faiss.downcast_index(index))
        self.metric = self._read_metric()
        self.dim = int(index.d)
        self.nlist = int(self._ivf.nlist)
        self.nprobe = int(self._ivf.nprobe)
        self.ntotal = int(self._ivf.ntotal)
        if not self._ivf.is_trained or self._ivf.quantizer.ntotal != self.nlist:
            raise BadArgumentError("index: is not trained; a trained one is allowed")
        self._sizes = np.array(
            [self._ivf.invlists.list_size(i) for i in range(self.nlist)], dtype=np.int64
        )

    def _unwrap(self, index: Any) -> Any:
        """The inverted file inside; notes what the containers around it do."""
        faiss = self._faiss
        if isinstance(index, faiss.IndexIVF):
            return index
        if isinstance(index, faiss.IndexPreTransform):
            # The last transform is undone first.
            for place in reversed(range(index.chain.size())):
                self._undo(faiss.downcast_VectorTransform(index.chain.at(place)))
            return self._unwrap(faiss.downcast_index(index.index))
        if isinstance(index, faiss.IndexIDMap):
            found = faiss.vector_to_array(index.id_map).astype(np.int64)
            self._id_map = lambda ids: found[ids]
            return self._unwrap(faiss.downcast_index(index.index))
        if isinstance(index, faiss.IndexRefineFlat):
            self._floats = faiss.downcast_index(index.refine_index)
            return self._unwrap(faiss.downcast_index(index.base_index))
        raise UnsupportedError(
            f"index: {type(index).__name__} is no inverted file; one, alone or inside "
            "IndexPreTransform, IndexIDMap and IndexRefineFlat, is allowed"
        )

    def _undo(self, transform: Any) -> None:
        faiss = self._faiss
        if isinstance(transform, faiss.NormalizationTransform) and transform.norm == 2:
            self._normalizes = True
            return
        keeps_distances = (
            isinstance(transform, faiss.LinearTransform)
            and transform.is_orthonormal
            and transform.d_in == transform.d_out
            and not transform.have_bias
        )
        if not keeps_distances:
            raise UnsupportedError(
                f"index: {type(transform).__name__} in front of the inverted file changes "
                "distances; a rotation or L2norm is allowed. Take the inverted file inside "
                "(faiss.extract_index_ivf), and transform queries before they are searched"
            )
        self._to_caller.append(transform.reverse_transform)

    def _read_metric(self) -> Metric:
        metric = self._ivf.metric_type
        if metric == self._faiss.METRIC_INNER_PRODUCT:
            return Metric.COSINE if self._normalizes else Metric.INNER_PRODUCT
        if metric == self._faiss.METRIC_L2 and not self._normalizes:
            return Metric.L2
        name = "L2 of normalized rows" if metric == self._faiss.METRIC_L2 else f"number {metric}"
        raise UnsupportedError(
            f"index: its metric, {name}, is not ours; inner product, also after L2norm, or L2"
        )

    @property
    def factory_prefix(self) -> str:
        """What a factory string of ours says in front of the code for lists found like these."""
        quantizer = self._faiss.downcast_index(self._ivf.quantizer)
        if isinstance(quantizer, self._faiss.IndexHNSW):
            return f"IVF{self.nlist}_HNSW{quantizer.hnsw.nb_neighbors(1)}"
        return f"IVF{self.nlist}"

    def centroids(self) -> Floats:
        """Of all lists, (nlist, dim)."""
        return self._as_callers(self._ivf.quantizer.reconstruct_n(0, self.nlist))

    def sample(self, wanted: int, seed: int) -> Floats:
        """Random rows, (wanted, dim) or all."""
        drawn = np.random.default_rng(seed).permutation(self.ntotal)[:wanted]
        drawn.sort()
        ends = np.cumsum(self._sizes)
        lists = np.searchsorted(ends, drawn, side="right")
        return self._rows(lists, drawn - (ends - self._sizes)[lists])[0]

    def batches(self) -> Iterator[ListRows]:
        """All rows, list by list."""
        step = max(1, _BATCH // self.dim)
        lists = np.repeat(np.arange(self.nlist), self._sizes)
        begins = np.cumsum(self._sizes) - self._sizes
        for first in range(0, self.ntotal, step):
            part = lists[first : first + step]
            offsets = np.arange(first, first + len(part)) - begins[part]
            x, ids = self._rows(part, offsets)
            yield ListRows(x, self._id_map(ids), part)

    def _rows(self, lists: Ids, offsets: Ids) -> tuple[Floats, Ids]:
        """Rows at these places, lists rising, and their ids inside the inverted file."""
        ids = np.empty(len(lists), dtype=np.int64)
        numbers, firsts = np.unique(lists, return_index=True)
        for number, first, end in zip(numbers, firsts, [*firsts[1:], len(lists)]):
            ids[first:end] = self._list_ids(int(number))[offsets[first:end]]
        if self._floats is not None:
            return self._as_callers(self._floats.reconstruct_batch(ids)), ids
        x = np.empty((len(lists), self._ivf.d), dtype=np.float32)
        pointers = (self._faiss.swig_ptr(row) for row in x)
        rebuild = self._ivf.reconstruct_from_offset
        try:
            for number, offset, where in zip(lists.tolist(), offsets.tolist(), pointers):
                rebuild(number, offset, where)
        except RuntimeError as error:
            raise UnsupportedError(
                f"index: {type(self._ivf).__name__} cannot rebuild its rows "
                f"({plain_faiss_text(error)})"
            ) from None
        return self._as_callers(x), ids

    def _list_ids(self, number: int) -> Ids:
        lists = self._ivf.invlists
        where = lists.get_ids(number)
        found: Ids = self._faiss.rev_swig_ptr(where, int(self._sizes[number])).copy()
        lists.release_ids(number, where)
        return found.astype(np.int64)

    def _as_callers(self, x: Floats) -> Floats:
        for undo in self._to_caller:
            x = undo(np.ascontiguousarray(x))
        return x


def _import_faiss() -> Any:
    try:
        return importlib.import_module("faiss")
    except ImportError:
        raise UnsupportedError("index: FAISS cannot be imported: pip install faiss-cpu") from None
