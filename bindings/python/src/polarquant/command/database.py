# SPDX-License-Identifier: MIT
"""Tables of vectors in SQLite databases, files that end in .db, where commands take index files."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from typing import Any

import numpy as np

import polarquant.sqlite
from polarquant._arrays import Floats, Ids
from polarquant.command.failure import CommandError
from polarquant.command.progress import shown
from polarquant.command.vectors import RowIds, Vectors
from polarquant.metric import Metric

ENDING = ".db"
_METRICS = {"cosine": Metric.COSINE, "ip": Metric.INNER_PRODUCT, "l2": Metric.L2}
_VECTORS = re.compile(r'("(?:[^"]|"")+"|\w+)\s+float\s*\[\s*(\d+)\s*\]', re.IGNORECASE)
_METRIC = re.compile(r"\bmetric\s*=\s*(\w+)", re.IGNORECASE)


def is_database(path: str) -> bool:
    """Whether a command's file is a database."""
    return path.endswith(ENDING)


def build_table(
    path: str, table: str, vectors: Vectors, code: str, metric: Metric, ids: RowIds | None
) -> int:
    """A new table of vectors, in one transaction; returns its rows. The code learns from the first
    ones."""
    was_there = os.path.exists(path)
    connection = _connect(path)
    metric_name = next(name for name, known in _METRICS.items() if known == metric)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            f"CREATE VIRTUAL TABLE {_quoted(table)} USING polar(embedding float[{vectors.dim}], "
            f"code={code}, metric={metric_name})"
        )
        sql = f"INSERT INTO {_quoted(table)}(rowid, embedding) VALUES (?, ?)"
        with shown("add") as show:
            for first, rows in vectors.blocks():
                numbers = range(first, first + len(rows))
                given = numbers if ids is None else ids.rows(first, numbers.stop).tolist()
                connection.executemany(sql, zip(given, (row.tobytes() for row in rows)))
                show(numbers.stop / vectors.count)
        connection.execute("COMMIT")
    except BaseException as error:
        connection.close()
        if not was_there:
            os.remove(path)
        if isinstance(error, sqlite3.Error):
            raise CommandError(f"{path}: {error}") from error
        raise
    count = connection.execute(f"SELECT count(*) FROM {_quoted(table)}").fetchone()[0]
    connection.close()
    return int(count)


class SearchedTable:
    """A table that is searched as an `Index` is."""

    def __init__(self, path: str, table: str) -> None:
        if not os.path.exists(path):
            raise CommandError(f"{path}: is not there")
        self._path, self._table = path, table
        self._connection = _connect(path)
        try:
            found = self._connection.execute(
                "SELECT sql FROM sqlite_master WHERE name = ? AND type = 'table'", (table,)
            ).fetchone()
        except sqlite3.Error as error:
            raise CommandError(f"{path}: {error}") from error
        declared = _VECTORS.search(found[0]) if found and "polar(" in found[0] else None
        if declared is None:
            raise CommandError(f"{path}: has no table of vectors {table}; --table names another")
        self._column, self.dim = declared[1], int(declared[2])
        metric = _METRIC.search(found[0])
        self._metric = _METRICS[metric[1].lower()] if metric else Metric.COSINE

    def search(
        self, queries: Floats, k: int, *, filter: Ids | None = None, **options: Any
    ) -> tuple[Floats, Ids]:
        """As `Index.search`, among these rowids, without its other options."""
        for name, value in options.items():
            if value and name != "num_threads":
                raise CommandError(f"--{name.replace('_', '-')}: is not for databases")
        table = _quoted(self._table)
        sql = f"SELECT rowid, distance FROM {table} WHERE {self._column} MATCH ? AND k = ?"
        values: list[Any] = []
        if filter is not None:
            sql += " AND rowid IN (SELECT value FROM json_each(?))"
            values.append(json.dumps(filter.tolist()))
        ids = np.full((len(queries), k), -1, dtype=np.int64)
        worst = np.inf if self._metric == Metric.L2 else -np.inf
        scores = np.full(ids.shape, worst, dtype=np.float32)
        try:
            for place, query in enumerate(queries):
                found = self._connection.execute(
                    f"{sql} ORDER BY distance", (query.tobytes(), k, *values)
                ).fetchall()
                ids[place, : len(found)] = [row[0] for row in found]
                scores[place, : len(found)] = [self._score(row[1]) for row in found]
        except sqlite3.Error as error:
            raise CommandError(f"{self._path}: {error}") from error
        return scores, ids

    def _score(self, distance: float) -> float:
        if self._metric == Metric.COSINE:
            return 1 - distance
        return -distance if self._metric == Metric.INNER_PRODUCT else distance


def _connect(path: str) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(path, isolation_level=None)
    except sqlite3.Error as error:
        raise CommandError(f"{path}: {error}") from error
    polarquant.sqlite.load(connection)
    return connection


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
