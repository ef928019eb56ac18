# SPDX-License-Identifier: MIT
"""polar bench."""

import argparse
import contextlib
import importlib
import json
import unittest
import unittest.mock

import numpy as np
from command_support import CommandTest, needs
from support import exact_ids, make_rows, needs_indexes

import polarquant
from polarquant import cuda
from polarquant.command.bench_chart import best_of, series_of
from polarquant.command.bench_choice import choose
from polarquant.command.bench_contenders import (
    Named,
    default_contenders,
    device_contenders,
    parse_contenders,
)
from polarquant.command.bench_device import read_device
from polarquant.command.bench_measure import Measured, recalls
from polarquant.command.bench_page import make_page
from polarquant.command.bench_parts import Parts, draw_parts, exact_neighbours, normalize
from polarquant.command.failure import CommandError
from polarquant.command.vector_files import open_vectors
from polarquant.metric import Metric


def _measured(code, size, recall, library="polar", margin=0.0):
    return Measured(Named(library, code), "", size, recall, margin, 1.0, (1.0, 2.0, 4.0), 8)


@contextlib.contextmanager
def stand_in_device(name):
    """Two devices that search as the CPU does; the copies that were made for them."""
    device = cuda.CudaDevice(name, (9, 0), 132, 1 << 36, 1 << 36)
    copies = []

    def to_cuda(index, device):
        copies.append({"index": index, "device": device})
        return index.clone()

    with unittest.mock.patch("polarquant.cuda.devices", lambda: (device, device)):
        with unittest.mock.patch.object(polarquant.Index, "to_cuda", to_cuda):
            yield copies


class PartsTest(CommandTest):
    def test_parts_share_no_row(self):
        x, path = self.rows(4000, 20)
        parts = draw_parts(open_vectors(path), None, Metric.L2, 10, 700, 150, 1)
        self.assertEqual((len(parts.queries), len(parts.base)), (150, 700))
        self.assertEqual(len(parts.train), 1925)
        known = {row.tobytes(): number for number, row in enumerate(x)}
        rows = [known[row.tobytes()] for part in parts[:3] for row in part]
        self.assertEqual(len(set(rows)), 150 + 700 + 1925)
        again = draw_parts(open_vectors(path), None, Metric.L2, 10, 700, 150, 1)
        np.testing.assert_array_equal(parts.base, again.base)
        other = draw_parts(open_vectors(path), None, Metric.COSINE, 10, 700, 150, 2)
        np.testing.assert_allclose(np.linalg.norm(other.base, axis=1), 1, rtol=1e-5)
        with self.assertRaisesRegex(CommandError, "too few"):
            draw_parts(open_vectors(path), None, Metric.L2, 300, 20000, 150, 1)

    def test_neighbours_are_exact(self):
        x, q = make_rows(900, 12), make_rows(40, 12, seed=2)
        inner = exact_neighbours(x, q, Metric.INNER_PRODUCT, 7)
        np.testing.assert_array_equal(inner, exact_ids(x, q, 7))
        apart = ((q[:, None].astype(np.float64) - x[None]) ** 2).sum(axis=2)
        expected = np.argsort(apart, axis=1, kind="stable")[:, :7]
        np.testing.assert_array_equal(exact_neighbours(x, q, Metric.L2, 7), expected)
        twice = np.concatenate([x, x])
        found = exact_neighbours(twice, x[:5], Metric.L2, 2)
        self.assertEqual(found.tolist(), [[i, i + 900] for i in range(5)])

    def test_zeros_stay_zeros(self):
        np.testing.assert_array_equal(normalize(np.zeros((2, 3), np.float32)), np.zeros((2, 3)))

    def test_recall_is_the_share_of_the_exact(self):
        parts = Parts(make_rows(9, 4), make_rows(2, 4), make_rows(2, 4, seed=3), False)
        for metric in (Metric.INNER_PRODUCT, Metric.L2):
            exact = exact_neighbours(parts.base, parts.queries, metric, 3)
            far = exact_neighbours(parts.base, parts.queries, metric, 9)[:, 5:]
            found = np.array([[exact[0, 0], exact[0, 2], far[0, 0]], [exact[1, 1], -1, far[1, 1]]])
            shares = recalls(found, exact, parts, metric)
            np.testing.assert_allclose(shares, [2 / 3, 1 / 3])
            twice = np.stack([exact[:, 0], exact[:, 0], exact[:, 0]], axis=1)
            np.testing.assert_allclose(recalls(twice, exact, parts, metric), 1 / 3)

    def test_rows_as_near_as_the_last_are_found(self):
        x = make_rows(20, 16)
        order = np.random.default_rng(5).permutation(np.repeat(np.arange(20), 30))
        for metric in Metric:
            base, queries = x[order], x[:7] + np.float32(0.1)
            if metric == Metric.COSINE:
                base, queries = normalize(base), normalize(queries)
            parts = Parts(base, base, queries, False)
            exact = exact_neighbours(base, queries, metric, 10)
            nearest = [np.flatnonzero(order == order[ids[0]])[-10:] for ids in exact]
            np.testing.assert_array_equal(recalls(np.array(nearest), exact, parts, metric), 1)
            # Of 40 the 30 copies of the nearest, and ten of those of the next.
            exact = exact_neighbours(base, queries, metric, 40)
            both = [
                np.concatenate(
                    [
                        np.flatnonzero(order == order[ids[0]]),
                        np.flatnonzero(order == order[ids[-1]])[-10:],
                    ]
                )
                for ids in exact
            ]
            np.testing.assert_array_equal(recalls(np.array(both), exact, parts, metric), 1)
            worse = np.array(both)
            worse[:, :3] = [np.flatnonzero(order == order[ids[-1]])[:3] for ids in exact]
            self.assertTrue((recalls(worse, exact, parts, metric) <= 1).all())

    @needs_indexes
    def test_exact_search_among_copies_has_a_recall_of_1(self):
        x = make_rows(30, 32)
        np.save(self.path("x.npy"), np.random.default_rng(1).permutation(np.repeat(x, 60, axis=0)))
        result = self.path("result.json")
        for metric in ("ip", "l2", "cosine"):
            self.polar(
                *("bench", self.path("x.npy"), "--metric", metric, "--codes", "Polar8;Polar4"),
                *("--rounds", "1", "--json", result),
            )
            with open(result, encoding="utf-8") as file:
                told = {row["code"]: row["recall"] for row in json.load(file)["rows"]}
            with self.subTest(metric):
                self.assertEqual(told["Polar8"], 1.0)
                self.assertGreater(told["Polar4"], 0.95)


