# SPDX-License-Identifier: MIT
import copy
import multiprocessing
import pathlib
import pickle
import tempfile
import unittest

import numpy as np
from support import make_rows, needs_indexes

import polarquant

DIM = 32


def _search(index, queries):
    return index.search(queries, 3)[1]


@needs_indexes
class StorageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "an index, naïve"
        self.x = make_rows(400, DIM)

    def made(self, description, metric="cosine"):
        index = polarquant.Index(description, DIM, metric)
        index.train(self.x)
        index.add(self.x)
        return index

    def assert_same(self, index, other):
        self.assertEqual(repr(index), repr(other))
        self.assertEqual((index.dim, index.metric), (other.dim, other.metric))
        for found, wanted in zip(index.search(self.x[:20], 5), other.search(self.x[:20], 5)):
            np.testing.assert_array_equal(found, wanted)

    def test_what_was_saved_is_loaded(self):
        for description in (
            "Polar2",
            "Polar4+2",
            "PCA16,Polar4",
            "Polar2,RFlat",
            "Flat",
        ):
            for metric in ("ip", "l2", "cosine"):
                with self.subTest(description=description, metric=metric):
                    index = self.made(description, metric)
                    index.save(self.path)
                    self.assert_same(polarquant.Index.load(str(self.path)), index)
                    self.assert_same(pickle.loads(pickle.dumps(index)), index)
                    self.assert_same(copy.deepcopy(index), index)

    def test_indexes_of_faiss_are_loaded_by_trust(self):
        for description in ("IVF4,Flat", "HNSW8,Flat", "PQ8x4np", "IVF4(Polar8),SQ8"):
            with self.subTest(description=description):
                index = self.made(description, "l2")
                index.save(self.path)
                with self.assertRaisesRegex(polarquant.UnsupportedError, "trust_faiss"):
                    polarquant.Index.load(self.path)
                self.assert_same(polarquant.Index.load(self.path, trust_faiss=True), index)
                self.assert_same(pickle.loads(pickle.dumps(index)), index)
                self.assert_same(copy.deepcopy(index), index)

    def test_ids_are_saved(self):
        index = polarquant.Index("Polar8", DIM)
        index.add_with_ids(self.x, np.arange(400) * 3)
        again = pickle.loads(pickle.dumps(index))
        self.assertEqual(again.search(self.x[:9], 1)[1][:, 0].tolist(), list(range(0, 27, 3)))

    def test_rows_that_came_by_a_merge_are_saved(self):
        for description in ("Polar4", "Polar2-pca", "PCA16,Polar4", "IDMap2,Polar4", "IVF4,Polar4"):
            with self.subTest(description=description):
                index = polarquant.Index(description, DIM, "l2")
                index.train(self.x)
                shard = index.clone()
                shard.add(self.x)
                index.merge_from(shard)
                index.save(self.path, verify=True)
                self.assert_same(polarquant.Index.load(self.path), index)
                self.assert_same(polarquant.Index.load(self.path, memory_map=True), index)
                self.assert_same(index.clone(), index)

    def test_a_mapped_index_reads_its_file(self):
        index = self.made("Polar4")
        index.save(self.path)
        with polarquant.Index.load(self.path, memory_map=True) as mapped:
            mapped.verify()
            self.assert_same(mapped, index)
            self.assertLess(mapped.memory_bytes, index.memory_bytes)
            with self.assertRaises(polarquant.PolarError):
                mapped.add(self.x)
            changed = mapped.clone()
        changed.add(self.x)
        self.assertEqual(changed.ntotal, 800)

    def test_a_mapped_inverted_file_reads_its_lists(self):
        index = polarquant.Index("IVF8,Polar4", DIM)
        index.train(self.x)
        index.add_with_ids(self.x, np.arange(400) * 3)
        index.save(self.path)
        mapped = polarquant.Index.load(self.path, memory_map=True)
        mapped.verify()
        self.assert_same(mapped, index)
        for nprobe in (1, 8):
            found = mapped.search(self.x[:20], 5, nprobe=nprobe)
            wanted = index.search(self.x[:20], 5, nprobe=nprobe)
            np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(mapped.reconstruct(33), index.reconstruct(33))
        self.assertLess(mapped.memory_bytes, index.memory_bytes - 400 * 40)
        with self.assertRaisesRegex(polarquant.UnsupportedError, "memory-mapped"):
            mapped.add_with_ids(self.x[:1], np.array([1]))
        with self.assertRaisesRegex(polarquant.UnsupportedError, "memory-mapped"):
            mapped.remove_ids([3])
        changed = mapped.clone()
        changed.add_with_ids(self.x[:1], np.array([1]))
        self.assertEqual((mapped.ntotal, changed.ntotal), (400, 401))

    def test_damaged_and_missing_files_are_refused(self):
        self.made("Polar4").save(self.path)
        data = self.path.read_bytes()
        for name, damaged, error in [
            ("empty", b"", polarquant.CorruptDataError),
            ("cut", data[:-1], polarquant.CorruptDataError),
            (
                "bit",
                data[:5000] + bytes([data[5000] ^ 1]) + data[5001:],
                polarquant.PolarError,
            ),
        ]:
            self.path.write_bytes(damaged)
            with self.subTest(name), self.assertRaises(error):
                polarquant.Index.load(self.path)
        with self.assertRaises(OSError):
            polarquant.Index.load(self.path.with_name("missing"))
        with self.assertRaises(polarquant.InputOutputError):
            self.made("Polar2").save("/no/such/folder/index")
        with self.assertRaisesRegex(ValueError, "zero byte"):
            polarquant.Index.load("a\0b")

    def test_indexes_go_to_other_processes(self):
        index = self.made("Polar4")
        with multiprocessing.get_context("fork").Pool(2) as pool:
            tasks = [pool.apply_async(_search, (index, self.x[:20])) for _ in range(2)]
            for task in tasks:
                np.testing.assert_array_equal(task.get(timeout=60), _search(index, self.x[:20]))


if __name__ == "__main__":
    unittest.main()
