#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of vectors in SQLite beside sqlite-vec's: speed, recall, sizes of files, inserts.

    python3 bench/sqlite/compare.py --base base.npy --queries query.npy --neighbors gt_ip.npy

base, queries: float32, (n, dim); neighbors: ids of the nearest by inner product, (nq, 10 or more).
Rows are normalized, so that inner product, cosine and L2 have the same neighbors. One thread, in one
process; each round asks every table in turn, and medians are printed.
"""

import argparse
import os
import sqlite3
import statistics
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import polarquant  # noqa: E402
import polarquant.sqlite  # noqa: E402
import sqlite_vec  # noqa: E402

K = 10


def seconds(call) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


class Table:
    """One table in a database of its own, in WAL mode."""

    def __init__(self, name: str, folder: str, create: str, insert: str, search: str, values: int):
        self.name = name
        self.path = os.path.join(folder, name.replace(" ", "_") + ".db")
        self.insert_sql, self.search_sql, self.values = insert, search, values
        self.db = self.connect()
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute(create)
        self.times: list[float] = []

    def connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, isolation_level=None)
        polarquant.sqlite.load(db)
        db.enable_load_extension(True)
        sqlite_vec.load(db)
        return db

    def insert(self, first: int, rows: np.ndarray) -> float:
        vectors = [row.tobytes() for row in rows]
        given = ((first + i, *[vector] * self.values, (first + i) % 100)
                 for i, vector in enumerate(vectors))

        def together() -> None:
            self.db.execute("BEGIN")
            self.db.executemany(self.insert_sql, given)
            self.db.execute("COMMIT")

        return seconds(together)

    def search(self, query: np.ndarray, condition: str = "") -> list[int]:
        vector = query.tobytes()
        sql = self.search_sql.replace("{condition}", condition)
        count = sql.count("?")
        return [row[0] for row in self.db.execute(sql, (vector,) * count)]

    def bytes(self) -> int:
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return os.path.getsize(self.path)


def tables(folder: str, dim: int, code: str) -> list[Table]:
    rescored = (
        "WITH coarse AS (SELECT rowid, v FROM docs WHERE b MATCH vec_quantize_binary(?) AND k = {n}{{condition}}) "
        "SELECT rowid FROM coarse ORDER BY vec_distance_L2(v, ?) LIMIT 10"
    )
    vec = "SELECT rowid FROM docs WHERE v MATCH {query} AND k = 10{{condition}}"
    bits = (f"CREATE VIRTUAL TABLE docs USING vec0(v float[{dim}], b bit[{dim}], year INTEGER)",
            "INSERT INTO docs(rowid, v, b, year) VALUES (?, ?, vec_quantize_binary(?), ?)")
    return [
        Table(f"polar {code}", folder,
              f"CREATE VIRTUAL TABLE docs USING polar(v float[{dim}], code={code}, year INTEGER)",
              "INSERT INTO docs(rowid, v, year) VALUES (?, ?, ?)",
              "SELECT rowid FROM docs WHERE v MATCH ? AND k = 10{condition}", 1),
        Table("sqlite-vec float", folder,
              f"CREATE VIRTUAL TABLE docs USING vec0(v float[{dim}], year INTEGER)",
              "INSERT INTO docs(rowid, v, year) VALUES (?, ?, ?)", vec.format(query="?"), 1),
        Table("sqlite-vec int8", folder,
              f"CREATE VIRTUAL TABLE docs USING vec0(v int8[{dim}], year INTEGER)",
              "INSERT INTO docs(rowid, v, year) VALUES (?, vec_quantize_int8(?, 'unit'), ?)",
              vec.format(query="vec_quantize_int8(?, 'unit')"), 1),
        Table("sqlite-vec bit 80", folder, *bits, rescored.format(n=80), 2),
        Table("sqlite-vec bit 400", folder, *bits, rescored.format(n=400), 2),
    ]


def recall(found: list[list[int]], truth: np.ndarray) -> float:
    return float(np.mean([len(set(ids) & set(row[:K])) / K for ids, row in zip(found, truth.tolist())]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", required=True)
    parser.add_argument("--queries", required=True)
    parser.add_argument("--neighbors", required=True)
    parser.add_argument("--code", default="Polar4")
    parser.add_argument("--nq", type=int, default=60, help="queries a round")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()

    def normalized(path: str) -> np.ndarray:
        x = np.load(path).astype(np.float32)
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    base, queries = normalized(args.base), normalized(args.queries)[: args.nq]
    truth = np.load(args.neighbors)[: args.nq]
    n, dim = base.shape
    with tempfile.TemporaryDirectory() as folder:
        compared = tables(folder, dim, args.code)
        print(f"{n} rows of {dim} dimensions, SQLite {sqlite3.sqlite_version}")
        for table in compared:
            rate = n / table.insert(0, base)
            print(f"{table.name}: {rate:,.0f} rows/s in one transaction, "
                  f"{table.bytes() / base.nbytes:.3f} of the floats' bytes", flush=True)

        index = polarquant.Index(args.code, dim, "cosine")
        index.add(base)
        indexed: list[float] = []
        filtered: list[float] = []
        sql_alone: list[float] = []
        for _ in range(args.rounds):
            for query in queries:
                indexed.append(seconds(lambda: index.search(query, K)))
                for table in compared:
                    table.times.append(seconds(lambda: table.search(query)))
                ours = compared[0]
                filtered.append(seconds(lambda: ours.search(query, " AND year >= 90")))
                sql = "SELECT count(polar_slot) FROM docs_rows WHERE year >= 90"
                sql_alone.append(seconds(lambda: ours.db.execute(sql).fetchall()))
        print(f"index: {statistics.median(indexed) * 1e6:,.0f} µs a query")
        for table in compared:
            found = [table.search(query) for query in queries]
            print(f"{table.name}: {statistics.median(table.times) * 1e6:,.0f} µs a query, "
                  f"recall@{K} {recall(found, truth):.3f}")
        print(f"{compared[0].name}, a tenth of the rows: {statistics.median(filtered) * 1e6:,.0f} µs, "
              f"the condition's own query {statistics.median(sql_alone) * 1e6:,.0f} µs")

        single: dict[str, list[float]] = {table.name: [] for table in compared[:4]}
        for i in range(200):
            for table in compared[:4]:
                single[table.name].append(table.insert(n + i, base[i : i + 1]))
        for name, times in single.items():
            print(f"{name}: {statistics.median(times) * 1e6:,.0f} µs for one row and its commit")

        cold: list[float] = []
        passed: list[float] = []
        kept: list[float] = []
        for _ in range(15):
            for table in compared:
                table.db.close()
                table.db = table.connect()
            cold.append(seconds(lambda: compared[0].search(queries[0])))
            sql = "SELECT ids, data FROM docs_blocks"
            fresh = compared[0].connect()
            passed.append(seconds(lambda: [None for _ in fresh.execute(sql)]))
            fresh.close()
            fresh = compared[0].connect()
            kept.append(seconds(lambda: fresh.execute(sql).fetchall()))
            fresh.close()
        print(f"{compared[0].name}: first search of a connection {statistics.median(cold) * 1e3:.1f} ms; "
              f"reading docs_blocks {statistics.median(passed) * 1e3:.1f} ms, "
              f"and keeping it {statistics.median(kept) * 1e3:.1f} ms")
        for table in compared:
            table.db.close()


if __name__ == "__main__":
    main()