class ChoiceTest(unittest.TestCase):
    ROWS = [
        _measured("Polar1", 50, 0.70),
        _measured("Polar2", 100, 0.86, margin=0.02),
        _measured("SQ4", 192, 0.92, "faiss"),
        _measured("Polar4", 196, 0.96),
        _measured("SQ8", 384, 0.99, "faiss"),
        Measured(Named("turbovec", "3"), "no such width"),
    ]

    def choice(self, recall=0.0, size=0.0):
        return choose(self.ROWS, 384, 10, recall, size)

    def test_what_is_asked_for_is_chosen(self):
        for recall, size, expected in [
            (0, 0, "Polar4"),
            (0.85, 0, "FAISS SQ4"),  # Polar2 is not sure to reach it
            (0.84, 0, "Polar2"),
            (0.95, 0, "Polar4"),
            (0, 120, "Polar2"),
            (0, 192, "FAISS SQ4"),
            (0.9, 200, "FAISS SQ4"),
        ]:
            with self.subTest(recall=recall, size=size):
                self.assertEqual(self.choice(recall, size).row.named.label, expected)

    def test_the_others_are_named(self):
        reason = self.choice().reason
        self.assertIn("7.8 times fewer", reason)
        self.assertIn("FAISS SQ4 finds most of the others' codes: 0.920 in 192", reason)
        self.assertIn("FAISS SQ8 takes fewest of theirs: 384 bytes", reason)

    def test_nothing_may_fit(self):
        choice = self.choice(0.995)
        self.assertIsNone(choice.row)
        self.assertIn("FAISS SQ8", choice.reason)
        self.assertIsNone(choose(self.ROWS[-1:], 384, 10, 0, 0).row)

    def test_the_chart_s_line_joins_the_best(self):
        rows = [_measured("a", 10, 0.5), _measured("b", 12, 0.4), _measured("c", 20, 0.9)]
        self.assertEqual([row.named.code for row in best_of(rows[::-1])], ["a", "c"])
        self.assertEqual(series_of(_measured("Polar2-pca", 1, 1)), "polarquant, trained")
        self.assertEqual(series_of(_measured("PolarTree4.2.2.2", 1, 1)), "published polar codes")
        self.assertEqual(series_of(_measured("SQ8", 1, 1, "faiss")), "FAISS")

    def test_time_is_the_median(self):
        self.assertEqual(self.ROWS[0].queries_per_second, 4.0)


