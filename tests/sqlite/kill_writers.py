#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills processes that write to a table of vectors, at random moments, and looks at what is left.

Each writer makes transactions of a known order and says on a pipe when one is committed. After the
kill the table must be whole, and its rows those of one of two transactions: the last one that was
said to be committed, or the next, which may have been committed before it could be said.

    kill_writers.py build/lib/polarquant_sqlite.so --kills 1000 --journal wal
"""

import argparse
import array
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time

DIM = 32


def vector(number: int) -> bytes:
    source = random.Random(number)
    return array.array("f", (source.gauss(0, 1) for _ in range(DIM))).tobytes()


def changes(number: int) -> list[tuple[str, int, int]]:
    """Transaction `number`: (kind, rowid, number of the vector)."""
    source = random.Random(number * 7 + 1)
    if number == 0:
        return [("insert", rowid, rowid) for rowid in range(990)]  # ten more, and the codec learns
    kinds = source.choices(["insert", "delete", "update"], [6, 2, 1], k=source.randint(1, 60))
    return [(kind, source.randrange(3000), source.randrange(10**6)) for kind in kinds]


def apply(rows: dict[int, int], number: int) -> None:
    for kind, rowid, value in changes(number):
        if kind == "insert":
            rows[rowid] = value
        elif kind == "delete":
            rows.pop(rowid, None)
        elif rowid in rows:
            rows[rowid] = value


def connect(path: str, extension: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(extension)
    return db


def create(path: str, extension: str, journal: str) -> None:
    db = connect(path, extension)
    db.execute(f"PRAGMA journal_mode = {journal}")
    db.execute(f"CREATE VIRTUAL TABLE docs USING polar(v float[{DIM}], value INTEGER, +text)")
    db.execute("CREATE TABLE written(count INTEGER)")
    db.execute("INSERT INTO written VALUES (0)")
    db.close()


def write(path: str, extension: str, pipe: int) -> None:
    db = connect(path, extension)
    db.execute("PRAGMA synchronous = OFF")  # the machine goes on, so that nothing is lost by it
    first = db.execute("SELECT count FROM written").fetchone()[0]
    for number in range(first, 10**9):
        db.execute("BEGIN IMMEDIATE")
        for kind, rowid, value in changes(number):
            if kind == "insert":
                db.execute(
                    "INSERT OR REPLACE INTO docs(rowid, v, value, text) VALUES (?, ?, ?, ?)",
                    (rowid, vector(value), value, "t" * 100),
                )
            elif kind == "delete":
                db.execute("DELETE FROM docs WHERE rowid = ?", (rowid,))
            else:
                db.execute(
                    "UPDATE docs SET v = ?, value = ? WHERE rowid = ?",
                    (vector(value), value, rowid),
                )
        db.execute("UPDATE written SET count = ?", (number + 1,))
        db.execute("COMMIT")
        os.write(pipe, b"%d\n" % (number + 1))


def look(path: str, extension: str, rows: dict[int, int], said: int, known: int) -> int:
    """How many transactions are in the table; raises where it is not as after these."""
    db = connect(path, extension)
    count = db.execute("SELECT count FROM written").fetchone()[0]
    if count not in (said, said + 1):
        raise AssertionError(f"{said} transactions were said to be committed, {count} are there")
    for number in range(known, count):
        apply(rows, number)
    db.execute("INSERT INTO docs(docs) VALUES ('integrity-check')")
    if db.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
        raise AssertionError("PRAGMA integrity_check")
    held = dict(db.execute("SELECT rowid, value FROM docs"))
    if held != rows:
        raise AssertionError(f"rows differ after {count} transactions")
    for rowid in random.sample(sorted(rows), min(3, len(rows))):
        sql = "SELECT value FROM docs WHERE v MATCH ? AND k = 1"
        found = db.execute(sql, (vector(rows[rowid]),)).fetchone()[0]
        if found != rows[rowid]:
            raise AssertionError(f"row {rowid} is not found by its vector")
    db.close()
    return count


def in_child(call) -> tuple[int, int]:
    """Runs `call(pipe)` in a child; returns its process id and the pipe's other end."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        try:
            call(theirs)
        except BaseException as error:  # noqa: BLE001
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    os.close(theirs)
    return child, ours


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extension", help="polarquant_sqlite, as built")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--journal", default="wal", help="wal, delete, truncate or persist")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    extension = os.path.abspath(args.extension)
    chance = random.Random(args.seed)
    rows: dict[int, int] = {}
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "documents.db")
        create(path, extension, args.journal)
        for kill in range(args.kills):
            child, pipe = in_child(lambda out: write(path, extension, out))
            time.sleep(chance.uniform(0.005, 0.1))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            with os.fdopen(pipe, "rb") as out:
                lines = out.read().splitlines()
            said = int(lines[-1]) if lines else count
            before = count
            count = look(path, extension, rows, said, before)
            if (kill + 1) % 100 == 0:
                print(f"{kill + 1} kills, {count} transactions, {len(rows)} rows", flush=True)
    print(f"{args.kills} kills ({args.journal}), {count} transactions: whole each time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
