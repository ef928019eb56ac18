#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/peers: filters and what is to be found with them, and a run of our own indexes, where
POLARQUANT_LIBRARY names the library. Other libraries are not needed."""

import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ROOT / "bench" / "peers"
sys.path.insert(0, str(PEERS))

import adapters.adapter
import churn
import churn_report
import measure
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


class ExactIndex:
    """As an adapter has it: floats under ids, and every row looked at."""

    def __init__(self, x):
        self.rows = dict(enumerate(x))
        self.counts = []

    def upsert(self, ids, x):
        self.rows[int(ids[0])] = x[0]
        self.counts.append(len(self.rows))

    def remove(self, ids):
        del self.rows[int(ids[0])]  # KeyError where it is not there
        self.counts.append(len(self.rows))

    def search(self, queries, k):
        ids = np.array(list(self.rows))
        scores = queries @ np.stack(list(self.rows.values())).T
        return ids[np.argsort(-scores, axis=1)[:, :k]]


class ChurnTest(unittest.TestCase):
    def setUp(self):
        self.base = unit_rows(200, 16, 1)
        self.queries = unit_rows(10, 16, 2)
        self.live = churn.LiveRows(self.base)
        self.index = ExactIndex(self.base[:180])

    def test_rows_stay_as_many(self):
        timers = {kind: churn.Timer() for kind in churn_report.KINDS}
        for _ in range(1000):
            self.live.change(self.index, timers)
        self.assertEqual(set(self.index.counts), {179, 180})
        counts = [timers[kind].summary()["count"] for kind in ("update", "remove", "insert")]
        self.assertEqual(counts, [334, 333, 333])
        # What the index has is what the books say.
        self.assertEqual(self.live.recall(self.index, self.queries, 10), 1)
        self.assertEqual(self.live.dead(np.array([[id, -1] for id in self.index.rows])), 0)

    def test_removed_ids_are_noticed(self):
        timers = {kind: churn.Timer() for kind in churn_report.KINDS}
        for _ in range(2):  # an update, and a removal
            self.live.change(self.index, timers)
        (removed,) = set(range(180)) - set(self.index.rows)
        self.assertEqual(self.live.dead(np.array([removed, -1])), 1)

    def test_time_is_full(self):
        run = churn.Churn(self.index, self.live, self.queries, 10)
        found = run.changing(0.2)
        self.assertEqual(len(found["windows"]), churn.WINDOWS)
        self.assertGreaterEqual(found["windows"][-1]["end_seconds"], 0.2)
        self.assertEqual(run.dead_ids, 0)
        searches = sum(window["search"]["count"] for window in found["windows"])
        changes = sum(found[kind]["count"] for kind in ("update", "remove", "insert"))
        self.assertEqual((searches, searches), (found["search"]["count"], 9 * changes))

    def test_percentiles(self):
        latencies = churn.Latencies()
        times = np.random.default_rng(1).lognormal(10, 1, 10000).astype(int)
        for ns in times.tolist():
            latencies.add(ns)
        self.assertEqual((latencies.count, latencies.total_ns), (len(times), times.sum()))
        for share in (0.5, 0.99):
            expected = np.quantile(times, share) / 1000
            self.assertAlmostEqual(latencies.percentile(share) / expected, 1, delta=0.02)


class SuiteTest(unittest.TestCase):
    def test_names_are_of_known_kinds(self):
        for name, suite in suites.SUITES.items():
            for contender in suite(384):
                with self.subTest(f"{name} {contender.name}"):
                    kind, colon, what = contender.name.partition(":")
                    self.assertIn(kind, adapters.KINDS)
                    self.assertTrue(colon and what)


    def test_few_bytes_are_as_many_as_their_names_say(self):
        sizes = {}
        for contender in suites.few_bytes(384):
            numbers = re.search(r"(?:PolarB|[RL]?S?Q)([0-9x]+)(?:np|-km[0-9]+)?$", contender.name)[1]
            factors = [int(number) for number in numbers.split("x")]
            # Of additive codes the last number is 8 bits, of PRQ and PLSQ the first is of parts.
            size = math.prod(factors[:-1]) if len(factors) > 1 else factors[0]
            sizes.setdefault(contender.series, []).append(size)
        for name, found in sizes.items():
            with self.subTest(name):
                self.assertEqual(sorted(found), [8, 16, 32] if "1024" in name else [8, 12, 16, 24, 32])


class TrainingRowsTest(unittest.TestCase):
    def setUp(self):
        self.base = unit_rows(1000, 16, 1)
        self.adapter = adapters.adapter.GrowingAdapter("any", 16, 1)

    def test_all_by_default(self):
        self.assertIs(self.adapter.training_rows(self.base), self.base)
        self.adapter.limit_training(1000)
        self.assertIs(self.adapter.training_rows(self.base), self.base)

    def test_drawn_from_the_whole_base_and_always_the_same(self):
        self.adapter.limit_training(100)
        rows = self.adapter.training_rows(self.base)
        places = [int(np.flatnonzero((self.base == row).all(axis=1))[0]) for row in rows]
        self.assertEqual((len(set(places)), places), (100, sorted(places)))
        self.assertGreater(places[-1], 900)
        np.testing.assert_array_equal(rows, self.adapter.training_rows(self.base))

    def test_libraries_that_cannot_say_so(self):
        with self.assertRaisesRegex(ValueError, "trains on all rows"):
            adapters.adapter.Adapter("any", 16, 1).limit_training(100)

    def test_contenders_that_train_on_fewer(self):
        def limited(most, asked):
            contender = suites.Contender("faiss:LSQ32x8", "FAISS LSQ", max_train_rows=most)
            return measure.training_rows_of(contender, asked, self.base)

        cases = (None, None, None), (None, 500, 500), (200, 500, 200), (800, 500, 500), (5000, None, 1000)
        for most, asked, expected in cases:
            with self.subTest(f"{most} {asked}"):
                self.assertEqual(limited(most, asked), expected)


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

    def test_churn(self):
        contenders = ("--contenders", "polar:Polar4;polar:IVF16,Polar4@nprobe=4", "--nq", "20")
        result, printed = self.compare("churn", *contenders, "--seconds", "0.5")
        self.assertIn("operations/s", printed)
        for row in result["contenders"]:
            with self.subTest(row["contender"]):
                self.assertNotIn("error", row)
                (point,) = row["points"]
                self.assertEqual(point["removed_ids_found"], 0)
                self.assertAlmostEqual(point["recall"][0], point["recall_after"], delta=0.1)
                self.assertGreater(churn_report.per_second(result, point), 100)

    def test_training_rows(self):
        contenders = ("--contenders", "polar:PolarB16", "--nq", "20", "--seeds", "1")
        recalls = []
        for limits in ((), ("--train-rows", "1000")):
            result, _ = self.compare("recall", *contenders, *limits)
            (row,) = result["contenders"]
            self.assertNotIn("error", row)
            self.assertEqual(row["bytes_per_vector"], 16)
            self.assertEqual(result["settings"].get("train_rows"), 1000 if limits else None)
            recalls.append(row["points"][0]["recall"][0])
        self.assertGreater(recalls[0], recalls[1])

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
