# SPDX-License-Identifier: MIT
"""The folder of a store: `records.json`, and the file of vectors that this names.

A save writes the vectors under a name of their own, then a new `records.json` in the place of the old
one, which makes the new files the store, and then removes the vectors that the old one named. So there
is one whole store at any time, and nothing is removed or replaced but what a store wrote. The name that
the next save will use is in `records.json` too, and the one before: what a save that was killed left behind
is written over or removed by the next.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pathlib
import re
import secrets
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

from polarquant._folder_lock import sole_use
from polarquant._kept_rows import FloatRows, IndexRows, KeptRows
from polarquant._storage import PathLike
from polarquant.errors import (
    BadArgumentError,
    CorruptDataError,
    InputOutputError,
    NewerFormatError,
    NotFoundError,
    PolarError,
)
from polarquant.index import Index
from polarquant.metric import Metric, as_metric

#: 2: vectors may be floats, in a .npy file. Folders without them are written as 1, which older
#: versions read too.
_FORMAT = 2
_RECORDS_FILE = "records.json"
_ROWS_FILE = re.compile(r"rows-[0-9a-f]{16}\.(polar|npy)")
_HEAD_CHARACTERS = 16_384
_ENTRIES = ("format", "description", "metric", "next", "index", "records")


class Stored(NamedTuple):
    """What a folder has."""

    description: str
    metric: Metric
    #: The next record's.
    next_number: int
    #: None before the first vectors.
    rows: KeptRows | None
    #: Number, id and payload of each.
    records: list[tuple[int, str, dict[str, Any]]]


def save_folder(
    folder: PathLike, lock: contextlib.AbstractContextManager[Any], take: Callable[[], Stored]
) -> None:
    """Writes what `take` tells to a folder, which is made; after an error it is as it was, unless the
    error says that the new files are in place. The lock is held while vectors and records must not
    change."""
    place = pathlib.Path(folder)
    with _system_errors(place, "written to"), sole_use(place) as is_sole:
        before = _read_head(place)
        if before is not None and not _is_ours(before):
            raise BadArgumentError(
                f"{place / _RECORDS_FILE}: is not what a store saved; another folder is allowed"
            )
        stem = _stem(before if is_sole else None)
        ours = [f"{stem}.polar", f"{stem}.npy"]
        # What a save that was killed left behind.
        _remove_unnamed(place, ours if before is None else [*ours, before.get("previous")])
        old = []
        try:
            with lock:
                stored = take()
                name = None if stored.rows is None else stem + stored.rows.ending
                if stored.rows is not None:
                    stored.rows.save(place / str(name))
            told = {
                "format": _FORMAT if isinstance(stored.rows, FloatRows) else 1,
                "description": stored.description,
                "metric": stored.metric.name.lower(),
                "next": stored.next_number,
                "index": name,
                "previous": None if before is None else before["index"],
                "next_index": _new_stem(),
                # The last, so that the others can be read without it.
                "records": stored.records,
            }
            _write_manifest(place, stem, told)
            # Else a crash of the system could bring the old `records.json` back, without vectors.
            old = [told["previous"]]
        finally:
            _remove_unnamed(place, [*ours, *old])


def load_folder(folder: PathLike, memory_map: bool, trust_faiss: bool = False) -> Stored:
    """What was saved last. Raises NotFoundError where there is nothing."""
    place = pathlib.Path(folder)
    with _system_errors(place, "read"):
        while True:
            told = _read_manifest(place)
            if told is None:
                raise NotFoundError(f"{place}: has no {_RECORDS_FILE}; nothing was saved there")
            try:
                return _load(place, told, memory_map, trust_faiss)
            except OSError:
                # A save in the meantime has removed what was named, and named its own.
                if _read_manifest(place) == told:
                    raise


def _load(place: pathlib.Path, told: Any, memory_map: bool, trust_faiss: bool) -> Stored:
    try:
        if told["format"] > _FORMAT:
            raise NewerFormatError(f"{place}: is of format {told['format']}; up to {_FORMAT}")
        description, metric = str(told["description"]), as_metric(told["metric"])
        records = [(int(number), str(id), dict(kept)) for number, id, kept in told["records"]]
        next_number, name = int(told["next"]), told["index"]
    except PolarError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptDataError(f"{place / _RECORDS_FILE}: is not what was saved ({error!r})")
    numbers = sorted({number for number, _, _ in records})
    rows: KeptRows | None = None
    if name is not None:
        path = place / pathlib.Path(name).name
        if path.suffix == FloatRows.ending:
            rows = FloatRows.load(path, description, metric, numbers)
        else:
            rows = IndexRows(Index.load(path, memory_map=memory_map, trust_faiss=trust_faiss))
    held = 0 if rows is None else len(rows)
    if not held == len(records) == len(numbers) == len({id for _, id, _ in records}):
        raise CorruptDataError(f"{place}: {held} rows and {len(records)} records")
    return Stored(description, metric, next_number, rows, records)


def _read_manifest(place: pathlib.Path) -> Any:
    """What `records.json` says; None where there is none."""
    try:
        with open(place / _RECORDS_FILE, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise CorruptDataError(
            f"{place / _RECORDS_FILE}: is not what was saved ({error})"
        ) from None


def _read_head(place: pathlib.Path) -> Any:
    """The same without the records, which are most of it; "" for a file that is no store's."""
    try:
        with open(place / _RECORDS_FILE, encoding="utf-8") as file:
            head, found, _ = file.read(_HEAD_CHARACTERS).partition(', "records": [')
        return json.loads(head + ', "records": []}') if found else _read_manifest(place)
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        return ""


def _is_ours(told: Any) -> bool:
    return isinstance(told, dict) and all(name in told for name in _ENTRIES)


def _stem(before: Any) -> str:
    """The name, without its ending, of the files that a save writes."""
    promised = None if before is None else before.get("next_index")
    if isinstance(promised, str) and _ROWS_FILE.fullmatch(f"{promised}.npy"):
        return promised
    return _new_stem()


def _new_stem() -> str:
    return f"rows-{secrets.token_hex(8)}"


def _write_manifest(place: pathlib.Path, stem: str, told: dict[str, Any]) -> None:
    # Where it is a link, it stays one.
    path = pathlib.Path(os.path.realpath(place / _RECORDS_FILE))
    unfinished = path.with_name(f"{stem}.json")
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            json.dump(told, file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            unfinished.unlink()
    try:
        _sync(path.parent)
    except OSError as error:
        raise InputOutputError(
            f"{place}: the new files are in place, but the folder cannot be synced "
            f"({error.strerror or error}); after a crash of the system the old ones may be there"
        ) from error


def _sync(folder: pathlib.Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # of file systems that sync no folders
            raise
    finally:
        os.close(descriptor)


def _remove_unnamed(place: pathlib.Path, names: list[Any]) -> None:
    """Removes those of these files of vectors that are not what `records.json` names: after a save the
    old one, after a failure the new one."""
    told = _read_head(place)
    named = told["index"] if _is_ours(told) else None
    for name in names:
        if isinstance(name, str) and name != named and _ROWS_FILE.fullmatch(name):
            with contextlib.suppress(FileNotFoundError):
                (place / name).unlink()


@contextlib.contextmanager
def _system_errors(place: pathlib.Path, done: str) -> Iterator[None]:
    """The system's errors as the library's."""
    try:
        yield
    except PolarError:
        raise
    except OSError as error:
        raise InputOutputError(f"{place}: cannot be {done} ({error.strerror or error})") from error
