# SPDX-License-Identifier: MIT
"""Vectors under ids that are texts, each with what a framework keeps beside it.

What the vector stores of frameworks share: an index counts its rows by numbers, and a record says which
number an id has now. Records live in memory; `save` writes them and the index to a folder.
"""

from __future__ import annotations

import json
import os
import pathlib
import secrets
import threading
from collections.abc import Iterable, Sequence
from typing import Any, Callable, NamedTuple

import numpy as np
import numpy.typing as npt

from polarquant._arrays import Floats, as_floats
from polarquant._storage import PathLike
from polarquant.codec import Codec
from polarquant.errors import (
    BadArgumentError,
    CorruptDataError,
    NewerFormatError,
    NotFoundError,
    PolarError,
)
from polarquant.index import Index
from polarquant.metric import Metric, MetricLike, as_metric

_FORMAT = 1
_RECORDS_FILE = "records.json"


class Record(NamedTuple):
    """What an id stands for."""

    number: int
    id: str
    #: What JSON can hold.
    payload: dict[str, Any]


class Found(NamedTuple):
    """A result of a search."""

    record: Record
    score: float


class Records:
    """Ids, payloads and an index that is made when the first vectors tell their dimensions.

    Threads may call at the same time; what changes records runs alone.
    """

    def __init__(self, description: str, metric: MetricLike) -> None:
        self.description = description
        self.metric = as_metric(metric)
        # A wrong name of a code is told now; what else a description says, its dimensions decide.
        if description.startswith("Polar") and "," not in description:
            Codec(description, 128, self.metric).close()
        self._index: Index | None = None
        self._next = 0
        self._by_id: dict[str, Record] = {}
        self._by_number: dict[int, Record] = {}
        self._lock = threading.RLock()

    @property
    def index(self) -> Index | None:
        """None before the first vectors."""
        return self._index

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
        last = {id: place for place, id in enumerate(ids)}
        places = list(last.values())
        if not places:
            return
        rows = as_floats("vectors", vectors)
        if rows.ndim != 2:
            raise BadArgumentError(f"vectors: shape {rows.shape} is not allowed; (n, dim)")
        rows = rows[places]
        with self._lock:
            index = self._index
            if index is None:
                index = Index(self.description, rows.shape[1], self.metric)
            old = [self._by_id[id].number for id in last if id in self._by_id]
            if old:
                index.remove_ids([])  # tells of an index that cannot, while nothing has changed
            if not index.is_trained:
                index.train(rows)
            numbers = range(self._next, self._next + len(places))
            index.add_with_ids(rows, np.arange(numbers.start, numbers.stop))
            self._index, self._next = index, numbers.stop
            self._forget(old)
            for number, (id, place) in zip(numbers, last.items()):
                record = Record(number, id, payloads[place])
                self._by_id[id] = self._by_number[number] = record

    def remove(self, ids: Iterable[str]) -> int:
        """Removes what these ids stand for and returns how many there were; others are passed
        over."""
        with self._lock:
            held = [self._by_id[id] for id in dict.fromkeys(ids) if id in self._by_id]
            self._forget([record.number for record in held])
            for record in held:
                del self._by_id[record.id]
            return len(held)

    def _forget(self, numbers: list[int]) -> None:
        if numbers and self._index is not None:
            self._index.remove_ids(numbers)
            for number in numbers:
                del self._by_number[number]

    def clear(self) -> None:
        """Removes all, and what the index learned."""
        with self._lock:
            self._index = None
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
        index = self._index
        if index is None or k < 1:
            return []
        if keep is not None:
            numbers = [record.number for record in self.all() if keep(record)]
            if not numbers:
                return []
            options = {**options, "filter": np.array(sorted(numbers))}
        scores, numbers_found = index.search(query, min(k, max(1, len(self))), **options)
        found = []
        with self._lock:
            for score, number in zip(scores.tolist(), numbers_found.tolist()):
                # Another thread may have removed it meanwhile.
                if number in self._by_number:
                    found.append(Found(self._by_number[number], score))
        return found

    def vectors(self, records: Sequence[Record]) -> Floats:
        """The stored forms of records, (n, dim): near to what was put, normalized for cosine."""
        if self._index is None or not records:
            return np.empty((0, 0), dtype=np.float32)
        return self._index.reconstruct_batch([record.number for record in records])

    def save(self, folder: PathLike) -> None:
        """Writes all to a folder, which is made; what was saved there before stays whole until the
        new is. Raises BadArgumentError for a payload that JSON cannot hold."""
        place = pathlib.Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        with self._lock:
            name = f"rows-{secrets.token_hex(8)}.polar" if self._index is not None else None
            told = {
                "format": _FORMAT,
                "description": self.description,
                "metric": self.metric.name.lower(),
                "next": self._next,
                "index": name,
                "records": [_to_json(record) for record in self._by_id.values()],
            }
            if self._index is not None and name is not None:
                self._index.save(place / name)
        unfinished = place / f"{_RECORDS_FILE}.tmp-{secrets.token_hex(8)}"
        with open(unfinished, "w", encoding="utf-8") as file:
            json.dump(told, file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, place / _RECORDS_FILE)
        for other in place.glob("rows-*.polar"):
            if other.name != name:
                other.unlink()

    @classmethod
    def load(cls, folder: PathLike, *, memory_map: bool = False) -> Records:
        """What `save` wrote. memory_map: as for `Index.load`.

        Raises NotFoundError where there is nothing, CorruptDataError, NewerFormatError.
        """
        place = pathlib.Path(folder)
        try:
            with open(place / _RECORDS_FILE, encoding="utf-8") as file:
                told = json.load(file)
            if told["format"] > _FORMAT:
                raise NewerFormatError(f"{place}: is of format {told['format']}; up to {_FORMAT}")
            records = cls(told["description"], told["metric"])
            records._next = int(told["next"])
            for number, id, payload in told["records"]:
                record = Record(int(number), str(id), dict(payload))
                records._by_id[record.id] = records._by_number[record.number] = record
            name = told["index"]
        except FileNotFoundError:
            raise NotFoundError(
                f"{place}: has no {_RECORDS_FILE}; nothing was saved there"
            ) from None
        except PolarError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise CorruptDataError(f"{place / _RECORDS_FILE}: is not what was saved ({error!r})")
        if name is not None:
            records._index = Index.load(place / pathlib.Path(name).name, memory_map=memory_map)
        held = 0 if records._index is None else records._index.ntotal
        if not held == len(records._by_id) == len(records._by_number):
            raise CorruptDataError(f"{place}: {held} rows and {len(records._by_id)} records")
        return records


def _to_json(record: Record) -> list[Any]:
    try:
        json.dumps(record.payload)
    except (TypeError, ValueError) as error:
        raise BadArgumentError(f"{record.id!r}: what belongs to it cannot be saved ({error})")
    return list(record)


def larger_is_nearer(metric: Metric, score: float) -> float:
    """A score that is larger the nearer: cosine, inner product, or a squared distance below 0."""
    return -score if metric == Metric.L2 else score
