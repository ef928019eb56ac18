# SPDX-License-Identifier: MIT
"""What the tests share."""

import os
import pathlib
import shutil
import sqlite3
import unittest

import numpy as np

import polarquant
import polarquant.sqlite

ROOT = pathlib.Path(__file__).resolve().parents[3]
HEADER = ROOT / "include" / "polarquant" / "polarquant.h"
#: Those of its topics, which it includes.
TOPICS = [HEADER.with_name(f"{name}.h") for name in "types codec blocks index files build advice cuda".split()]


def make_rows(n, dim, seed=1):
    """Gaussian rows, (n, dim), float32."""
    return np.random.default_rng(seed).standard_normal((n, dim), dtype=np.float32)


def exact_ids(x, queries, k):
    """The k largest inner products of each query, (nq, k)."""
    return np.argsort(-(queries @ x.T), axis=1, kind="stable")[:, :k]


def _has_indexes():
    try:
        polarquant.Index("Polar2", 8).close()
    except polarquant.UnsupportedError:
        return False
    return True


def has_java():
    return "JAVA_HOME" in os.environ or shutil.which("java") is not None


needs_indexes = unittest.skipUnless(_has_indexes(), "the library is built without FAISS")

#: Whether the library was built with the extension, and this Python's sqlite3 can load it.
HAS_SQLITE = (
    hasattr(sqlite3.Connection, "enable_load_extension")
    and sqlite3.sqlite_version_info >= (3, 38)
    and os.path.exists(polarquant.sqlite.extension_path())
)
needs_sqlite = unittest.skipUnless(
    HAS_SQLITE, "there is no extension of SQLite, or sqlite3 loads none or is older than 3.38"
)
