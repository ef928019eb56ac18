# SPDX-License-Identifier: MIT
"""Inverted files of FAISS's taken over, and lists that were made elsewhere."""

import importlib
import importlib.util
import unittest
import unittest.mock

import numpy as np
from command_support import CommandTest, needs
from support import make_rows, needs_indexes

import polarquant

DIM = 32
ROWS = 3000


@needs_indexes
class ListsTest(unittest.TestCase):
    def test_rows_lie_in_the_lists_that_were_given(self):
        x = make_rows(ROWS, DIM)
        lists = np.random.default_rng(3).integers(0, 8, ROWS)
        centroids = 5 * make_rows(8, DIM, seed=2)
        index = polarquant.Index("IVF8,Polar8", DIM, "l2")
        self.assertEqual((index.nlist, index.nprobe), (8, 1))
        index.train_with_centroids(centroids, x)
        index.add_to_lists(x[:1000], np.arange(1000), lists[:1000])
        index.add_to_lists(x[1000:], np.arange(1000, ROWS), lists[1000:])
        for number in range(8):
            expected = np.flatnonzero(lists == number)
            found = index.search(centroids[number], len(expected))[1]
            self.assertEqual(sorted(found.tolist()), expected.tolist())

    def test_how_many_lists_are_searched_is_kept(self):
        x = make_rows(ROWS, DIM)
        index = polarquant.Index("IVF8,Polar4", DIM)
        index.nprobe = 3
        index.train(x)
        index.add(x)
        copy = index.clone()
        self.assertEqual((index.nprobe, copy.nprobe), (3, 3))
        np.testing.assert_array_equal(copy.search(x, 5)[1], index.search(x, 5, nprobe=3)[1])
        with self.assertRaises(polarquant.BadArgumentError):
            index.nprobe = 0
        flat = polarquant.Index("Polar4", DIM)
        self.assertEqual((flat.nlist, flat.nprobe), (0, 0))
        with self.assertRaises(polarquant.UnsupportedError):
            flat.nprobe = 2

    def test_wrong_lists_are_refused(self):
        x = make_rows(100, DIM)
        index = polarquant.Index("IVF4,Polar4", DIM)
        with self.assertRaisesRegex(polarquant.BadArgumentError, "nlist: 5"):
            index.train_with_centroids(x[:5], x)
        index.train_with_centroids(x[:4], x)
        with self.assertRaisesRegex(polarquant.BadArgumentError, "lists: shape"):
            index.add_to_lists(x, np.arange(100), np.zeros(99, int))
        with self.assertRaisesRegex(polarquant.BadArgumentError, "lists: 4 at 0"):
            index.add_to_lists(x[:1], [1], [4])
        with self.assertRaises(polarquant.UnsupportedError):
            polarquant.Index("Polar4", DIM).train_with_centroids(x[:4], x)
        self.assertEqual(index.ntotal, 0)


@unittest.skipIf(importlib.util.find_spec("faiss"), "faiss is installed")
class NoFaissTest(unittest.TestCase):
    def test_what_is_missing_is_said(self):
        with self.assertRaisesRegex(polarquant.UnsupportedError, "pip install faiss-cpu"):
            polarquant.Index.from_faiss(None)


