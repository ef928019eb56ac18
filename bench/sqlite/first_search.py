#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The first search of a process in a table of vectors, beside reading the table's codes once.

    python3 bench/sqlite/first_search.py --base base.npy --queries query.npy

base, queries: float32, (n, dim). Each measurement is a process of its own, which has loaded the
library before: it opens the database, and searches it, or reads docs_blocks as SQLite does it for
others. They take turns, with the file in the system's cache and without. Medians are printed, and
median and quartiles of the first search's time over each other way's in the same round. What keeps
the codes pays for new memory, which the search does, and reading alone does not.
"""

import argparse
import mmap
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

SEARCH = "SELECT rowid, distance FROM docs WHERE v MATCH ? AND k = 10"
# Every byte is read, and none leaves SQLite: substr has to have the whole blob.
INSIDE = "SELECT count(substr(ids, -1)), count(substr(data, -1)) FROM docs_blocks"
ROWS = "SELECT ids, data FROM docs_blocks"
WAYS = {
    "search": "first search",
    "inside": "docs_blocks read inside SQLite",
    "rows": "… and passed to Python row by row",
    "copied": "… and copied to new memory of huge pages",
    "kept": "… and kept by fetchall",
}


def connect(path: str, extension: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(extension)
    return db


def new_memory(size: int) -> mmap.mmap:
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def measure(way: str, path: str, extension: str, query: bytes) -> float:
    """Seconds from before the database is opened until all has been read."""
    loaded = connect(":memory:", extension)
    begin = time.perf_counter()
    if way == "search":
        db = connect(path, extension)
        found = db.execute(SEARCH, (query,)).fetchall()
        assert len(found) == 10
    else:
        db = sqlite3.connect(path, isolation_level=None)
        if way == "inside":
            db.execute(INSIDE).fetchall()
        elif way == "rows":
            for _ in db.execute(ROWS):
                pass
        elif way == "copied":
            memory = new_memory(os.path.getsize(path))
            for ids, data in db.execute(ROWS):
                memory.write(ids)
                memory.write(data)
        else:
            found = db.execute(ROWS).fetchall()
    taken = time.perf_counter() - begin
    db.close()
    loaded.close()
    return taken


def build(path: str, base: str, code: str) -> tuple[str, int]:
    """Returns the extension's file and the bytes of the codes."""
    import numpy as np
    import polarquant.sqlite

    rows = np.load(base, mmap_mode="r")
    extension = polarquant.sqlite.extension_path()
    db = connect(path, extension)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(f"CREATE VIRTUAL TABLE docs USING polar(v float[{rows.shape[1]}], code={code})")
    db.execute("BEGIN")
    db.executemany(
        "INSERT INTO docs(rowid, v) VALUES (?, ?)",
        ((i, np.ascontiguousarray(row, np.float32).tobytes()) for i, row in enumerate(rows)),
    )
    db.execute("COMMIT")
    size = db.execute("SELECT sum(length(ids) + length(data)) FROM docs_blocks").fetchone()[0]
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return extension, size


def drop_from_cache(path: str) -> None:
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def first_query(path: str) -> bytes:
    import numpy as np

    return np.load(path, mmap_mode="r")[0].astype(np.float32).tobytes()


def compare(path: str, extension: str, query: pathlib.Path, is_cached: bool, rounds: int) -> None:
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    for number in range(rounds):
        # Another one is first in each round.
        ways = list(WAYS)[number % len(WAYS) :] + list(WAYS)[: number % len(WAYS)]
        for way in ways:
            if not is_cached:
                drop_from_cache(path)
            command = [sys.executable, __file__, "--measure", way, path, extension, str(query)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            times[way].append(float(done.stdout))
    print("the system's cache has the file:" if is_cached else "it is read from the disk:")
    for way, text in WAYS.items():
        line = f"  {text}: {statistics.median(times[way]) * 1e3:.2f} ms"
        if way != "search":
            ratios = [ours / theirs for ours, theirs in zip(times["search"], times[way])]
            low, middle, high = statistics.quantiles(ratios, n=4)
            line += f"; the first search takes {middle:.2f} of it ({low:.2f} to {high:.2f})"
        print(line, flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        way, path, extension, query = sys.argv[2:]
        print(measure(way, path, extension, pathlib.Path(query).read_bytes()))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", required=True)
    parser.add_argument("--queries", required=True)
    parser.add_argument("--code", default="Polar4")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--database", help="kept there, and not made again where it is there")
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder:
        path = args.database or os.path.join(folder, "documents.db")
        query = pathlib.Path(folder) / "query"
        query.write_bytes(first_query(args.queries))
        if os.path.exists(path):
            import polarquant.sqlite

            extension = polarquant.sqlite.extension_path()
        else:
            extension, size = build(path, args.base, args.code)
            print(f"{size / 1e6:.1f} MB of codes and rowids, SQLite {sqlite3.sqlite_version}")
        for is_cached in (True, False):
            compare(path, extension, query, is_cached, args.rounds)


if __name__ == "__main__":
    main()
