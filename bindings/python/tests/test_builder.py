# SPDX-License-Identifier: MIT
"""Index files built in parts, and merged."""

import os
import pathlib
import tempfile
import unittest

import numpy as np
from support import make_rows, needs_indexes

import polarquant

DIM = 48
N = 30_000
LEAST = 1 << 20


@needs_indexes
class BuilderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.x = make_rows(N, DIM)
        cls.index = polarquant.Index("IVF20,Polar4", DIM, "l2")
        cls.index.train(cls.x[:2000])

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "rows.polar"

    def whole_file(self, ids=None):
        whole = self.index.clone()
        if ids is None:
            whole.add(self.x)
        else:
            whole.add_with_ids(self.x, ids)
        whole.save(self.folder / "whole")
        return (self.folder / "whole").read_bytes()

    def test_it_makes_the_file_of_one_index(self):
        ids = np.random.default_rng(1).permutation(N) + 5
        for row_ids in (None, ids):
            with self.subTest(with_ids=row_ids is not None):
                with polarquant.IndexBuilder(self.path, self.index, memory_bytes=LEAST) as builder:
                    self.assertEqual((builder.dim, len(builder)), (DIM, 0))
                    for first in range(0, N, 7001):
                        rows = slice(first, first + 7001)
                        if row_ids is None:
                            builder.add(self.x[rows])
                        else:
                            builder.add_with_ids(self.x[rows], row_ids[rows])
                    self.assertGreater(builder.written, 0)
                    self.assertEqual(builder.ntotal, N)
                    heard = []
                    builder.finish(progress=heard.append)
                    self.assertAlmostEqual(heard[-1], 1)
                self.assertEqual(self.path.read_bytes(), self.whole_file(row_ids))
                self.assertFalse(os.path.exists(f"{self.path}.parts"))

    def test_it_goes_on(self):
        with self.assertRaisesRegex(polarquant.NotFoundError, "rows.polar.parts"):
            polarquant.IndexBuilder.resume(self.path)
        with polarquant.IndexBuilder(self.path, self.index) as builder:
            builder.add(self.x[:10_000])
            builder.write_part()
            builder.add(self.x[10_000:10_100])
        with self.assertRaisesRegex(polarquant.BadArgumentError, "replace"):
            polarquant.IndexBuilder(self.path, self.index)
        with polarquant.IndexBuilder.resume(self.path) as builder:
            self.assertEqual((builder.ntotal, builder.written), (10_000, 10_000))
            with self.assertRaisesRegex(polarquant.InputOutputError, "in use"):
                polarquant.IndexBuilder.resume(self.path)
            builder.add(self.x[builder.ntotal :])
            builder.finish()
        self.assertEqual(self.path.read_bytes(), self.whole_file())

    def test_what_it_refuses(self):
        untrained = polarquant.Index("Polar4", DIM)
        with self.assertRaises(polarquant.NotTrainedError):
            polarquant.IndexBuilder(self.path, untrained)
        with self.assertRaises(TypeError):
            polarquant.IndexBuilder(self.path, "Polar4")
        with self.assertRaisesRegex(polarquant.UnsupportedError, "in parts"):
            polarquant.IndexBuilder(self.path, polarquant.Index("HNSW8,Polar4", DIM))
        with self.assertRaisesRegex(polarquant.BadArgumentError, "memory_bytes"):
            polarquant.IndexBuilder(self.path, self.index, memory_bytes=LEAST - 1)
        builder = polarquant.IndexBuilder(self.path, self.index)
        with self.assertRaisesRegex(polarquant.BadArgumentError, "2 of them for 3"):
            builder.add_with_ids(self.x[:3], [1, 2])
        with self.assertRaises(polarquant.BadArgumentError):
            builder.add(self.x[:, :5])
        builder.close()
        with self.assertRaises(polarquant.BadArgumentError):
            builder.add(self.x[:3])

    def test_files_are_merged(self):
        paths = []
        for i in range(3):
            with self.index.clone() as shard:
                shard.add(self.x[i * 10_000 : (i + 1) * 10_000])
                paths.append(self.folder / f"shard{i}")
                shard.save(paths[-1])
        polarquant.merge_files(paths, self.path)
        self.assertEqual(self.path.read_bytes(), self.whole_file())
        other = polarquant.Index("IVF20,Polar4", DIM, "l2")
        other.train(self.x[500:3000])
        other.save(paths[1])
        with self.assertRaisesRegex(polarquant.StateMismatchError, "shard1"):
            polarquant.merge_files(paths, self.path)
        with self.assertRaisesRegex(polarquant.BadArgumentError, "n: 0"):
            polarquant.merge_files([], self.path)
        with self.assertRaises(polarquant.CancelledError):
            polarquant.merge_files([paths[0]] * 3, self.path, progress=lambda done: False)


if __name__ == "__main__":
    unittest.main()
