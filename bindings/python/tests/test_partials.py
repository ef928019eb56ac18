# SPDX-License-Identifier: MIT
"""Parts of an index that are searched apart answer, together, as one index."""

import pathlib
import tempfile
import unittest
import unittest.mock

import numpy as np
from support import make_rows, needs_indexes

import polarquant
from polarquant import partials

DIM = 32
N = 3000


@needs_indexes
class PartialsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Each row is there twice, for ties.
        self.x = np.concatenate([make_rows(N // 2, DIM)] * 2)
        self.queries = make_rows(9, DIM, seed=5)

    def built(self, description, metric, ids):
        """An index and its parts, of one, two and one shards, one of them empty."""
        index = polarquant.Index(description, DIM, metric)
        index.train(self.x[:2000])
        state = polarquant.shards.write_state(index, self.folder / "state.polar")
        made = []
        for number, rows in enumerate(np.split(np.arange(N), [700, 1900, 1900])):
            batch = self.x[rows] if ids is None else (self.x[rows], ids[rows])
            path = self.folder / f"{number}.polar"
            made.append(polarquant.shards.build_shard([batch], state, path))
        manifest = self.folder / "manifest.json"
        polarquant.shards.write_manifest(manifest, state, made)
        parts = []
        for numbers in ((0,), (1, 2), (3,)):
            shards = polarquant.ShardedIndex.open(manifest, shards=numbers)
            first_row = sum(part.index.ntotal for part in parts)
            parts.append(partials.Part(shards, first_row, ids is None))
        if ids is None:
            index.add(self.x)
        else:
            index.add_with_ids(self.x, ids)
        return index, parts

    def check_equal(self, found, expected):
        for one, other in zip(found, expected):
            np.testing.assert_array_equal(one, other)

    def filters(self, ids):
        named = np.arange(N) if ids is None else ids
        mask = np.zeros(named.max() + 1, dtype=bool)
        mask[named[::3]] = True
        some = named[5::7]
        yield from (None, mask, mask.tolist(), some, set(some.tolist()), range(600, 2500))
        yield from (polarquant.Bitset(mask), polarquant.IdSet(some), lambda id: id % 4 == 1)

    def test_answers_are_those_of_one_index(self):
        own_ids = np.random.default_rng(3).permutation(4 * N)[:N]
        for description, metric in (("Polar4", "ip"), ("IVF16,Polar2", "l2"), ("Polar2", "cosine")):
            for ids in (None, own_ids):
                with self.subTest(description, ids=ids is not None):
                    index, parts = self.built(description, metric, ids)
                    self.check_answers(index, parts, ids, description, metric)

    def check_answers(self, index, parts, ids, description, metric):
        is_ivf = description.startswith("IVF")
        options = {"nprobe": 5} if is_ivf else {}
        radius = float(np.median(index.search(self.queries, 40)[0]))
        for keep in self.filters(ids):
            if keep is None or not is_ivf:
                for k in (1, 10, 4000):
                    found = [
                        part.search_partial(self.queries, k, filter=keep, **options)
                        for part in parts
                    ]
                    merged = partials.merge_partials(found, len(self.queries), k)
                    self.check_equal(merged, index.search(self.queries, k, filter=keep, **options))
            found = [
                part.range_search(self.queries, radius, filter=keep, **options) for part in parts
            ]
            merged = partials.merge_ranges(found, metric != "l2", is_ivf)
            expected = index.range_search(self.queries, radius, filter=keep, **options)
            self.check_equal(merged, expected)

    def test_filters_of_inverted_files_have_the_best_of_each_part(self):
        index, parts = self.built("IVF16,Polar4", "l2", None)
        keep = np.arange(0, N, 2)
        # All lists, every row: parts keep more rows to choose from than one index does.
        options = {"nprobe": 16, "exactness": np.inf}
        found = [part.search(self.queries, 20, filter=keep, **options) for part in parts]
        merged = partials.merge_best(found, 20, False)
        expected = index.search(self.queries, 20, filter=keep, **options)
        self.assertTrue(np.all(merged[0] <= expected[0]))
        np.testing.assert_array_equal(merged[0][:, :10], expected[0][:, :10])
        few = [part.search(self.queries, 20, filter=keep[:3], **options) for part in parts]
        scores, ids = partials.merge_best(few, 20, False)
        self.assertTrue(np.all(ids[:, 3:] == -1) and np.all(np.isposinf(scores[:, 3:])))
        self.assertEqual(set(ids[:, :3].ravel()), set(keep[:3]))

    def test_rows_that_are_added_between_asking_for_memory_and_the_search(self):
        index = polarquant.Index("Polar2", DIM, "l2")
        index.add(self.x[:1500])
        part = partials.Part(index, 0)
        ask, grown = polarquant._library.lib.polar_index_partial_bytes, []

        def ask_and_add(*arguments):
            status = ask(*arguments)
            if not grown:
                grown.append(index.add(self.x[1500:]))
            return status

        k = 2000  # of which there were fewer
        with unittest.mock.patch.object(
            polarquant._library.lib, "polar_index_partial_bytes", ask_and_add
        ):
            found = part.search_partial(self.queries, k)
        self.assertEqual(len(grown), 1)
        self.check_equal(
            partials.merge_partials([found], len(self.queries), k), index.search(self.queries, k)
        )

    def test_what_it_refuses(self):
        index, parts = self.built("IVF16,Polar4", "l2", None)
        with self.assertRaisesRegex(polarquant.UnsupportedError, "options.filter"):
            parts[0].search_partial(self.queries, 3, filter=[1, 2])
        with self.assertRaisesRegex(polarquant.BadArgumentError, "k"):
            parts[0].search_partial(self.queries, 0)
        with self.assertRaisesRegex(polarquant.BadArgumentError, "first_row"):
            partials.Part(index, -1)
        good = parts[0].search_partial(self.queries, 3)
        with self.assertRaisesRegex(polarquant.CorruptDataError, r"partials\[1\]"):
            partials.merge_partials([good, good[:-1]], len(self.queries), 3)
        with self.assertRaisesRegex(polarquant.BadArgumentError, r"partials\[0\]: for 9 queries"):
            partials.merge_partials([good], 8, 3)
        with self.assertRaises(polarquant.BadArgumentError):
            partials.merge_partials([], 8, 3)


if __name__ == "__main__":
    unittest.main()