@needs_indexes
@unittest.skipUnless(importlib.util.find_spec("faiss"), "faiss is not installed")
class FromFaissTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.faiss = importlib.import_module("faiss")
        # Its training is thousands of tiny parallel loops, which crawl where cores are shared.
        cls.faiss.omp_set_num_threads(1)
        cls.x = make_rows(ROWS, DIM)
        cls.queries = make_rows(50, DIM, seed=2)

    def made(self, description, metric="l2", ids=None):
        kind = self.faiss.METRIC_L2 if metric == "l2" else self.faiss.METRIC_INNER_PRODUCT
        index = self.faiss.index_factory(DIM, description, kind)
        index.train(self.x)
        if ids is None:
            index.add(self.x)
        else:
            index.add_with_ids(self.x, ids)
        self.faiss.extract_index_ivf(index).nprobe = 3
        return index

    def assert_same_lists(self, theirs, ours):
        """All that lies in the lists which either of them probes."""
        self.assertEqual(ours.ntotal, theirs.ntotal)
        self.assertEqual(ours.nprobe, 3)
        expected = theirs.search(self.queries, ROWS)[1]
        found = ours.search(self.queries, ROWS)[1]
        for wanted, got in zip(expected, found):
            self.assertEqual(set(got.tolist()), set(wanted.tolist()))

    def assert_same_answers(self, theirs, ours, least):
        expected, found = (index.search(self.queries, 10)[1] for index in (theirs, ours))
        shares = [len(set(a) & set(b)) / 10 for a, b in zip(expected.tolist(), found.tolist())]
        self.assertGreater(np.mean(shares), least)

    def test_lists_ids_and_nprobe_are_the_same(self):
        for metric in ("l2", "ip"):
            for description in ("IVF16,Flat", "IVF16,SQ8", "IVF16_HNSW8,Flat", "RR,IVF16,Flat"):
                with self.subTest(description=description, metric=metric):
                    theirs = self.made(description, metric)
                    ours = polarquant.Index.from_faiss(theirs, "Polar8")
                    hnsw = "_HNSW8" if "HNSW" in description else ""
                    self.assertEqual(ours.description, f"IVF16{hnsw},Polar8")
                    self.assertEqual(ours.metric, polarquant.metric.as_metric(metric))
                    self.assert_same_lists(theirs, ours)
                    self.assert_same_answers(theirs, ours, 0.93)
                    scores = theirs.search(self.queries, 1)[0]
                    np.testing.assert_allclose(ours.search(self.queries, 1)[0], scores, rtol=0.02)

    def test_rows_are_what_faiss_rebuilds(self):
        theirs = self.made("IVF16,Flat")
        ours = polarquant.Index.from_faiss(theirs, "Polar8")
        rows = ours.reconstruct_batch(np.arange(ROWS))
        error = np.mean((rows - self.x) ** 2) / np.mean(self.x**2)
        self.assertLess(error, 1e-3)
        # A refinement's floats, in the place of the codes that it refines.
        refined = polarquant.Index.from_faiss(self.made("IVF16,PQ4x4np,RFlat"), "Polar8")
        rows = refined.reconstruct_batch(np.arange(ROWS))
        self.assertLess(np.mean((rows - self.x) ** 2) / np.mean(self.x**2), 1e-3)

    def test_codes_of_every_kind_are_rebuilt(self):
        for description in (
            "IVF16,PQ8x8np",
            "IVF16,PQ16x4fs",
            "IVF16,RaBitQ",
            "OPQ8,IVF16,PQ8x8np",
        ):
            with self.subTest(description):
                theirs = self.made(description)
                ours = polarquant.Index.from_faiss(theirs, "Polar4")
                self.assert_same_lists(theirs, ours)

    def test_ids_are_kept(self):
        ids = np.random.default_rng(1).permutation(ROWS * 10)[:ROWS]
        for description in ("IVF16,Flat", "IDMap,IVF16,Flat", "IDMap2,IVF16,SQ8"):
            with self.subTest(description):
                theirs = self.made(description, ids=ids)
                ours = polarquant.Index.from_faiss(theirs, "Polar8")
                self.assert_same_lists(theirs, ours)
                self.assertEqual(ours.remove_ids(ids[:10]), 10)

    def test_normalized_rows_are_cosine(self):
        theirs = self.made("L2norm,IVF16,Flat", "ip")
        ours = polarquant.Index.from_faiss(theirs, "Polar8")
        self.assertEqual(ours.metric, polarquant.Metric.COSINE)
        self.assert_same_lists(theirs, ours)
        scores = theirs.search(self.queries, 1)[0]
        np.testing.assert_allclose(ours.search(7 * self.queries, 1)[0], scores, rtol=0.02)

    def test_an_index_without_rows(self):
        theirs = self.made("IVF16,Flat")
        theirs.reset()
        ours = polarquant.Index.from_faiss(theirs)
        self.assertEqual((ours.ntotal, ours.is_trained), (0, True))
        ours.add_with_ids(self.x, np.arange(ROWS))
        self.assertEqual(ours.search(self.x[:3], 1, nprobe=16)[1].ravel().tolist(), [0, 1, 2])

    def test_rows_come_in_parts_and_tell_how_far(self):
        theirs = self.made("IVF16,Flat")
        heard = []
        with unittest.mock.patch("polarquant._faiss_ivf._BATCH", DIM * 700):
            ours = polarquant.Index.from_faiss(theirs, progress=heard.append, train_rows=200)
        self.assert_same_lists(theirs, ours)
        self.assertEqual(len(heard), 5)
        self.assertEqual(heard[-1], 1.0)

    def test_what_cannot_be_taken_over_is_told(self):
        faiss = self.faiss
        for description, text in [
            ("Flat", "IndexFlat is no inverted file"),
            ("HNSW8,Flat", "IndexHNSWFlat"),
            ("PCA16,IVF16,Flat", "PCAMatrix"),
            ("IVF16,FlatDedup", "cannot rebuild"),
        ]:
            index = faiss.index_factory(DIM, description)
            index.train(self.x)
            index.add(self.x)
            with self.subTest(description):
                with self.assertRaisesRegex(polarquant.UnsupportedError, text):
                    polarquant.Index.from_faiss(index)
        for kind, text in [(faiss.METRIC_L1, "metric"), (faiss.METRIC_L2, "L2 of normalized")]:
            description = "IVF16,Flat" if kind == faiss.METRIC_L1 else "L2norm,IVF16,Flat"
            index = faiss.index_factory(DIM, description, kind)
            index.train(self.x)
            with self.subTest(text), self.assertRaisesRegex(polarquant.UnsupportedError, text):
                polarquant.Index.from_faiss(index)
        with self.assertRaisesRegex(polarquant.BadArgumentError, "not trained"):
            polarquant.Index.from_faiss(faiss.index_factory(DIM, "IVF16,Flat"))
        with self.assertRaisesRegex(TypeError, "faiss.Index"):
            polarquant.Index.from_faiss(self.x)
        twice = faiss.index_factory(DIM, "IVF16,Flat")
        twice.train(self.x)
        twice.add_with_ids(self.x[:2], np.array([5, 5]))
        with self.assertRaisesRegex(polarquant.BadArgumentError, "ids: 5"):
            polarquant.Index.from_faiss(twice)


