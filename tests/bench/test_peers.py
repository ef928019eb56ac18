#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/peers: filters and what is to be found with them, and a run of our own indexes, where
POLARQUANT_LIBRARY names the library. Other libraries are not needed."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ROOT / "bench" / "peers"
sys.path.insert(0, str(PEERS))

import peer_data
import row_filters
import suites


def unit_rows(n, dim, seed):
    x = np.random.default_rng(seed).standard_normal((n, dim)).astype(np.float32)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


class RowFilterTest(unittest.TestCase):
    def setUp(self):
        self.base = unit_rows(1000, 16, 1)
        self.queries = unit_rows(20, 16, 2)

    def test_as_many_rows_as_asked_for(self):
        for kind in row_filters.KINDS:
            for share, count in ((1, 1000), (0.5, 500), (0.001, 1), (0.0001, 1)):
                with self.subTest(f"{kind} {share}"):
                    row_filter = row_filters.RowFilter(kind, share)
                    allowed = row_filter.allowed(self.base)
                    self.assertEqual((allowed.shape, allowed.dtype, allowed.sum()), ((1000,), bool, count))
                    np.testing.assert_array_equal(allowed, row_filter.allowed(self.base))

    def test_clustered_rows_are_near_each_other(self):
        likeness = {}
        for kind in row_filters.KINDS:
            kept = self.base[row_filters.RowFilter(kind, 0.05).allowed(self.base)]
            likeness[kind] = float(np.mean(kept @ kept.T))
        self.assertGreater(likeness["clustered"], likeness["random"] + 0.1)

    def test_lists(self):
        found = row_filters.parse("random/0.5; clustered/0.01;")
        self.assertEqual(found, [row_filters.RowFilter("random", 0.5), row_filters.RowFilter("clustered", 0.01)])
        for text in ("all/0.5", "random", "random/half", "random/0", "random/1.5"):
            with self.subTest(text), self.assertRaisesRegex(ValueError, "random or clustered"):
                row_filters.parse(text)

    def test_truth_is_among_the_rows_kept(self):
        filters = row_filters.parse("random/0.5;clustered/0.1;random/0.004")
        with tempfile.TemporaryDirectory() as folder:
            arguments = (filters, self.base, self.queries, 10, pathlib.Path(folder), lambda text: None)
            cases = list(row_filters.cases(*arguments))
            again = list(row_filters.cases(*arguments))  # from the files
        self.assertEqual([case.description["rows"] for case in cases], [500, 100, 4])
        for case, same in zip(cases, again):
            scores = np.where(case.allowed, self.queries @ self.base.T, -np.inf)
            expected = np.argsort(-scores, axis=1)[:, : case.truth.shape[1]]
            np.testing.assert_array_equal(case.truth, expected)
            np.testing.assert_array_equal(case.truth, same.truth)
        self.assertEqual(cases[2].truth.shape, (20, 4))

    def test_empty_places(self):
        truth = np.array([[0, 1, 2], [3, 4, 5]])
        found = np.array([[0, 1, 2, -1], [3, -1, -1, -1]])
        self.assertAlmostEqual(row_filters.empty_share(found, truth), 2 / 6)
        self.assertAlmostEqual(peer_data.recall(found, truth), 4 / 6)
        self.assertEqual(row_filters.empty_share(truth, truth[:, :2]), 0)

    def test_rows_that_are_not_allowed(self):
        allowed = np.array([True, False, True])
        row_filters.check_allowed(np.array([[0, 2, -1]]), allowed)
        with self.assertRaisesRegex(RuntimeError, "1 of 2 ids"):
            row_filters.check_allowed(np.array([[0, 1, -1]]), allowed)


class SuiteTest(unittest.TestCase):
    def test_names_are_of_known_kinds(self):
        import adapters

        for name, suite in suites.SUITES.items():
            for contender in suite(384):
                with self.subTest(f"{name} {contender.name}"):
                    kind, colon, what = contender.name.partition(":")
                    self.assertIn(kind, adapters.KINDS)
                    self.assertTrue(colon and what)


@unittest.skipUnless("POLARQUANT_LIBRARY" in os.environ, "POLARQUANT_LIBRARY names no library")
class RunTest(unittest.TestCase):
    """compare.py on the bundled embeddings, as run.sh calls it."""

    def compare(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.json")
            command = [sys.executable, str(PEERS / "compare.py"), *arguments, "--json", path]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=240)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            with open(path, encoding="utf-8") as file:
                return json.load(file), ran.stdout

    def test_filters(self):
        contenders = "polar:Polar4;polar:Polar4+ids;polar:IVF16,Polar4@nprobe=4"
        limits = ("--nq", "20", "--rounds", "1", "--min-seconds", "0.001")
        filters = ("--filters", "random/0.1;clustered/0.01")
        result, printed = self.compare("speed", "--contenders", contenders, *filters, *limits)
        self.assertIn("polar:Polar4+ids (clustered 1 %)", printed)
        for row in result["contenders"]:
            with self.subTest(row["contender"]):
                self.assertNotIn("error", row)
                kinds = [point.get("filter", {}).get("kind") for point in row["points"]]
                self.assertEqual(kinds, [None, "random", "clustered"])
                for point in row["points"][1:]:
                    self.assertEqual(
                        {mode: len(runs) for mode, runs in point["runs"].items()},
                        {"one": 1, "batch": 1, "new_filter": 1},
                    )
                    self.assertEqual(point["empty_share"], 0)
                    self.assertGreater(point["recall"][0], 0.5)


if __name__ == "__main__":
    unittest.main()
