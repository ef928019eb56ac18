# SPDX-License-Identifier: MIT
"""Indexes to and from files and bytes."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Union

from polarquant import _structs
from polarquant._arrays import Codes, address, as_codes
from polarquant._exit import lending
from polarquant._handle import create
from polarquant._library import check, default_options, lib
from polarquant.errors import BadArgumentError

#: Where a file lies.
PathLike = Union[str, "os.PathLike[str]"]

_BUFFER_BYTES = 1 << 20


def as_path(path: PathLike) -> bytes:
    """A path for C: the system's bytes, which need be no UTF-8."""
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError:
        raise BadArgumentError(f"path: {path!r} is no name that a file can have") from None
    if b"\0" in name:
        raise BadArgumentError(f"path: {path!r} has a zero byte; none is allowed")
    return name


def load_from_path(path: PathLike, memory_map: bool, trust_faiss: bool) -> int:
    """The handle of a file's index."""
    options = _load_options(trust_faiss)
    options.memory_map = int(bool(memory_map))
    return create(lib.polar_index_load, as_path(path), ctypes.byref(options))


def save_by_calls(handle: int, write: Callable[[int, int], Any]) -> None:
    """Gives the bytes that a file of the index would have to `write`, part by part: where they lie,
    and how many. Raises what it raises."""
    error: list[BaseException] = []

    def hear(user: int | None, data: int, size: int) -> int:
        try:
            write(data, size)
        except BaseException as raised:  # carried over the C library
            error.append(raised)
            return 1
        return 0

    with lending():
        status = lib.polar_index_save_to(handle, _structs.WriteFunction(hear), None, None)
    if error:
        raise error[0]
    check(status)


def save_to_bytes(handle: int) -> bytes:
    """What a file of the index would have."""
    parts: list[bytes] = []
    save_by_calls(handle, lambda data, size: parts.append(ctypes.string_at(data, size)))
    return b"".join(parts)


def save_to_file(handle: int, path: PathLike) -> None:
    """Writes a file that nobody reads yet, and that need not appear whole: under its own name, so
    that a process that is killed leaves none that is unknown."""
    with open(path, "wb", buffering=_BUFFER_BYTES) as file:
        save_by_calls(
            handle, lambda data, size: file.write((ctypes.c_char * size).from_address(data))
        )
        file.flush()
        os.fsync(file.fileno())


def load_from_bytes(data: bytes, trust_faiss: bool) -> int:
    """The handle of the index that such bytes have."""
    source = as_codes("data", data)
    reader = _Reader(source)
    options = _load_options(trust_faiss)
    function = _structs.ReadFunction(reader.read)
    with lending():
        return create(lib.polar_index_load_from, function, None, ctypes.byref(options))


class _Reader:
    def __init__(self, source: Codes) -> None:
        self._source = source
        self._begin = address(source)
        self._position = 0

    def read(self, user: int | None, data: int, size: int) -> int:
        count = min(size, self._source.nbytes - self._position)
        ctypes.memmove(data, self._begin + self._position, count)
        self._position += count
        return count


def _load_options(trust_faiss: bool) -> _structs.LoadOptions:
    options = default_options(_structs.LoadOptions, lib.polar_load_options_init_sized)
    options.trust_faiss = int(bool(trust_faiss))
    return options
