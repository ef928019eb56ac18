# SPDX-License-Identifier: MIT
"""Tables of vectors in SQLite, loaded from Python."""

import sqlite3
import types
import unittest

import numpy as np
import polarquant.sqlite
from polarquant import UnsupportedError
from support import make_rows, needs_sqlite


class SqliteTest(unittest.TestCase):
    @needs_sqlite
    def test_a_table_finds_what_an_index_does(self) -> None:
        connection = sqlite3.connect(":memory:")
        polarquant.sqlite.load(connection)
        x = make_rows(1500, 48)
        connection.execute("CREATE VIRTUAL TABLE docs USING polar(v float[48], code=Polar3)")
        with connection:
            connection.executemany(
                "INSERT INTO docs(rowid, v) VALUES (?, ?)",
                ((i, row.tobytes()) for i, row in enumerate(x)),
            )
        index = polarquant.Index("Polar3", 48, "cosine")
        index.add(x)
        scores, ids = index.search(x[3], k=10)
        found = connection.execute(
            "SELECT rowid, distance FROM docs WHERE v MATCH ? AND k = 10", (x[3].tobytes(),)
        ).fetchall()
        self.assertEqual([row[0] for row in found], ids.tolist())
        self.assertEqual([row[1] for row in found], (1 - scores.astype(np.float64)).tolist())
        connection.close()

    @needs_sqlite
    def test_loading_is_off_afterwards(self) -> None:
        connection = sqlite3.connect(":memory:")
        polarquant.sqlite.load(connection)
        polarquant.sqlite.load(connection)
        with self.assertRaises(sqlite3.OperationalError):
            connection.load_extension(polarquant.sqlite.extension_path())
        connection.close()

    @needs_sqlite
    def test_a_module_without_extensions_is_named(self) -> None:
        with self.assertRaisesRegex(UnsupportedError, "was built without extensions"):
            polarquant.sqlite.load(types.SimpleNamespace())


if __name__ == "__main__":
    unittest.main()
