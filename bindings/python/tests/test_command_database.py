# SPDX-License-Identifier: MIT
"""polar build and polar search with SQLite databases."""

import unittest

import numpy as np
from command_support import CommandTest
from support import needs_sqlite

import polarquant


@needs_sqlite
class DatabaseTest(CommandTest):
    def search(self, *arguments):
        """ids and scores of a search."""
        out = ["--ids", self.path("ids.npy"), "--scores", self.path("scores.npy")]
        self.polar("search", *arguments, *out)
        return np.load(self.path("ids.npy")), np.load(self.path("scores.npy"))

    def test_a_table_is_built_and_finds_what_an_index_does(self):
        x, rows = self.rows(900, 40)
        _, queries = self.rows(7, 40, seed=2, name="queries.npy")
        np.save(self.path("allowed.npy"), np.arange(900) % 3 == 0)
        for metric in ("cosine", "ip", "l2"):
            database, index = self.path(f"{metric}.db"), self.path(f"{metric}.polar")
            said = self.polar("build", rows, database, "--index", "Polar4", "--metric", metric)[1]
            self.assertIn("900 vectors of 40 dimensions as Polar4 in the table docs", said)
            built = polarquant.Index("Polar4", 40, metric)
            built.add(x)
            built.save(index)
            for more in ([], ["--allow", self.path("allowed.npy")], ["-k", "1000"]):
                ids, scores = self.search(database, queries, *more)
                expected_ids, expected_scores = self.search(index, queries, *more)
                np.testing.assert_array_equal(ids, expected_ids)
                np.testing.assert_allclose(scores, expected_scores, rtol=1e-6, atol=1e-6)
        self.assertIn("\t", self.polar("search", database, queries)[0])

    def test_ids_and_tables_are_chosen(self):
        x, rows = self.rows(50, 8)
        ids = np.arange(50) * 7 + 1
        np.save(self.path("ids_of_rows.npy"), ids)
        database = self.path("a.db")
        self.polar("build", rows, database, "--ids", self.path("ids_of_rows.npy"))
        self.polar("build", rows, database, "--table", 'a "b"')
        found, _ = self.search(database, rows, "-k", "1")
        self.assertGreater(np.mean(found[:, 0] == ids), 0.9)
        found, _ = self.search(database, rows, "-k", "1", "--table", 'a "b"')
        self.assertGreater(np.mean(found[:, 0] == np.arange(50)), 0.9)

    def test_what_is_wrong_is_told(self):
        _, rows = self.rows(5, 8)
        database = self.path("a.db")
        self.polar("build", rows, database)
        self.assert_refused("already exists", "build", rows, database)
        self.assert_refused("is not there", "search", self.path("none.db"), rows)
        self.assert_refused("has no table of vectors b", "search", database, rows, "--table", "b")
        self.assert_refused(
            "--nprobe: is not for databases", "search", database, rows, "--nprobe", "3"
        )
        self.assert_refused(
            "--explain: is not for databases", "search", database, rows, "--explain"
        )
        self.assert_refused("Polar99", "build", rows, self.path("b.db"), "--index", "Polar99")
        self.assertFalse((self.folder / "b.db").exists())
        self.assert_refused("IVF16", "build", rows, self.path("c.db"), "--index", "IVF16,Polar4")


if __name__ == "__main__":
    unittest.main()
