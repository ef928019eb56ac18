# SPDX-License-Identifier: MIT
"""Files that lie here, or where a URL leads that fsspec knows ("s3://…", "gs://…", "memory://…")."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shutil
import tempfile
from typing import Any

from polarquant._storage import PathLike
from polarquant.errors import InputOutputError, NotFoundError, UnsupportedError

_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")


def is_url(path: PathLike) -> bool:
    return _URL.match(os.fspath(path)) is not None


def _filesystem(url: str) -> tuple[Any, str]:
    try:
        fsspec = importlib.import_module("fsspec")
    except ImportError:
        raise UnsupportedError(f"{url}: needs fsspec: pip install fsspec") from None
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise UnsupportedError(f"{url}: {error}") from None
    return system, str(path)


def read_bytes(path: PathLike) -> bytes:
    """All of a file. Raises NotFoundError, InputOutputError."""
    name = os.fspath(path)
    try:
        if not is_url(name):
            with open(name, "rb") as file:
                return file.read()
        system, place = _filesystem(name)
        return bytes(system.cat_file(place))
    except FileNotFoundError:
        raise NotFoundError(f"{name}: is not there") from None
    except OSError as error:
        raise InputOutputError(f"{name}: cannot be read ({error})") from None


def atomic_write(path: PathLike, data: bytes) -> None:
    """A file that appears whole or not at all, as far as the place can do that: object stores put
    whole objects."""
    name = os.fspath(path)
    if is_url(name):
        system, place = _filesystem(name)
        system.pipe_file(place, data)
        return
    descriptor, unfinished = tempfile.mkstemp(prefix=".polar-", dir=os.path.dirname(name) or ".")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(unfinished, 0o666 & ~mask)
        os.replace(unfinished, name)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished)
        raise


def upload(path: str, url: str) -> None:
    """Copies a local file to where a URL leads."""
    system, place = _filesystem(url)
    system.put_file(path, place)


def local_copy(url: str, path: str, size: int) -> str:
    """Copies a URL's file to `path`, unless one of this size lies there. Raises InputOutputError."""
    with contextlib.suppress(OSError):
        if os.path.getsize(path) == size:
            return path
    system, place = _filesystem(url)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    descriptor, unfinished = tempfile.mkstemp(prefix=".polar-", dir=os.path.dirname(path))
    os.close(descriptor)
    try:
        system.get_file(place, unfinished)
        os.replace(unfinished, path)
    except OSError as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished)
        raise InputOutputError(f"{url}: cannot be read ({error})") from None
    return path


def names_in(folder: PathLike) -> list[str]:
    """The names of what lies in a folder; of one that is not there, none."""
    name = os.fspath(folder)
    if not is_url(name):
        return os.listdir(name) if os.path.isdir(name) else []
    system, place = _filesystem(name)
    try:
        return [str(path).rstrip("/").rpartition("/")[2] for path in system.ls(place, detail=False)]
    except FileNotFoundError:
        return []


def remove(path: PathLike) -> None:
    """Removes a file, or a folder with all in it; one that cannot be removed stays."""
    name = os.fspath(path)
    with contextlib.suppress(OSError):
        if is_url(name):
            system, place = _filesystem(name)
            system.rm(place, recursive=True)
        elif os.path.isdir(name):
            shutil.rmtree(name, ignore_errors=True)
        else:
            os.unlink(name)


def remove_file(path: PathLike) -> None:
    """Removes a file, never a folder; one that cannot be removed stays."""
    name = os.fspath(path)
    with contextlib.suppress(OSError):
        if is_url(name):
            system, place = _filesystem(name)
            system.rm_file(place)
        else:
            os.unlink(name)
