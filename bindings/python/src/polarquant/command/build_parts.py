# SPDX-License-Identifier: MIT
"""An index file built within a limit of memory, in parts; a build that was stopped goes on."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import time
from typing import Any, NamedTuple

from polarquant.builder import IndexBuilder
from polarquant.command.failure import CommandError
from polarquant.command.progress import say, shown, shown_rows
from polarquant.command.vectors import BLOCK_BYTES, RowIds, Vectors, draw_rows
from polarquant.errors import NotFoundError
from polarquant.index import Index

#: The interpreter, NumPy and this library, with BLAS's buffers.
_PROGRAM_BYTES = 256 << 20
#: The least that is worth a part.
_LEAST_PART_BYTES = 32 << 20
#: What a build must fit into: the program, a few blocks of rows, and a part.
LEAST_MEMORY = 512 << 20


class Parts(NamedTuple):
    """What a build in parts says of itself."""

    rows: int
    trained_on: int
    resumed_at: int
    seconds_to_train: float
    seconds_to_add: float


def build_in_parts(given: argparse.Namespace, vectors: Vectors, ids: RowIds | None) -> Parts:
    """Builds given.out; Ctrl-C leaves what was done for the next call."""
    identity = _identity(given, vectors)
    start = time.perf_counter()
    builder = None if given.restart else _resume(given, identity)
    train_rows = 0
    if builder is None:
        builder, train_rows = _begin(given, vectors, identity)
    trained = time.perf_counter()
    first = builder.ntotal
    with builder:
        try:
            _add(builder, vectors, ids)
            added = time.perf_counter()
            with shown("merge") as show:
                builder.finish(progress=show)
        except KeyboardInterrupt:
            builder.write_part()
            say(
                f"{given.out}: {builder.written:,} of {vectors.count:,} rows are in parts; the same "
                "command goes on after them"
            )
            raise
    with contextlib.suppress(OSError):  # it is left, and harms nobody
        os.unlink(_identity_path(given.out))
        os.rmdir(f"{given.out}.parts")
    return Parts(vectors.count, train_rows, first, trained - start, added - trained)


def _add(builder: IndexBuilder, vectors: Vectors, ids: RowIds | None) -> None:
    first = builder.ntotal
    with shown_rows("add", first, vectors.count) as show:
        while first < vectors.count:
            rows = vectors.rows(first, min(first + vectors.block_rows, vectors.count))
            end = first + len(rows)
            if ids is None:
                builder.add(rows)
            else:
                builder.add_with_ids(rows, ids.rows(first, end))
            first = end
            show(end)


def _train_rows(given: argparse.Namespace, vectors: Vectors) -> int:
    # Training holds the rows, their copies of length 1, and what k-means and the code take of them.
    most = given.memory // 2 // (4 * vectors.dim * 4)
    if given.train_rows > most and vectors.count > most:
        say(f"trains on {most:,} rows, in place of {given.train_rows:,}: more do not fit --memory")
    return int(min(given.train_rows, vectors.count, most))


def _part_bytes(given: argparse.Namespace, index: Index) -> int:
    # Merging has what was trained twice. Many small lists take more than their bytes.
    program = _PROGRAM_BYTES + 2 * BLOCK_BYTES + 2 * index.memory_bytes
    part = int((given.memory - program) / 1.5)
    if part < _LEAST_PART_BYTES:
        least = program + 2 * _LEAST_PART_BYTES
        raise CommandError(
            f"--memory: {given.memory >> 20}M is not enough; {given.index} needs {least >> 20}M"
        )
    return part


def make_coder(
    given: argparse.Namespace, vectors: Vectors, train_rows: int
) -> tuple[Index, int]:
    """An index without rows that codes as is asked for, and on how many rows it was trained."""
    if given.like is not None:
        return Index.load_empty(given.like), 0
    index = Index(given.index, vectors.dim, given.metric)
    wanted = min(train_rows, vectors.count)
    index.train(draw_rows(vectors, wanted, given.seed))
    return index, wanted


def _begin(
    given: argparse.Namespace, vectors: Vectors, identity: dict[str, Any]
) -> tuple[IndexBuilder, int]:
    most = given.train_rows if given.like is not None else _train_rows(given, vectors)
    index, train_rows = make_coder(given, vectors, most)
    with index:
        memory = _part_bytes(given, index)
        builder = IndexBuilder(given.out, index, memory_bytes=memory, replace=True)
    with open(_identity_path(given.out), "w", encoding="utf-8") as file:
        json.dump({**identity, "part_bytes": memory}, file)
    return builder, train_rows


def _resume(given: argparse.Namespace, identity: dict[str, Any]) -> IndexBuilder | None:
    """The build that was stopped here; None where there is none."""
    try:
        with open(_identity_path(given.out), encoding="utf-8") as file:
            earlier = json.load(file)
        memory = min(int(earlier.pop("part_bytes")), given.memory)
    except (FileNotFoundError, KeyError, TypeError, ValueError, AttributeError):
        return None  # stopped before there was anything
    differing = [name for name, value in identity.items() if earlier.get(name) != value]
    if differing:
        raise CommandError(
            f"{given.out}.parts: has parts of a build with other {', '.join(differing)}; "
            "--restart removes them"
        )
    try:
        builder = IndexBuilder.resume(given.out, memory_bytes=memory)
    except NotFoundError:
        return None
    say(f"goes on after row {builder.ntotal:,} of {identity['rows']:,}, which are in parts already")
    return builder


def _identity_path(out: str) -> str:
    return os.path.join(f"{out}.parts", "build.json")


def _identity(given: argparse.Namespace, vectors: Vectors) -> dict[str, Any]:
    """What must be the same when a build goes on."""
    return {
        "vectors": [_file(given.vectors), given.dataset],
        "rows": vectors.count,
        "ids": [_file(given.ids) if given.ids else "", given.id_column or ""],
        "index": given.index,
        "like": _file(given.like) if given.like else "",
        "metric": str(given.metric),
        "seed": given.seed,
        "training": given.train_rows,
    }


def _file(path: str) -> list[Any]:
    status = os.stat(path)
    return [os.path.abspath(path), status.st_size, status.st_mtime_ns]
