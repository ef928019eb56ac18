# SPDX-License-Identifier: MIT
"""What belongs together of an index in shards: a small file of JSON, written last.

A manifest names the state that all shards were coded by, and the shards, each with its rows, bytes,
range of ids, and the checksum that its file's header has, which covers all that is in it. Paths are
relative to the manifest's folder, absolute, or URLs of fsspec's ("s3://…").
"""

from __future__ import annotations

import json
import os
import posixpath
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

from polarquant._storage import PathLike
from polarquant.errors import CorruptDataError, InputOutputError, NewerFormatError
from polarquant.places import atomic_write, is_url, local_copy, read_bytes

FORMAT = "polarquant shards"
#: Of its file's name, where a command takes index files too.
ENDING = ".json"
VERSION = 1
#: An index file's header: magic, version, sections, bytes, checksum.
_HEADER = struct.Struct("<8sIIQQ")
_MAGIC = b"PQINDEX\0"


class Shard(NamedTuple):
    """A file of some of the rows."""

    path: str
    rows: int
    bytes: int
    checksum: str  #: of its header, 16 hexadecimal digits
    ids: Optional[tuple[int, int]] = None  #: the least and the largest of ids of yours; None: none


class Manifest(NamedTuple):
    """An index in shards."""

    description: str  #: the factory string
    dim: int
    metric: str
    state: Shard  #: an index file without rows
    shards: tuple[Shard, ...]

    @property
    def rows(self) -> int:
        """Of all shards."""
        return sum(shard.rows for shard in self.shards)

    def write(self, path: PathLike) -> None:
        """Writes it; a local file appears whole or not at all. To be written after all shards."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "index": self.description,
            "dim": self.dim,
            "metric": self.metric,
            "rows": self.rows,
            "state": self.state._asdict(),
            "shards": [shard._asdict() for shard in self.shards],
        }
        atomic_write(path, (json.dumps(content, indent=1) + "\n").encode())

    @classmethod
    def read(cls, path: PathLike) -> Manifest:
        """Raises CorruptDataError, naming what is wrong, for what is no manifest."""
        name = os.fspath(path)
        try:
            content = json.loads(read_bytes(path))
        except ValueError as error:
            raise CorruptDataError(f"{name}: is no manifest of shards ({error})") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise CorruptDataError(f"{name}: is no manifest of shards; format: {FORMAT!r} is needed")
        if content.get("version") != VERSION:
            raise NewerFormatError(
                f"{name}: version {content.get('version')} of the manifest; {VERSION} is known"
            )
        try:
            read = cls(
                _text(content, "index"),
                _number(content, "dim"),
                _text(content, "metric"),
                _shard(content["state"]),
                tuple(map(_shard, content["shards"])),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise CorruptDataError(f"{name}: its entries are wrong: {error}") from None
        if content.get("rows") != read.rows:
            raise CorruptDataError(
                f"{name}: says {content.get('rows')} rows; its shards have {read.rows}"
            )
        return read


def _shard(entry: Any) -> Shard:
    ids = entry["ids"]
    if ids is not None:
        low, high = ids
        ids = (int(low), int(high))
    numbers = _number(entry, "rows"), _number(entry, "bytes")
    return Shard(_text(entry, "path"), *numbers, _text(entry, "checksum"), ids)


def _text(entry: Any, name: str) -> str:
    if not isinstance(entry[name], str):
        raise TypeError(f"{name} is {entry[name]!r}; a text is needed")
    return str(entry[name])


def _number(entry: Any, name: str) -> int:
    if not isinstance(entry[name], int) or entry[name] < 0:
        raise TypeError(f"{name} is {entry[name]!r}; a whole number is needed")
    return int(entry[name])


def resolve(manifest: PathLike, path: str) -> str:
    """Where a path of a manifest's leads."""
    if is_url(path) or os.path.isabs(path):
        return path
    folder = os.fspath(manifest)
    if is_url(folder):
        return posixpath.join(posixpath.dirname(folder), path)
    return os.path.join(os.path.dirname(folder), path)


def relative(manifest: PathLike, path: PathLike) -> str:
    """A path as a manifest that lies there says it: relative where it lies in the same folder or
    below, else absolute or a URL."""
    name, folder = os.fspath(path), os.fspath(manifest)
    if is_url(name) or is_url(folder):
        base = posixpath.dirname(folder) + "/"
        return name[len(base) :] if name.startswith(base) else name
    base = os.path.dirname(os.path.abspath(folder))
    found = os.path.relpath(os.path.abspath(name), base)
    return os.path.abspath(name) if found.startswith(os.pardir) else found


def describe(path: PathLike, rows: int, ids: tuple[int, int] | None = None) -> Shard:
    """The entry of an index file that lies here."""
    with open(path, "rb") as file:
        size, checksum = _read_header(os.fspath(path), file.read(_HEADER.size))
    return Shard(os.fspath(path), rows, size, checksum, ids)


def fetch(manifest: PathLike, shard: Shard, cache: str) -> str:
    """The local file of an entry: where it lies, or a copy in the folder `cache`. Raises
    InputOutputError where it is missing, CorruptDataError where it is another file."""
    path = resolve(manifest, shard.path)
    if is_url(path):
        path = local_copy(path, os.path.join(cache, f"{shard.checksum}.polar"), shard.bytes)
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            header = file.read(_HEADER.size)
    except OSError as error:
        raise InputOutputError(f"{path}: cannot be read ({error.strerror})") from None
    found = _read_header(path, header)
    if found != (shard.bytes, shard.checksum) or size != shard.bytes:
        raise CorruptDataError(
            f"{path}: {size} bytes with checksum {found[1]}; the manifest has {shard.bytes} with "
            f"{shard.checksum}"
        )
    return path


def _read_header(path: str, header: bytes) -> tuple[int, str]:
    if len(header) < _HEADER.size or not header.startswith(_MAGIC):
        raise CorruptDataError(f"{path}: is no index file")
    _magic, _version, _sections, size, checksum = _HEADER.unpack(header)
    return size, f"{checksum:016x}"


def make_manifest(
    path: PathLike, description: str, dim: int, metric: str, state: Shard, shards: Sequence[Shard]
) -> Manifest:
    """A manifest that is to lie at `path`, of entries whose paths say where files lie."""

    def entry(shard: Shard) -> Shard:
        return shard._replace(path=relative(path, shard.path))

    return Manifest(description, dim, metric, entry(state), tuple(map(entry, shards)))
