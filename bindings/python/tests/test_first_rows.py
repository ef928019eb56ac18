# SPDX-License-Identifier: MIT
"""The first rows of an index that nobody trained: exact until they are enough to learn from."""

import pickle
import tempfile
import unittest
from pathlib import Path

import numpy as np
from support import make_rows, needs_indexes

import polarquant

DIM = 64


def cosine_ids(x, queries, k):
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return np.argsort(-(queries @ unit.T), axis=1, kind="stable")[:, :k]


def recall(found, truth):
    return (
        np.mean([len(set(a) & set(b)) for a, b in zip(found.tolist(), truth.tolist())])
        / truth.shape[1]
    )


def added(spec, x, piece, metric="cosine"):
    index = polarquant.Index(spec, x.shape[1], metric)
    for at in range(0, len(x), piece):
        index.add(x[at : at + piece])
    return index


@needs_indexes
class FirstRowsTest(unittest.TestCase):
    def test_recall_does_not_depend_on_the_pieces(self):
        # Rows whose mean is twice as long as they are wide about it.
        mean = 2 * make_rows(1, DIM, seed=5)
        x, queries = make_rows(5000, DIM) + mean, make_rows(300, DIM, seed=2) + mean
        truth = cosine_ids(x, queries, 10)
        for spec, least in (("Polar2", 0.6), ("Polar4", 0.85)):
            recalls = [
                recall(added(spec, x, piece).search(queries, 10)[1], truth)
                for piece in (5000, 100, 99, 1)
            ]
            self.assertGreater(min(recalls), least)
            self.assertLess(max(recalls) - min(recalls), 0.02, (spec, recalls))

    def test_near_equal_first_rows_decide_nothing(self):
        rng = np.random.default_rng(0)
        same = make_rows(1, DIM) * (1 + 1e-6 * rng.standard_normal((100, DIM)))
        others = make_rows(2000, DIM, seed=3)
        index = added("Polar4", np.vstack((same, others)).astype(np.float32), 100)
        queries = make_rows(50, DIM, seed=4)
        truth = cosine_ids(others, queries, 10) + 100
        found = index.search(queries, 10, filter=np.arange(100, 2100))[1]
        self.assertGreater(recall(found, truth), 0.8)

    def test_one_row_far_out_among_the_first(self):
        x, queries = make_rows(3000, DIM), make_rows(50, DIM, seed=2)
        others = np.delete(np.arange(len(x)), 17)
        distances = (queries**2).sum(1)[:, None] - 2 * queries @ x.T + (x**2).sum(1)
        distances[:, 17] = np.inf
        truth = np.argsort(distances, axis=1)[:, :10]
        for length in (1, 1e4, 1e6):
            y = x.copy()
            y[17] *= length
            index = polarquant.Index("Polar4", DIM, "l2")
            index.add(y[:50])
            index.add(y[50:])
            found = index.search(queries, 10, filter=others)[1]
            self.assertGreater(recall(found, truth), 0.85, length)

    def test_files_copies_and_pickles_of_first_rows(self):
        x, queries = make_rows(1200, DIM), make_rows(20, DIM, seed=2)
        for held in (1, 999, 1000):
            index = added("Polar4", x[:held], 500, "l2")
            expected = index.search(queries, 5)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "index.polar"
                index.save(path)
                with polarquant.Index.load(path, memory_map=True) as mapped:
                    np.testing.assert_array_equal(mapped.search(queries, 5)[1], expected[1])
                    mapped.verify()
                    with self.assertRaises(polarquant.UnsupportedError):
                        mapped.add(x[:1])
                copies = [
                    polarquant.Index.load(path),
                    index.clone(),
                    pickle.loads(pickle.dumps(index)),
                ]
            for piece in (index, *copies):
                piece.add(x[held:])
            expected = index.search(queries, 10)
            for copy in copies:
                found = copy.search(queries, 10)
                np.testing.assert_array_equal(found[0], expected[0])
                np.testing.assert_array_equal(found[1], expected[1])

    def test_training_codes_the_rows_held(self):
        x, queries = make_rows(1500, DIM), make_rows(20, DIM, seed=2)
        late, early = polarquant.Index("Polar4", DIM), polarquant.Index("Polar4", DIM)
        late.add(x[:300])
        np.testing.assert_allclose(late.reconstruct(7), x[7], rtol=0, atol=0)
        late.train(x)
        early.train(x)
        early.add(x[:300])
        for found, expected in zip(late.search(queries, 5), early.search(queries, 5)):
            np.testing.assert_array_equal(found, expected)
        with self.assertRaises(polarquant.StateMismatchError):
            late.train(x)

    def test_shards_of_few_rows_are_merged(self):
        x, queries = make_rows(1500, DIM), make_rows(20, DIM, seed=2)
        index = polarquant.Index("Polar4", DIM)
        for at in range(0, 1500, 300):
            index.merge_from(added("Polar4", x[at : at + 300], 300, "ip"))
        expected = polarquant.Index("Polar4", DIM)
        expected.add(x[:1200])
        expected.add(x[1200:])
        for found, wanted in zip(index.search(queries, 5), expected.search(queries, 5)):
            np.testing.assert_array_equal(found, wanted)


if __name__ == "__main__":
    unittest.main()
