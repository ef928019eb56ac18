# SPDX-License-Identifier: MIT
"""Vectors under ids that are texts, each with what a framework keeps beside it.

What the vector stores of frameworks share: an index counts its rows by numbers, and a record says which
number an id has now. Records live in memory; `save` writes them and the index to a folder.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any, Callable, NamedTuple

import numpy as np
import numpy.typing as npt

from polarquant._arrays import Floats, as_floats
from polarquant._kept_rows import IndexRows, KeptRows, Kind, first_rows
from polarquant._kept_values import kept_id
from polarquant._record_files import Stored, load_folder, save_folder
from polarquant._storage import PathLike
from polarquant.codec import Codec
from polarquant.errors import BadArgumentError
from polarquant.index import Index
from polarquant.metric import Metric, MetricLike, as_metric


class Record(NamedTuple):
    """What an id stands for."""

    number: int
    id: str
    #: As `_kept_values` allows it.
    payload: dict[str, Any]


class Found(NamedTuple):
    """A result of a search."""

    record: Record
    score: float


class Records:
    """Ids, payloads, and vectors, of which the first tell their dimensions.

    Threads may call at the same time; what changes records runs alone.
    """

    def __init__(self, description: str, metric: MetricLike) -> None:
        self.description = description
        self.metric = as_metric(metric)
        # A wrong name of a code is told now; what else a description says, its dimensions decide.
        if description.startswith("Polar") and "," not in description:
            Codec(description, 128, self.metric).close()
        self._rows: KeptRows | None = None
        self._next = 0
        self._by_id: dict[str, Record] = {}
        self._by_number: dict[int, Record] = {}
        self._lock = threading.RLock()

    @property
    def index(self) -> Index | None:
        """None before the first vectors, and while they are floats until it can be trained."""
        return self._rows.index if isinstance(self._rows, IndexRows) else None

    def __len__(self) -> int:
        return len(self._by_id)

    def put(
        self, ids: Sequence[str], vectors: npt.ArrayLike, payloads: Sequence[dict[str, Any]]
    ) -> None:
        """Vectors, (n, dim), under ids, (n,), in the place of those that these ids had; of equal
        ids the last counts. After an error nothing has changed."""
        if not len(ids) == len(vectors) == len(payloads):  # type: ignore[arg-type]
            raise BadArgumentError(
                f"ids: {len(ids)} ids and {len(payloads)} payloads; as many as vectors are allowed"
            )
        last = {kept_id("ids", id): place for place, id in enumerate(ids)}
        places = list(last.values())
        if not places:
            return
        rows = as_floats("vectors", vectors)
        if rows.ndim != 2:
            raise BadArgumentError(f"vectors: shape {rows.shape} is not allowed; (n, dim)")
        rows = rows[places]
        with self._lock:
            rows_now = self._rows
            if rows_now is None:
                rows_now = first_rows(Kind(self.description, rows.shape[1], self.metric))
            old = [self._by_id[id].number for id in last if id in self._by_id]
            numbers = range(self._next, self._next + len(places))
            self._rows = rows_now.put(old, numbers, rows)
            self._next = numbers.stop
            for number in old:
                del self._by_number[number]
            for number, (id, place) in zip(numbers, last.items()):
                record = Record(number, id, payloads[place])
                self._by_id[id] = self._by_number[number] = record

    def remove(self, ids: Iterable[str]) -> int:
        """Removes what these ids stand for and returns how many there were; others are passed
        over."""
        with self._lock:
            held = [self._by_id[id] for id in dict.fromkeys(ids) if id in self._by_id]
            if held and self._rows is not None:
                self._rows.remove([record.number for record in held])
            for record in held:
                del self._by_id[record.id], self._by_number[record.number]
            return len(held)

    def clear(self) -> None:
        """Removes all, and what the index learned."""
        with self._lock:
            self._rows = None
            self._by_id, self._by_number = {}, {}

    def get(self, ids: Iterable[str]) -> list[Record]:
        """The records of these ids; ids that are not held are passed over."""
        with self._lock:
            return [self._by_id[id] for id in ids if id in self._by_id]

    def all(self) -> list[Record]:
        """All records, in the order they came."""
        with self._lock:
            return list(self._by_id.values())

    def find(
        self,
        query: npt.ArrayLike,
        k: int,
        keep: Callable[[Record], bool] | None = None,
        **options: Any,
    ) -> list[Found]:
        """The k nearest to a query, (dim,), best first, among those that `keep` keeps; options as
        for `Index.search`."""
        rows = self._rows
        if rows is None or k < 1:
            return []
        among = None
        if keep is not None:
            numbers = [record.number for record in self.all() if keep(record)]
            if not numbers:
                return []
            among = np.array(sorted(numbers), dtype=np.int64)
        scores, numbers_found = rows.find(query, min(k, max(1, len(self))), among, **options)
        found = []
        with self._lock:
            for score, number in zip(scores.tolist(), numbers_found.tolist()):
                # Another thread may have removed it meanwhile.
                if number in self._by_number:
                    found.append(Found(self._by_number[number], score))
        return found

    def vectors(self, records: Sequence[Record]) -> Floats:
        """The stored forms of records, (n, dim): near to what was put, normalized for cosine."""
        if self._rows is None or not records:
            return np.empty((0, 0), dtype=np.float32)
        return self._rows.vectors([record.number for record in records])

    def save(self, folder: PathLike) -> None:
        """Writes all to a folder, which is made; what was saved there before stays whole until the
        new is. Nothing is removed or replaced but what a store wrote. Saves to one folder wait for
        each other. InputOutputError where the system refuses; the folder is then as it was, unless the
        error says that the new files are in place."""
        save_folder(folder, self._lock, self._take)

    def _take(self) -> Stored:
        records = [(*record,) for record in self._by_id.values()]
        return Stored(self.description, self.metric, self._next, self._rows, records)

    @classmethod
    def load(
        cls, folder: PathLike, *, memory_map: bool = False, trust_faiss: bool = False
    ) -> Records:
        """What `save` wrote. memory_map, trust_faiss: as for `Index.load`.

        Raises NotFoundError where there is nothing, CorruptDataError, NewerFormatError.
        """
        stored = load_folder(folder, memory_map, trust_faiss)
        records = cls(stored.description, stored.metric)
        records._next, records._rows = stored.next_number, stored.rows
        for record in map(Record._make, stored.records):
            records._by_id[record.id] = records._by_number[record.number] = record
        return records


def larger_is_nearer(metric: Metric, score: float) -> float:
    """A score that is larger the nearer: cosine, inner product, or a squared distance below 0."""
    return -score if metric == Metric.L2 else score