@needs_indexes
class ConvertTest(CommandTest):
    @needs("faiss")
    def test_index_files_of_faiss_are_taken_over(self):
        faiss = importlib.import_module("faiss")
        faiss.omp_set_num_threads(1)
        x = make_rows(ROWS, DIM)
        theirs = faiss.index_factory(DIM, "IVF16,Flat")
        theirs.train(x)
        theirs.add(x)
        theirs.nprobe = 5
        faiss.write_index(theirs, self.path("theirs.faiss"))
        target = self.path("ours.polar")
        _, said = self.polar("convert", self.path("theirs.faiss"), target, "--index", "Polar8")
        self.assertIn("as IVF16,Polar8", said)
        ours = polarquant.Index.load(target)
        self.assertEqual((ours.ntotal, ours.nprobe), (ROWS, 5))
        self.assertEqual(ours.search(x[:9], 1)[1].ravel().tolist(), list(range(9)))
        self.assert_refused("is an index", "convert", self.path("theirs.faiss"), self.path("x.npy"))
        with open(self.path("theirs.faiss"), "wb") as file:
            file.write(b"nothing")
        self.assert_refused("FAISS cannot read", "convert", self.path("theirs.faiss"), target)

    def test_a_missing_faiss_is_named(self):
        with unittest.mock.patch.dict("sys.modules", {"faiss": None}):
            self.assert_refused("pip install faiss-cpu", "convert", self.path("a"), self.path("b"))


if __name__ == "__main__":
    unittest.main()