class PageTest(unittest.TestCase):
    def test_no_name_ends_the_script_that_holds_the_results(self):
        told = {
            "code": "</script><script>alert(1)</script>",
            "file": "\"<!--<script> & '@RESULTS@\\",
        }
        empty, page = make_page(""), make_page(json.dumps(told))
        begin = next(i for i, (a, b) in enumerate(zip(empty, page)) if a != b)
        written = page[begin : begin + len(page) - len(empty)]
        self.assertNotIn("<", written)
        self.assertEqual(json.loads(written), told)


class ContendersTest(unittest.TestCase):
    def test_names_are_read(self):
        named = parse_contenders("Polar2; polar:Polar4 ;faiss:PCA64,SQ8;turbovec:4")
        self.assertEqual(
            [row.label for row in named], ["Polar2", "Polar4", "FAISS PCA64,SQ8", "turbovec 4"]
        )
        for text in ("", ";", "scann:1", "faiss:"):
            with self.assertRaises(CommandError):
                parse_contenders(text)

    def test_libraries_that_are_missing_are_told(self):
        with unittest.mock.patch("importlib.util.find_spec", lambda name: None):
            named, missing = default_contenders(384)
        self.assertEqual(missing, ["FAISS", "turbovec"])
        self.assertTrue(all(row.is_ours and not row.is_on_device for row in named))

    def test_codes_are_named_for_a_device(self):
        named = parse_contenders("Polar2; polar:Polar4; cuda:Polar8; faiss:SQ8", "cuda")
        self.assertEqual(
            [row.label for row in named],
            ["Polar2 on CUDA", "Polar4", "Polar8 on CUDA", "FAISS SQ8"],
        )
        for row in device_contenders(384):
            self.assertRegex(row.code, r"^Polar[0-9.]+(-pca)?$")
            self.assertTrue(row.is_ours and row.is_on_device)

    def test_devices_are_read(self):
        for text, device in [("cpu", None), ("cuda", 0), ("cuda:0", 0), ("cuda:3", 3)]:
            self.assertEqual(read_device(text), device)
        for text in ("", "gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:0"):
            with self.subTest(text), self.assertRaises(argparse.ArgumentTypeError):
                read_device(text)


