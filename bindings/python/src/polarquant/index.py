# SPDX-License-Identifier: MIT
"""Vectors stored as codes, searched by the k nearest; FAISS's verbs."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from polarquant import _structs
from polarquant._arrays import Floats, Ids, address, as_ids, as_int, as_rows, as_text
from polarquant._faiss_ivf import FaissIvf
from polarquant._handle import create
from polarquant._index_copies import IndexCopies
from polarquant._library import check, default_options, lib, work_options
from polarquant._progress import LongCall, ProgressLike
from polarquant._search import make_search_options, run_range_search, run_search
from polarquant._storage import PathLike, as_path, load_from_bytes, load_from_path, save_to_bytes
from polarquant.errors import BadArgumentError
from polarquant.filters import AppliedFilter, Bitset, FilterLike, IdSet, as_array
from polarquant.metric import Metric, MetricLike, as_metric

#: For calls that take long with few rows.
_ALWAYS = 2**63


class Index(IndexCopies):
    """An index made from a factory string.

    description: one of our codes, alone ("Polar2") or in a FAISS factory string ("PCA128,Polar4",
    "Polar2,RFlat"), or any FAISS string; docs/faiss.md lists them.
    dim: dimensions of a vector, 1 to 65535.
    metric: "ip" (inner product), "l2" or "cosine"; cosine normalizes rows and queries.

    Raises BadArgumentError for a description or size that is not allowed.

    Vectors are read as float32, (n, dim): a contiguous float32 array where it lies, other types and
    strided arrays from a copy. Numbers that are not finite are refused. After an error nothing has
    changed.

    Threads may search at the same time, and while rows are added, removed or updated: such a change
    codes its rows beside the searches of an index that is one of our specs or an inverted file of
    one, and then waits for those that run. Searches that come meanwhile go after it, before the next
    change. `train`, `merge_from` and `close` run alone. len() is `ntotal`.
    """

    def __init__(
        self, description: str, dim: int, metric: MetricLike = Metric.INNER_PRODUCT
    ) -> None:
        self._description = description
        self._dim = as_int("dim", dim, 1, 65535)
        self._metric = as_metric(metric)
        text = as_text("description", description)
        super().__init__("Index", create(lib.polar_index_create, text, self._dim, self._metric))

    def train(
        self, x: npt.ArrayLike, *, num_threads: int = 0, progress: ProgressLike = None
    ) -> None:
        """Learns what the index needs from rows x, (n, dim), forgetting what it learned before.

        num_threads, progress: as for `search`; Ctrl-C ends it too, with the index as it was.
        Raises CancelledError, and StateMismatchError once it holds rows, but for those that one of
        our specs alone still keeps as floats (see `add`), which are coded then.
        """
        rows = as_rows("x", x, self._dim)
        asked = ("train", progress, num_threads, _ALWAYS)
        self._change_long(*asked, lib.polar_index_train, len(rows), address(rows))

    def train_with_centroids(
        self,
        centroids: npt.ArrayLike,
        x: npt.ArrayLike,
        *,
        num_threads: int = 0,
        progress: ProgressLike = None,
    ) -> None:
        """`train` with lists that were made elsewhere: centroids, (nlist, dim), become the lists'
        as they are, and the code is trained on rows x, (n, dim).

        For inverted files of our codes alone, "IVF1024,Polar4" and "IVF1024_HNSW32,Polar4";
        UnsupportedError for others. Raises BadArgumentError for another number of lists,
        StateMismatchError once it holds rows.
        """
        lists = as_rows("centroids", centroids, self._dim)
        rows = as_rows("x", x, self._dim)
        arrays = (len(lists), address(lists), len(rows), address(rows))
        train = lib.polar_index_train_with_centroids
        self._change_long("train", progress, num_threads, _ALWAYS, train, *arrays)

    def add(self, x: npt.ArrayLike, *, num_threads: int = 0, progress: ProgressLike = None) -> None:
        """Adds rows x, (n, dim), with ids ntotal, ntotal + 1, …

        An index of one of our specs, alone or in containers and graphs, that was not trained keeps
        its rows as floats, and searches them exactly, until they are 1,000: from these, and from
        all others of the add that brings them there, it learns its codes' centre and unit, and
        codes them. So rows can come in pieces of any size, one by one too.

        num_threads, progress: as for `search`; Ctrl-C ends a long call too, with the index as it was.
        Raises NotTrainedError, CancelledError, and BadArgumentError in an index of rows with ids.
        """
        rows = as_rows("x", x, self._dim)
        asked = ("add", progress, num_threads, rows.size)
        self._change_long(*asked, lib.polar_index_add, len(rows), address(rows), beside=True)

    def add_with_ids(
        self,
        x: npt.ArrayLike,
        ids: npt.ArrayLike,
        *,
        num_threads: int = 0,
        progress: ProgressLike = None,
    ) -> None:
        """Adds rows x, (n, dim), with ids, (n,), integers of 0 or more that are not in it yet.

        Raises NotTrainedError; BadArgumentError in an index of rows without ids; UnsupportedError
        for a FAISS index that takes none: ",IDMap2" after its description gives it ids.
        """
        rows = as_rows("x", x, self._dim)
        row_ids = as_ids("ids", ids)
        if len(row_ids) != len(rows):
            raise BadArgumentError(f"ids: shape {row_ids.shape} is not allowed; ({len(rows)},)")
        arrays = (len(rows), address(rows), address(row_ids))
        asked = ("add", progress, num_threads, rows.size)
        self._change_long(*asked, lib.polar_index_add_with_ids, *arrays, beside=True)

    def add_to_lists(
        self,
        x: npt.ArrayLike,
        ids: npt.ArrayLike,
        lists: npt.ArrayLike,
        *,
        num_threads: int = 0,
        progress: ProgressLike = None,
    ) -> None:
        """`add_with_ids` into lists of your choice, (n,), each 0 to nlist − 1, in the place of those
        whose centroids are nearest. For the indexes of `train_with_centroids`."""
        rows = as_rows("x", x, self._dim)
        row_ids, numbers = as_ids("ids", ids), as_ids("lists", lists)
        for name, array in (("ids", row_ids), ("lists", numbers)):
            if len(array) != len(rows):
                raise BadArgumentError(
                    f"{name}: shape {array.shape} is not allowed; ({len(rows)},)"
                )
        arrays = (len(rows), address(rows), address(row_ids), address(numbers))
        asked = ("add", progress, num_threads, rows.size)
        self._change_long(*asked, lib.polar_index_add_to_lists, *arrays, beside=True)

    def search(
        self,
        queries: npt.ArrayLike,
        k: int,
        *,
        filter: FilterLike = None,
        exactness: float | None = None,
        nprobe: int = 0,
        ef_search: int = 0,
        k_factor: float = 0,
        num_threads: int = 0,
        progress: ProgressLike = None,
    ) -> tuple[Floats, Ids]:
        """The k nearest rows of each query: scores, float32, and ids, int64, best first.

        queries: (nq, dim), results (nq, k); or (dim,), results (k,). Where there are fewer rows
        than k: id −1 with score −inf (L2: +inf). L2 scores are squared distances.
        filter: ids that may be returned, see `polarquant.filters`.
        exactness: how surely rows are left out unscored, 0 to infinity, which scores every row;
        None is the library's default. docs/search.md has the rest.
        nprobe: lists of an inverted file searched for each query; 0 is the index's `nprobe`.
        ef_search: nodes that a search of a graph, HNSW or NSG, keeps; 0 is FAISS's default, 16.
        k_factor: rows that a refinement ("Polar2,RFlat") scores again for each query, as a multiple
        of k, 1 or more; 0 is the index's own, 1 in a new one, which only puts the k in better order.
        num_threads: 0 to 1024; 0 is OpenMP's default.
        progress: True for a bar, or a function that hears the share done and stops by False.
        Raises NotTrainedError, BadArgumentError, CancelledError; UnsupportedError for options that
        the index has no use for, and for a filter of the few FAISS indexes that cannot. Ctrl-C ends
        a long search.
        """
        with self._use.shared as handle:

            def function(nq: int, q: int, k: int, options: Any, scores: int, ids: int) -> int:
                status: int = lib.polar_index_search(handle, nq, q, k, options, scores, ids)
                return status

            rows = lib.polar_index_ntotal(handle)
            asked = (filter, exactness, num_threads, progress, nprobe, ef_search, k_factor)
            return run_search(function, self._use, queries, self._dim, k, rows, *asked)

    def explain(
        self,
        nq: int = 1,
        k: int = 10,
        *,
        filter: FilterLike = None,
        exactness: float | None = None,
        nprobe: int = 0,
        ef_search: int = 0,
        k_factor: float = 0,
        num_threads: int = 0,
    ) -> str:
        """What `search` would do for so many queries together: how it scans, rows, stages, and about
        how many bytes it reads. Nothing is searched. Lines for people; their words may change.

        Options and what is raised as for `search`.
        """
        numbers = (as_int("nq", nq, 1, 2**40), as_int("k", k, 1, 2**63 - 1))
        options = make_search_options(exactness, num_threads, nprobe, ef_search, k_factor)
        # Holds what the options point to.
        applied = AppliedFilter(filter, self._use)
        options.filter = applied.address
        needed = ctypes.c_size_t()
        # No text is longer.
        text = ctypes.create_string_buffer(1 << 16)
        arguments = (ctypes.byref(options), text, len(text), ctypes.byref(needed))
        self._read(lib.polar_index_explain, *numbers, *arguments)
        del applied
        return text.value.decode("utf-8")

    def range_search(
        self,
        queries: npt.ArrayLike,
        radius: float,
        *,
        filter: FilterLike = None,
        exactness: float | None = None,
        nprobe: int = 0,
        ef_search: int = 0,
        num_threads: int = 0,
        progress: ProgressLike = None,
    ) -> tuple[Ids, Floats, Ids]:
        """All rows within a radius of each query: score > radius, for L2 squared distance < radius.

        queries: (nq, dim), or (dim,) for one. Returns lims, (nq + 1,), scores and ids of all queries:
        those of query q are lims[q] to lims[q + 1] − 1, best first. Searches twice, first to count.
        filter and all that follow: as for `search`; Ctrl-C ends a long one. Raises NotTrainedError,
        BadArgumentError, CancelledError; UnsupportedError for FAISS's own graphs.
        """
        options = make_search_options(exactness, num_threads, nprobe, ef_search)
        with self._use.shared as handle:

            def function(nq: int, q: int, *arguments: Any) -> int:
                status: int = lib.polar_index_range_search(handle, nq, q, *arguments)
                return status

            rows = lib.polar_index_ntotal(handle)
            asked = (radius, rows, filter, options, progress)
            return run_range_search(function, self._use, queries, self._dim, *asked)

    def remove_ids(self, ids: FilterLike) -> int:
        """Removes rows by id and returns how many went; ids that are not held are passed over.

        ids: integers, a bool array, a `range` or a `Bitset`, as a search's filter
        (`polarquant.filters`); functions are not taken, since one that raised would leave half of
        the rows removed.
        Rows without ids of yours are numbered anew, from 0. Raises UnsupportedError where an index
        cannot do that (inverted files alone, id maps). Of graphs remove many at once.
        """
        if ids is None or callable(ids):
            raise TypeError(f"ids: {ids!r} is not allowed; integers, bools, a range or a Bitset")
        removed = ctypes.c_int64()
        out = ctypes.byref(removed)
        # A list of ids is no filter yet: making one takes longer than to remove a row.
        array = None if isinstance(ids, (range, Bitset, IdSet)) else as_array(ids)
        if array is not None and array.dtype != np.bool_:
            gone = as_ids("ids", array)
            self._change(lib.polar_index_remove, len(gone), address(gone), out, beside=True)
            return removed.value
        applied = AppliedFilter(ids if array is None else array, self._use)
        self._change(lib.polar_index_remove_filtered, applied.address, out, beside=True)
        return removed.value

    def merge_from(self, other: Index, *, num_threads: int = 0) -> None:
        """Moves all rows of another index after those held; `other` is empty afterwards.

        Ids of yours stay and must differ; other rows are numbered on. Both must be made and trained
        alike: StateMismatchError, with the part that differs, when their codes do not mix (train
        before sharding, or give all shards one state by `clone`). Rows that `other` keeps as floats
        (see `add`) are added; an index that learned nothing yet takes over what the codes of `other`
        are made by, and codes by it what it holds. Raises BadArgumentError for ids that both hold, UnsupportedError for graphs. After an error both are as they were.
        """
        if not isinstance(other, Index):
            raise TypeError(f"other: {other!r} is not an Index")
        if other is self:
            raise BadArgumentError("other: is the index itself; another one is allowed")
        # In one order, so that two merges of the same two wait for each other, not both for ever.
        first, second = sorted((self._use, other._use), key=id)
        options = work_options(as_int("num_threads", num_threads, 0, 1024))
        with first.sole, second.sole:
            handles = (self._use.open_handle(), other._use.open_handle())
            check(lib.polar_index_merge(*handles, ctypes.byref(options)))

    def compact(self, *, num_threads: int = 0, progress: ProgressLike = None) -> None:
        """Builds the links of NSG graphs anew, after many rows went or were updated.

        Searches then find as much as in a graph that was built of the rows held. Other indexes keep
        nothing of rows that went, and are left as they are.
        """
        numbers = self.ntotal * self._dim
        self._change_long("compact", progress, num_threads, numbers, lib.polar_index_compact)

    def update(
        self,
        ids: npt.ArrayLike,
        x: npt.ArrayLike,
        *,
        num_threads: int = 0,
        progress: ProgressLike = None,
    ) -> None:
        """Codes x, (n, dim), in the place of the rows with these ids, (n,).

        Raises NotFoundError; UnsupportedError unless the index is one of our codes, also in id
        maps, an inverted file or graph of one, or a refinement of these; also after vector
        transforms.
        """
        self._put("update", lib.polar_index_update, ids, x, num_threads, progress)

    def upsert(
        self,
        ids: npt.ArrayLike,
        x: npt.ArrayLike,
        *,
        num_threads: int = 0,
        progress: ProgressLike = None,
    ) -> None:
        """Codes x, (n, dim), in the place of the rows with these ids, (n,), and adds the others.

        Raises UnsupportedError unless the index is one of our codes or an inverted file of one,
        also after vector transforms.
        """
        self._put("upsert", lib.polar_index_upsert, ids, x, num_threads, progress)

    def _put(
        self,
        name: str,
        call: Any,
        ids: npt.ArrayLike,
        x: npt.ArrayLike,
        num_threads: int,
        progress: ProgressLike,
    ) -> None:
        rows = as_rows("x", x, self._dim)
        wanted = as_ids("ids", ids)
        if len(wanted) != len(rows):
            raise BadArgumentError(f"ids: shape {wanted.shape} is not allowed; ({len(rows)},)")
        arrays = (len(rows), address(wanted), address(rows))
        self._change_long(name, progress, num_threads, rows.size, call, *arrays, beside=True)

    def reconstruct(self, id: int) -> Floats:
        """The stored form of the row with this id, (dim,); normalized for cosine.

        Raises NotFoundError, and UnsupportedError for an index that keeps no way back from id to
        row.
        """
        out: Floats = self.reconstruct_batch([as_int("id", id, -(2**63), 2**63 - 1)])[0]
        return out

    def reconstruct_batch(self, ids: npt.ArrayLike) -> Floats:
        """The stored forms of the rows with these ids, (n,): (n, dim)."""
        wanted = as_ids("ids", ids)
        out = np.empty((len(wanted), self._dim), dtype=np.float32)
        for id, row in zip(wanted.tolist(), out):
            self._read(lib.polar_index_reconstruct, id, address(row))
        return out

    def save(self, path: PathLike, *, verify: bool = False) -> None:
        """Writes rows, ids and what was trained to a file, which appears whole or not at all.

        verify: the file is read back whole before it takes its name; the index is in memory twice
        meanwhile.
        A link stays, and what it names is replaced. Raises InputOutputError where the system refuses,
        and the old file is as it was unless the error says that the new one is in place;
        UnsupportedError for an index that FAISS cannot write; CorruptDataError where verify finds
        something else than what was written.
        """
        options = default_options(_structs.SaveOptions, lib.polar_save_options_init_sized)
        options.verify = int(bool(verify))
        self._read(lib.polar_index_save, as_path(path), ctypes.byref(options))

    @classmethod
    def load(cls, path: PathLike, *, memory_map: bool = False, trust_faiss: bool = False) -> Index:
        """The index of a file of `save`, on any machine; damaged files are refused.

        memory_map: rows, flat and in inverted files, stay in the file; the index cannot be changed,
        and the file may be removed or replaced, but not be written to or cut short, which ends the
        process.
        trust_faiss: FAISS's own inverted files, graphs and product quantizers ("IVF1024,Flat",
        "HNSW32,Flat", "PQ16"; docs/faiss.md) are read too, unchecked, for files from whom you trust:
        others can end the process, or worse.
        Raises CorruptDataError, NewerFormatError, UnsupportedError, InputOutputError.
        """
        return cls._adopt_loaded(load_from_path(path, memory_map, trust_faiss))

    @classmethod
    def load_empty(cls, path: PathLike) -> Index:
        """An index without rows, in memory, that codes as the one in a file does: for shards whose rows
        mix with the file's. Of the kinds that `IndexBuilder` takes; UnsupportedError for others."""
        return cls._adopt_loaded(create(lib.polar_index_load_empty, as_path(path)))

    @classmethod
    def from_faiss(
        cls,
        index: Any,
        spec: str = "Polar4",
        *,
        train_rows: int = 100_000,
        seed: int = 1,
        progress: ProgressLike = None,
    ) -> Index:
        """An inverted file of a code of ours with the lists, ids, rows and nprobe of one of FAISS's.

        index: a trained faiss.IndexIVF of any code that can rebuild its rows, alone or inside
        IndexIDMap, IndexRefineFlat, or IndexPreTransform by rotations and L2norm. Rows are taken
        over as FAISS rebuilds them: exactly from "IVF…,Flat" and from a refinement by floats, with
        their error from other codes. An inner product after L2norm becomes "cosine".
        spec: of the code, "Polar4", …; the result is "IVF1024,Polar4", or "IVF1024_HNSW32,Polar4" where a graph
        finds the lists.
        train_rows: drawn at random by `seed` to train the code on.
        progress: True for a bar, or a function that hears the share done and stops by False.

        Cost: some microseconds a row besides what `add` takes; rows are in memory in small parts.
        Needs the package faiss. Raises UnsupportedError for what cannot be taken over, and where
        FAISS is missing; BadArgumentError for one that is not trained or holds ids below 0 or twice.
        """
        source = FaissIvf(index)
        made = cls(f"{source.factory_prefix},{spec}", source.dim, source.metric)
        rows = source.sample(as_int("train_rows", train_rows, 1, 2**63 - 1), seed)
        made.train_with_centroids(source.centroids(), rows if len(rows) else source.centroids())
        made.nprobe = source.nprobe
        with LongCall("from_faiss", progress, made._use) as call:
            for part in source.batches():
                made.add_to_lists(part.x, part.ids, part.lists)
                call.advance(made.ntotal / source.ntotal)
        return made

    def verify(self) -> None:
        """Reads all that a memory-mapped index has in its file; CorruptDataError if it is damaged."""
        self._read(lib.polar_index_verify)

    # Pickle runs code, so that those who load one trust it.
    def __reduce__(self) -> tuple[Any, ...]:
        with self._use.shared as handle:
            return _load_pickled, (save_to_bytes(handle),)


def _load_pickled(data: bytes) -> Index:
    return Index._adopt_loaded(load_from_bytes(data, trust_faiss=True))
