# SPDX-License-Identifier: MIT
"""The records of a vector store (`_records.Records`) in an SQLite database.

A table of the extension holds vectors and ids as metadata, payloads as JSON texts. Each call is one
transaction: what it put is there when it returns, after a crash too, for other processes as well.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

import polarquant.sqlite
from polarquant._arrays import Floats, as_floats, as_vector
from polarquant._kept_values import kept_id
from polarquant._records import Found, Record, Records
from polarquant._storage import PathLike
from polarquant.codec import Codec
from polarquant.errors import (
    BadArgumentError,
    CorruptDataError,
    InputOutputError,
    StateMismatchError,
    UnsupportedError,
)
from polarquant.metric import Metric, MetricLike, as_metric

_TABLE = "polarquant_documents"
_COLUMNS = "id TEXT, +payload TEXT"
#: What another process's transaction is waited for, in seconds.
_TIMEOUT = 60.0
_METRIC_NAMES = {Metric.COSINE: "cosine", Metric.INNER_PRODUCT: "ip", Metric.L2: "l2"}
#: As `_create` writes it.
_DECLARATION = re.compile(r"vector float\[(\d+)\], code=(\S+), metric=(\w+),")
_SELECT = f"SELECT rowid, id, payload FROM {_TABLE}"


class SqliteRecords:
    """As `Records`, in the database at `path`, which is made if it is not there.

    Threads may call at the same time; they take turns. So may processes.
    """

    #: There is none to give: codes are in the database.
    index = None

    def __init__(self, description: str, metric: MetricLike, path: PathLike) -> None:
        self.description = description
        self.metric = as_metric(metric)
        self.path = os.fspath(path)
        if not re.fullmatch(r"Polar[\w.+-]+", description):
            raise UnsupportedError(
                f"description: {description} is not allowed with path; a code alone is, as Polar4"
            )
        Codec(description, 128, self.metric).close()  # a wrong name is told now
        self._lock = threading.RLock()
        try:
            self._connection = sqlite3.connect(
                self.path, timeout=_TIMEOUT, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise InputOutputError(f"path: {self.path}: {error}") from error
        polarquant.sqlite.load(self._connection)
        with self._transaction():
            self._dim()

    def close(self) -> None:
        """Gives back the connection; what is called afterwards fails."""
        with self._lock:
            self._connection.close()

    def __len__(self) -> int:
        with self._transaction() as run:
            if self._dim() is None:
                return 0
            return int(run(f"SELECT count(*) FROM {_TABLE}").fetchone()[0])

    def put(
        self, ids: Sequence[str], vectors: npt.ArrayLike, payloads: Sequence[dict[str, Any]]
    ) -> None:
        """As `Records.put`."""
        if not len(ids) == len(vectors) == len(payloads):  # type: ignore[arg-type]
            raise BadArgumentError(
                f"ids: {len(ids)} ids and {len(payloads)} payloads; as many as vectors are allowed"
            )
        last = {kept_id("ids", id): place for place, id in enumerate(ids)}
        if not last:
            return
        rows = as_floats("vectors", vectors)
        if rows.ndim != 2:
            raise BadArgumentError(f"vectors: shape {rows.shape} is not allowed; (n, dim)")
        finite = np.isfinite(rows).all(axis=1)
        if not finite.all():
            raise BadArgumentError(f"vectors: row {int(finite.argmin())} is not finite")
        with self._transaction(writes=True) as run:
            dim = self._dim()
            if dim is None:
                self._create(rows.shape[1])
            elif rows.shape[1] != dim:
                raise BadArgumentError(f"vectors: shape {rows.shape} is not allowed; (n, {dim})")
            for id, place in last.items():
                held = run(f"SELECT rowid FROM {_TABLE} WHERE id = ?", (id,)).fetchone()
                run(
                    f"INSERT OR REPLACE INTO {_TABLE}(rowid, vector, id, payload)"
                    " VALUES (?, ?, ?, ?)",
                    (
                        held[0] if held else None,
                        rows[place].tobytes(),
                        id,
                        json.dumps(payloads[place], ensure_ascii=False),
                    ),
                )

    def remove(self, ids: Iterable[str]) -> int:
        """As `Records.remove`."""
        with self._transaction(writes=True) as run:
            if self._dim() is None:
                return 0
            count = 0
            for id in dict.fromkeys(ids):
                count += run(f"DELETE FROM {_TABLE} WHERE id = ?", (id,)).rowcount
            return count

    def clear(self) -> None:
        """As `Records.clear`."""
        with self._transaction(writes=True) as run:
            run(f"DROP TABLE IF EXISTS {_TABLE}")

    def get(self, ids: Iterable[str]) -> list[Record]:
        """As `Records.get`."""
        with self._transaction() as run:
            if self._dim() is None:
                return []
            return [
                _as_record(row)
                for id in ids
                for row in run(f"{_SELECT} WHERE id = ?", (id,)).fetchall()
            ]

    def all(self) -> list[Record]:
        """As `Records.all`."""
        with self._transaction() as run:
            if self._dim() is None:
                return []
            return [_as_record(row) for row in run(f"{_SELECT} ORDER BY rowid")]

    def find(
        self,
        query: npt.ArrayLike,
        k: int,
        keep: Callable[[Record], bool] | None = None,
        **options: Any,
    ) -> list[Found]:
        """As `Records.find`, without options."""
        if options:
            raise UnsupportedError(f"{next(iter(options))}: is no option of a store in a database")
        with self._transaction() as run:
            dim = self._dim()
            if dim is None or k < 1:
                return []
            vector = as_vector("query", query, dim)
            sql = (
                f"SELECT rowid, id, payload, distance FROM {_TABLE} WHERE vector MATCH ? AND k = ?"
            )
            values: list[Any] = [vector.tobytes(), k]
            if keep is not None:
                numbers = [record.number for record in self.all() if keep(record)]
                sql += " AND rowid IN (SELECT value FROM json_each(?))"
                values.append(json.dumps(numbers))
            rows = run(f"{sql} ORDER BY distance", values).fetchall()
            return [Found(_as_record(row), self._score(row[3])) for row in rows]

    def vectors(self, records: Sequence[Record]) -> Floats:
        """As `Records.vectors`."""
        with self._transaction() as run:
            sql = f"SELECT vector FROM {_TABLE} WHERE rowid = ?"
            rows = [run(sql, (record.number,)).fetchone() for record in records]
            found = [np.frombuffer(row[0], dtype=np.float32) for row in rows if row is not None]
            return np.array(found) if found else np.empty((0, 0), dtype=np.float32)

    def save(self, folder: PathLike) -> None:
        """A store in a database is saved by each call."""
        raise UnsupportedError(
            f"a store with path is kept in {self.path} already; to have it elsewhere, copy that by "
            "SQLite (VACUUM INTO)"
        )

    def _score(self, distance: float) -> float:
        if self.metric == Metric.COSINE:
            return 1 - distance
        return -distance if self.metric == Metric.INNER_PRODUCT else distance

    def _dim(self) -> int | None:
        """Of the table; None before there is one. StateMismatchError where it is another kind of
        store's."""
        found = self._connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = ? AND type = 'table'", (_TABLE,)
        ).fetchone()
        if found is None:
            return None
        declared = _DECLARATION.search(found[0])
        if declared is None:
            raise CorruptDataError(f"path: {self.path}: {_TABLE} is not a store's")
        dim, code, metric = declared.groups()
        for name, held, asked in (
            ("description", code, self.description),
            ("metric", metric, _METRIC_NAMES[self.metric]),
        ):
            if held != asked:
                raise StateMismatchError(
                    f"{name}: {asked} is not allowed; the store in {self.path} has {held}"
                )
        return int(dim)

    def _create(self, dim: int) -> None:
        self._connection.execute(
            f"CREATE VIRTUAL TABLE {_TABLE} USING polar(vector float[{dim}], "
            f"code={self.description}, metric={_METRIC_NAMES[self.metric]}, {_COLUMNS})"
        )

    @contextmanager
    def _transaction(self, writes: bool = False) -> Iterator[Callable[..., sqlite3.Cursor]]:
        """One transaction, or a part of the one that this thread is in."""
        with self._lock:
            is_inner = self._connection.in_transaction
            try:
                if not is_inner:
                    self._connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
                yield self._connection.execute
                if not is_inner:
                    self._connection.execute("COMMIT")
            except BaseException as error:
                if not is_inner and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise InputOutputError(f"path: {self.path}: {error}") from error
                raise


def make_records(
    description: str, metric: MetricLike, path: PathLike | None
) -> Records | SqliteRecords:
    """In memory, or with a path in a database."""
    if path is None:
        return Records(description, metric)
    return SqliteRecords(description, metric, path)


def _as_record(row: tuple[Any, ...]) -> Record:
    return Record(row[0], row[1], json.loads(row[2]))