@needs_indexes
class BenchTest(CommandTest):
    def test_codes_are_measured(self):
        x, rows = self.rows(3000, 32)
        np.save(self.path("queries.npy"), make_rows(60, 32, seed=3))
        result = self.path("result.json")
        out, _ = self.polar(
            *("bench", rows, "--queries", self.path("queries.npy"), "--metric", "l2"),
            *("--codes", "Polar1;Polar4;Polar8;Polar77", "--rounds", "2", "--json", result),
        )
        with open(result, encoding="utf-8") as file:
            told = json.load(file)
        codes = [row["code"] for row in told["rows"]]
        self.assertEqual(codes, ["Polar1", "Polar4", "Polar8", "Polar77"])
        self.assertIn("Polar77", told["rows"][3]["problem"])
        recall = [row["recall"] for row in told["rows"][:3]]
        self.assertEqual(recall, sorted(recall))
        self.assertGreater(recall[2], 0.95)
        self.assertEqual(len(told["rows"][0]["search_seconds"]), 2)
        self.assertEqual((told["metric"], told["data"]["queries_used"]), ("l2", 60))
        self.assertIn(told["recommended"], out)
        self.assertIn("Polar77: not measured", out)

    def test_the_page_has_what_the_json_has(self):
        _, rows = self.rows(1500, 32, name="a<b>.npy")
        result, page = self.path("result.json"), self.path("result.html")
        self.polar(
            *("bench", rows, "--codes", "Polar1;Polar77", "--rounds", "1"),
            *("--json", result, "--html", page),
        )
        with open(result, encoding="utf-8") as file:
            text = file.read()
        with open(page, encoding="utf-8") as file:
            self.assertEqual(file.read(), make_page(text.rstrip("\n")))
        self.assert_refused("written twice", "bench", rows, "--json", result, "--html", result)

    def test_nothing_that_is_wanted_is_an_answer_of_its_own(self):
        _, rows = self.rows(1500, 32)
        out, _ = self.polar(
            "bench", rows, "--codes", "Polar1", "--want-recall", "0.99", "--rounds", "1", code=1
        )
        self.assertIn("None of them is within recall of 0.99", out)

    def test_what_cannot_be_measured_is_told(self):
        _, rows = self.rows(60, 8)
        self.assert_refused("too few", "bench", rows, "--codes", "Polar2")
        self.assert_refused(".svg", "bench", rows, "--chart", self.path("chart.txt"))
        with unittest.mock.patch.dict("sys.modules", {"matplotlib": None}):
            self.assert_refused(
                "pip install matplotlib", "bench", rows, "--chart", self.path("c.svg")
            )

    def test_codes_are_measured_on_a_device(self):
        _, rows = self.rows(3000, 32)
        result = self.path("result.json")
        arguments = ("--codes", "Polar2;polar:Polar2;Polar4-pca", "--rounds", "1", "--json", result)
        with stand_in_device("A stand-in") as copies:
            out, _ = self.polar("bench", rows, "--device", "cuda:1", *arguments)
        self.assertEqual([copy["device"] for copy in copies], [1, 1])
        self.assertIn("\nCUDA: A stand-in\n", out)
        self.assertIn(" Polar2 on CUDA ", out)
        with open(result, encoding="utf-8") as file:
            told = json.load(file)
        self.assertEqual(told["gpu"], "A stand-in")
        found = {(row["code"], row["device"]): row for row in told["rows"]}
        self.assertEqual(len(found), 3)
        # What a device finds is what the CPU finds.
        for figure in ("recall", "bytes_per_vector"):
            self.assertEqual(found["Polar2", "cuda"][figure], found["Polar2", "cpu"][figure])

    def test_a_device_that_is_missing_is_told(self):
        _, rows = self.rows(200, 32)
        with stand_in_device("A stand-in"):
            self.assert_refused("there are 2", "bench", rows, "--device", "cuda:2")
        absent = polarquant.UnsupportedError("CUDA: there is no device")
        with unittest.mock.patch("polarquant.cuda.devices", side_effect=absent):
            for asked in (("--device", "cuda"), ("--codes", "cuda:Polar2")):
                self.assert_refused("CUDA: there is no device", "bench", rows, *asked)
        self.assert_refused("'gpu' is no device", "bench", rows, "--device", "gpu", code=2)

    @needs("h5py")
    def test_queries_lie_beside_the_rows(self):
        h5py = importlib.import_module("h5py")
        with h5py.File(self.path("both.hdf5"), "w") as file:
            file["train"], file["test"] = make_rows(800, 8), make_rows(33, 8, seed=2)
        out, _ = self.polar("bench", self.path("both.hdf5"), "--codes", "Polar4", "--rounds", "1")
        self.assertIn("33 queries", out)

    @needs("matplotlib")
    def test_a_chart_is_drawn(self):
        _, rows = self.rows(800, 8)
        chart = self.path("chart.svg")
        self.polar("bench", rows, "--codes", "Polar2;Polar4", "--rounds", "1", "--chart", chart)
        with open(chart, encoding="utf-8") as file:
            drawn = file.read()
        self.assertIn("<svg", drawn)
        for text in ("Polar2", "Polar4", "bytes a vector", "recall@10"):
            self.assertIn(text, drawn)

    def check_rival(self, codes, **fewest_recalls):
        _, rows = self.rows(3000, 64)
        result = self.path("result.json")
        self.polar("bench", rows, "--codes", codes, "--rounds", "1", "--json", result)
        with open(result, encoding="utf-8") as file:
            told = {row["code"]: row for row in json.load(file)["rows"]}
        for code, recall in fewest_recalls.items():
            self.assertNotIn("problem", told[code])
            self.assertGreater(told[code]["recall"], recall)
            self.assertGreater(told[code]["bytes_per_vector"], 0)
        return told

    @needs("faiss")
    def test_faiss_is_measured(self):
        told = self.check_rival("faiss:Flat; faiss:SQ8; faiss:PQ16x8np", Flat=0.999, SQ8=0.95)
        self.assertEqual(told["Flat"]["bytes_per_vector"], 256)
        self.assertEqual(told["PQ16x8np"]["bytes_per_vector"], 16)

    @needs("turbovec")
    def test_turbovec_is_measured(self):
        told = self.check_rival("turbovec:4; turbovec:4+calibrated; turbovec:x", **{"4": 0.7})
        self.assertIn("problem", told["x"])


if __name__ == "__main__":
    unittest.main()
