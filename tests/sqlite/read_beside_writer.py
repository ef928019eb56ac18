#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Four processes search a table of vectors while another one writes to it, in WAL mode.

Transaction n adds the rows 10·n to 10·n + 9 and deletes three of those before, and says n in a table.
Every reader must see, in each of its transactions, just the rows of the n that it reads there, find
the last of them by its vector, and never an n before one that it has seen.

    read_beside_writer.py build/lib/polarquant_sqlite.so --seconds 300
"""

import argparse
import os
import random
import sys
import tempfile
import time

from kill_writers import DIM, connect, vector

READERS = 4


def write(path: str, extension: str, end: float) -> None:
    db = connect(path, extension)
    db.execute("PRAGMA busy_timeout = 10000")
    number = 0
    while time.monotonic() < end:
        number += 1
        db.execute("BEGIN IMMEDIATE")
        for rowid in range(10 * number, 10 * number + 10):
            db.execute("INSERT INTO docs(rowid, v, value) VALUES (?, ?, ?)",
                       (rowid, vector(rowid), rowid))
        for rowid in range(10 * number - 10, 10 * number - 7):
            db.execute("DELETE FROM docs WHERE rowid = ?", (rowid,))
        db.execute("UPDATE written SET count = ?", (number,))
        db.execute("COMMIT")
        time.sleep(0.002)
    print(f"{number} transactions", flush=True)


def read(path: str, extension: str, end: float, seed: int) -> None:
    db = connect(path, extension)
    db.execute("PRAGMA busy_timeout = 10000")
    source = random.Random(seed)
    seen = 0
    rounds = 0
    while time.monotonic() < end:
        db.execute("BEGIN")
        count = db.execute("SELECT count FROM written").fetchone()[0]
        if count < seen:
            raise AssertionError(f"transaction {count} after {seen}")
        seen = count
        if source.random() < 0.2:
            time.sleep(source.random() * 0.02)
        if count > 0:
            rowid = 10 * count + 9
            sql = "SELECT rowid FROM docs WHERE v MATCH ? AND k = 1"
            found = db.execute(sql, (vector(rowid),)).fetchone()[0]
            if found != rowid:
                raise AssertionError(f"row {found} in the place of {rowid}")
            rows = db.execute("SELECT count(*) FROM docs").fetchone()[0]
            near = len(db.execute("SELECT rowid FROM docs WHERE v MATCH ? AND k = ?",
                                  (vector(1), rows + 5)).fetchall())
            expected = 7 * count + 3
            if rows != expected or near != expected:
                raise AssertionError(f"{rows} rows, {near} found, {expected} expected")
        db.execute("COMMIT")
        rounds += 1
    print(f"{rounds} reads", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extension", help="polarquant_sqlite, as built")
    parser.add_argument("--seconds", type=float, default=5)
    args = parser.parse_args()
    extension = os.path.abspath(args.extension)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "documents.db")
        db = connect(path, extension)
        db.execute("PRAGMA journal_mode = wal")
        db.execute(f"CREATE VIRTUAL TABLE docs USING polar(v float[{DIM}], value INTEGER, +text)")
        db.execute("CREATE TABLE written(count INTEGER)")
        db.execute("INSERT INTO written VALUES (0)")
        db.close()
        end = time.monotonic() + args.seconds
        children = []
        for number in range(READERS + 1):
            child = os.fork()
            if child == 0:
                try:
                    if number == 0:
                        write(path, extension, end)
                    else:
                        read(path, extension, end, number)
                except BaseException as error:  # noqa: BLE001
                    print(f"{type(error).__name__}: {error}", file=sys.stderr)
                    os._exit(1)
                os._exit(0)
            children.append(child)
        failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
        if failed == 0:
            db = connect(path, extension)
            db.execute("INSERT INTO docs(docs) VALUES ('integrity-check')")
            db.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
