# SPDX-License-Identifier: MIT
"""Tables of vectors in SQLite: the extension that comes with the library.

>>> import sqlite3, polarquant.sqlite
>>> connection = sqlite3.connect("docs.db")
>>> polarquant.sqlite.load(connection)
>>> connection.execute("CREATE VIRTUAL TABLE docs USING polar(embedding float[384], title TEXT)")
"""

from __future__ import annotations

import os
import pathlib
import sqlite3
from typing import Any

from polarquant._library import library_path
from polarquant.errors import UnsupportedError

__all__ = ["extension_path", "load"]


def extension_path() -> str:
    """Where the extension lies, for programs that load it by themselves: `.load`, or another
    module than sqlite3."""
    return str(pathlib.Path(library_path()).resolve().with_name("polarquant_sqlite.so"))


def load(connection: Any) -> None:
    """Loads the extension into a connection, which then knows tables `USING polar(…)` and the
    functions polar_encode, polar_decode, polar_distance, polar_code_distance and polar_version.

    connection: of sqlite3, or of a module that has its `enable_load_extension` and
    `load_extension`, as apsw and pysqlite3. Afterwards the connection loads no other extensions.
    Raises UnsupportedError where the module was built without extensions, where the library has
    none, and where SQLite is older than 3.38.
    """
    path = extension_path()
    if not os.path.exists(path):
        raise UnsupportedError(
            f"sqlite: {path} is not there; the library was built without SQLite (Debian: "
            "libsqlite3-dev)"
        )
    enable = getattr(connection, "enable_load_extension", None) or getattr(
        connection, "enableloadextension", None
    )
    load_extension = getattr(connection, "load_extension", None) or getattr(
        connection, "loadextension", None
    )
    if enable is None or load_extension is None:
        raise UnsupportedError(
            f"sqlite: {type(connection).__module__} was built without extensions; Debian's and "
            "python.org's Python have them, and the package pysqlite3-binary brings a module that "
            "does"
        )
    enable(True)
    try:
        load_extension(path)
    except sqlite3.OperationalError as error:
        raise UnsupportedError(f"sqlite: {path} cannot be loaded: {error}") from error
    finally:
        enable(False)
