# SPDX-License-Identifier: MIT
import threading
import unittest

import numpy as np
from support import exact_ids, make_rows, needs_indexes

import polarquant


@needs_indexes
class IndexTest(unittest.TestCase):
    def test_finds_the_nearest(self):
        x, q = make_rows(2000, 64), make_rows(50, 64, seed=2)
        index = polarquant.Index("Polar4", 64)
        self.assertEqual((index.ntotal, len(index), bool(index)), (0, 0, True))
        index.train(x)
        index.add(x[:1500])
        index.add(x[1500:])
        self.assertEqual((index.ntotal, index.is_trained), (2000, True))
        self.assertEqual(
            repr(index), "Index('Polar4', dim=64, metric='inner_product', ntotal=2000)"
        )
        scores, ids = index.search(q, 10)
        self.assertEqual((scores.shape, scores.dtype), ((50, 10), np.float32))
        self.assertEqual((ids.shape, ids.dtype), ((50, 10), np.int64))
        self.assertTrue(np.all(scores[:, :-1] >= scores[:, 1:]))
        expected = exact_ids(x, q, 10)
        found = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(ids, expected)])
        self.assertGreater(found, 0.85)
        one_scores, one_ids = index.search(q[3], 10)
        np.testing.assert_array_equal(one_ids, ids[3])
        np.testing.assert_array_equal(one_scores, scores[3])

    def test_explains_a_search(self):
        index = polarquant.Index("Polar4", 64)
        x = make_rows(2000, 64)
        index.train(x)
        self.assertIn("scan: none", index.explain())
        index.add(x)
        one = index.explain(num_threads=1)
        self.assertTrue(one.startswith("scan: staged"), one)
        self.assertIn("rows: 2000\n", one)
        self.assertIn("of the 11 best", one)
        self.assertNotIn("filter", one)
        self.assertIn("of the 106 best", index.explain(k=99))
        self.assertNotIn("scan: staged", index.explain(1000))
        every = index.explain(exactness=float("inf"), filter=range(10))
        self.assertIn("scan: exhaustive", every)
        self.assertIn("filter: ", every)
        with self.assertRaises(polarquant.UnsupportedError):
            index.explain(nprobe=2)
        for wrong in [{"nq": 0}, {"k": 0}, {"nq": 2**40 + 1}]:
            with self.assertRaises(polarquant.BadArgumentError):
                index.explain(**wrong)

    def test_pads_where_there_are_fewer_rows(self):
        for metric, worst in [("ip", -np.inf), ("cosine", -np.inf), ("l2", np.inf)]:
            index = polarquant.Index("Polar2", 16, metric)
            index.add(make_rows(2, 16))
            scores, ids = index.search(make_rows(3, 16), 4)
            self.assertTrue(np.all(ids[:, 2:] == -1))
            self.assertTrue(np.all(scores[:, 2:] == worst))
        self.assertEqual(index.search(np.zeros((0, 16)), 4)[1].shape, (0, 4))

    def test_ids_of_the_caller_s(self):
        x = make_rows(20, 32)
        index = polarquant.Index("Polar8", 32, "cosine")
        index.add_with_ids(x, np.arange(20) * 10 + 5)
        self.assertEqual(index.search(x, 1)[1][:, 0].tolist(), list(range(5, 205, 10)))
        with self.assertRaisesRegex(polarquant.BadArgumentError, "ids.* 15[, ]"):
            index.add_with_ids(x[:1], [15])
        with self.assertRaisesRegex(polarquant.BadArgumentError, r"ids: shape \(2,\)"):
            index.add_with_ids(x[:1], [1, 2])
        with self.assertRaises(polarquant.BadArgumentError):
            index.add(x)
        self.assertEqual(index.ntotal, 20)

    def test_reconstructs_rows(self):
        x = make_rows(20, 32)
        index = polarquant.Index("Polar8", 32)
        index.add(x)
        np.testing.assert_allclose(index.reconstruct(3), x[3], atol=0.05)
        both = index.reconstruct_batch([3, 7])
        np.testing.assert_array_equal(both[0], index.reconstruct(3))
        self.assertEqual(both.shape, (2, 32))
        with self.assertRaisesRegex(polarquant.NotFoundError, "^id: 20 "):
            index.reconstruct(20)
        with self.assertRaises(KeyError):
            index.reconstruct_batch([1, -1])

    def test_faiss_strings(self):
        x = make_rows(400, 32)
        for description in ("Flat", "PCA16,Polar4", "Polar2,RFlat", "HNSW8,Flat"):
            with self.subTest(description):
                index = polarquant.Index(description, 32, "l2")
                index.train(x)
                index.add(x)
                self.assertEqual(index.search(x[:5], 1)[1][:, 0].tolist(), [0, 1, 2, 3, 4])
        self.assertEqual(polarquant.Index("Flat", 32).code_size, 128)
        with self.assertRaisesRegex(ValueError, "Nothing9"):
            polarquant.Index("Nothing9", 32)

    def test_refinements_change_and_search_within_a_radius(self):
        x = make_rows(400, 32)
        other = make_rows(3, 32, seed=9)
        for description in ("IDMap2,Polar2,RFlat", "IDMap2,IVF4,Polar2,RFlat"):
            with self.subTest(description):
                index = polarquant.Index(description, 32, "l2")
                index.train(x)
                index.add_with_ids(x, np.arange(400) + 1000)
                if "IVF" in description:
                    index.nprobe = 4
                self.assertEqual(index.remove_ids([1000, 1001]), 2)
                index.update([1005, 1006, 1399], other)
                self.assertEqual(index.search(other, 1)[1][:, 0].tolist(), [1005, 1006, 1399])
                kept = {1000 + i: row for i, row in enumerate(x) if i > 1}
                kept.update(zip([1005, 1006, 1399], other))
                distance = {i: float(((row - x[7]) ** 2).sum()) for i, row in kept.items()}
                radius = sorted(distance.values())[50]
                lims, scores, ids = index.range_search(x[7], radius, exactness=float("inf"))
                self.assertEqual(lims.tolist(), [0, len(ids)])
                self.assertLess(scores.max(), radius)
                self.assertLessEqual(abs(len(ids) - 50), 1)
                self.assertTrue(all(distance[i] < radius * 1.0001 for i in ids.tolist()))
                allowed = [1007, 1008]
                _, _, ids = index.range_search(x[7], np.inf, filter=allowed)
                self.assertEqual(ids.tolist(), sorted(allowed, key=lambda i: distance[i]))

    def test_rows_go_from_nsg_which_is_compacted(self):
        x = make_rows(600, 32)
        index = polarquant.Index("IDMap2,NSG16,Polar8", 32, "l2")
        index.train(x)
        index.add_with_ids(x, np.arange(600) + 1000)
        self.assertEqual(index.remove_ids(range(1000, 1200)), 200)
        index.update([1300], -x[300:301])
        heard = []
        for compacted in (False, True):
            found = index.search(x[200:], 1, ef_search=400)[1][:, 0]
            self.assertGreater((found == np.arange(1200, 1600)).mean(), 0.98)
            self.assertNotEqual(index.search(x[300], 1, ef_search=400)[1][0], 1300)
            self.assertEqual(index.search(-x[300], 1, ef_search=400)[1][0], 1300)
            if not compacted:
                index.compact(num_threads=1, progress=lambda done: heard.append(done) or True)
        self.assertEqual(heard[-1], 1.0)
        polarquant.Index("Polar4", 32).compact()

    def test_untrained_and_full_indexes_say_so(self):
        index = polarquant.Index("PQ4x4np", 32, "l2")
        self.assertFalse(index.is_trained)
        with self.assertRaises(polarquant.NotTrainedError):
            index.add(make_rows(1, 32))
        index = polarquant.Index("Polar2", 32)
        index.add(make_rows(1000, 32))  # fewer are floats, which training codes
        with self.assertRaises(polarquant.StateMismatchError):
            index.train(make_rows(1, 32))

    def test_a_refused_row_leaves_the_index_as_it_was(self):
        x = make_rows(10, 32)
        index = polarquant.Index("Polar2", 32)
        index.add(x)
        x[4, 4] = np.nan
        with self.assertRaisesRegex(ValueError, "row 4|4"):
            index.add(x)
        self.assertEqual(index.ntotal, 10)

    def test_calls_take_a_number_of_threads(self):
        x = make_rows(1500, 32)
        one, many = (polarquant.Index("IVF4,Polar4", 32) for _ in range(2))
        for index, threads in ((one, 1), (many, 3)):
            index.train(x, num_threads=threads)
            index.add_with_ids(x, np.arange(1500), num_threads=threads)
        np.testing.assert_array_equal(one.search(x[:9], 5)[1], many.search(x[:9], 5)[1])
        for call in (one.train, one.add, lambda x, **options: one.update([0], x[:1], **options)):
            with self.assertRaisesRegex(ValueError, "num_threads: -1"):
                call(x, num_threads=-1)
        with self.assertRaisesRegex(ValueError, "num_threads: 1025"):
            one.merge_from(many, num_threads=1025)

    def test_rows_within_a_radius(self):
        x = make_rows(300, 64)
        index = polarquant.Index("Polar4", 64, "l2")
        index.add(x)
        scores, ids = index.search(x[:3], 20)
        lims, found_scores, found = index.range_search(x[:3], float(scores[0, 7]), exactness=np.inf)
        self.assertEqual(lims.shape, (4,))
        self.assertEqual(found.tolist()[: lims[1]], ids[0, :7].tolist())
        np.testing.assert_array_equal(found_scores[: lims[1]], scores[0, :7])
        lims, _, found = index.range_search(x[:1], 1e30, filter=range(10, 20))
        self.assertEqual(sorted(found.tolist()), list(range(10, 20)))
        lims, _, found = index.range_search(x[:2], -1e30)
        self.assertEqual((lims.tolist(), len(found)), ([0, 0, 0], 0))
        ranges = index.range_search(x[1], float(scores[0, 7]))
        for one, same in zip(ranges, index.range_search(x[1:2], float(scores[0, 7]))):
            np.testing.assert_array_equal(one, same)
        graph = polarquant.Index("HNSW8,Polar4", 64, "l2")
        graph.add(x)
        lims, _, found = graph.range_search(x[:1], 1.0, ef_search=20)
        self.assertEqual((lims.tolist(), found.tolist()), ([0, 1], [0]))
        with self.assertRaises(polarquant.UnsupportedError):
            theirs = polarquant.Index("PQ4x4fs", 64, "l2")
            theirs.train(x)
            theirs.add(x)
            theirs.range_search(x[:1], 1.0)

    def test_refinements_score_more_rows_again(self):
        x = make_rows(2000, 64)
        queries = make_rows(50, 64, seed=2)
        index = polarquant.Index("Polar1,RFlat", 64)
        index.add(x)
        exact = exact_ids(x, queries, 10)
        plain = index.search(queries, 10)[1]
        np.testing.assert_array_equal(index.search(queries, 10, k_factor=1)[1], plain)
        self.assertGreater(np.sum(plain != exact), 20)
        # Every row: the exact answer, from the floats.
        for k_factor in (200, 1e9, np.inf):
            np.testing.assert_array_equal(index.search(queries, 10, k_factor=k_factor)[1], exact)
        some = index.search(queries, 5, k_factor=8.5, filter=range(100, 200))[1]
        self.assertTrue(np.all((some >= 100) & (some < 200)))
        for wrong in (0.5, -1, np.nan):
            with self.assertRaisesRegex(polarquant.BadArgumentError, "k_factor"):
                index.search(queries, 10, k_factor=wrong)
        with self.assertRaises((TypeError, ValueError)):
            index.search(queries, 10, k_factor="many")
        plain = polarquant.Index("Polar1", 64)
        plain.add(x)
        with self.assertRaisesRegex(polarquant.UnsupportedError, "k_factor: 4"):
            plain.search(queries, 10, k_factor=4)

    def test_inverted_files_and_graphs(self):
        x = make_rows(2000, 64)
        index = polarquant.Index("IVF16,Polar4", 64)
        with self.assertRaises(polarquant.NotTrainedError):
            index.add(x)
        index.train(x)
        index.add(x)
        few = index.search(x[:50], 10)[1]
        most = index.search(x[:50], 10, nprobe=16)[1]
        exact = exact_ids(x, x[:50], 10)
        shares = [
            np.mean([len(set(a) & set(b)) / 10 for a, b in zip(ids, exact)]) for ids in (few, most)
        ]
        self.assertLess(shares[0], shares[1])
        self.assertGreater(shares[1], 0.8)
        graph = polarquant.Index("HNSW16,Polar4", 64, "l2")
        graph.add(x)
        found = graph.search(x[:50], 1, ef_search=200)[1]
        self.assertGreater(np.mean(found[:, 0] == np.arange(50)), 0.9)
        with self.assertRaises(polarquant.UnsupportedError):
            graph.search(x[:1], 1, nprobe=3)
        with self.assertRaises(polarquant.UnsupportedError):
            index.search(x[:1], 1, ef_search=3)
        with self.assertRaises(polarquant.BadArgumentError):
            index.search(x[:1], 1, nprobe=-1)

    def test_options_are_those_of_the_call(self):
        x = make_rows(2000, 64)
        index = polarquant.Index("IVF16,Polar4", 64)
        index.train(x)
        index.add(x)
        few = index.search(x[:50], 10, nprobe=1)[1]
        for _ in range(2):
            most = index.search(x[:50], 10, nprobe=np.int64(16), num_threads=1)[1]
            every = index.search(x[:50], 10, nprobe=16, exactness=float("inf"))[1]
            self.assertFalse(np.array_equal(few, most))
            self.assertGreater(np.mean(most == every), 0.95)
            np.testing.assert_array_equal(index.search(x[:50], 10, nprobe=1)[1], few)
            chosen = index.search(x[:50], 10, nprobe=16, filter=range(0, 100))[1]
            self.assertLess(chosen.max(), 100)
        for wrong in (16.0, "16", [16], None):
            with self.assertRaisesRegex(TypeError, "nprobe: .*16|None.* is not an integer"):
                index.search(x[:1], 1, nprobe=wrong)
        with self.assertRaisesRegex(polarquant.BadArgumentError, "exactness: nan"):
            index.search(x[:1], 1, exactness=float("nan"))

    def test_rows_go_and_change(self):
        x = make_rows(200, 64)
        index = polarquant.Index("Polar4", 64, "l2")
        index.add_with_ids(x, np.arange(1000, 1200))
        self.assertEqual(index.remove_ids([1003, 1007, 5]), 2)
        self.assertEqual(index.ntotal, 198)
        self.assertNotIn(1003, index.search(x[3], 198)[1])
        index.update([1000, 1001], x[[3, 7]])
        self.assertEqual(index.search(x[3], 1)[1].tolist(), [1000])
        with self.assertRaises(polarquant.NotFoundError):
            index.update([1003], x[:1])
        with self.assertRaisesRegex(ValueError, "shape"):
            index.update([1000], x[:2])
        index.upsert([1000, 7], x[[5, 8]])
        self.assertEqual(index.ntotal, 199)
        self.assertIn(7, index.search(x[8], 2)[1])
        self.assertIn(1000, index.search(x[5], 2)[1])
        with self.assertRaisesRegex(polarquant.BadArgumentError, "ids: -1 at 0"):
            index.upsert([-1], x[:1])

    def test_rows_of_lists_change(self):
        x = make_rows(400, 64)
        index = polarquant.Index("IVF4,Polar4", 64, "ip")
        index.train(x)
        index.upsert(np.arange(400), x)
        index.update([3], x[[9]])
        index.upsert([3, 1000], x[[5, 9]])
        self.assertEqual(index.ntotal, 401)
        self.assertIn(1000, index.search(x[9], 3, nprobe=4)[1])

    def test_rows_go_by_every_kind_of_filter_but_functions(self):
        x = make_rows(200, 64)
        mask = np.zeros(200, dtype=bool)
        mask[5:8] = True
        for what in (range(5, 8), [7, 5, 6, 5], mask, polarquant.Bitset(mask), {5, 6, 7}):
            for description in ("Polar4", "IVF4,Polar4"):
                index = polarquant.Index(description, 64, "l2")
                index.train(x)
                index.add_with_ids(x, np.arange(200))
                with self.subTest(what=what, description=description):
                    self.assertEqual(index.remove_ids(what), 3)
                    self.assertEqual(index.ntotal, 197)
                    self.assertEqual(index.search(x[8], 1)[1].tolist(), [8])
        self.assertEqual(index.remove_ids([]), 0)
        for what, error in (([[1]], ValueError), ([1.5], TypeError), (["a"], TypeError)):
            with self.assertRaisesRegex(error, "^ids: "):
                index.remove_ids(what)
        for what in (None, lambda id: True):
            with self.assertRaisesRegex(TypeError, "ids"):
                index.remove_ids(what)
        self.assertEqual(index.ntotal, 197)

    def test_rows_of_another_index_are_taken_over(self):
        x = make_rows(600, 64)
        for description in ("Polar4", "IVF4,Polar4", "IVF4,Flat"):
            shards = [polarquant.Index(description, 64, "l2")]
            shards[0].train(x)
            shards.append(shards[0].clone())
            for shard, part in zip(shards, (x[:300], x[300:])):
                shard.add(part)
            whole = shards[0].clone()
            whole.add(x[300:])
            with self.subTest(description):
                shards[0].merge_from(shards[1])
                self.assertEqual((shards[0].ntotal, shards[1].ntotal), (600, 0))
                np.testing.assert_array_equal(shards[0].search(x, 3)[1], whole.search(x, 3)[1])

    def test_what_cannot_be_merged_is_refused(self):
        x = make_rows(100, 64)
        index, other = polarquant.Index("Polar4", 64), polarquant.Index("Polar4", 64)
        index.train(x)
        index.add(x)
        other.train(2 * x)
        other.add(2 * x)
        with self.assertRaises(polarquant.StateMismatchError):
            index.merge_from(other)
        with self.assertRaisesRegex(polarquant.BadArgumentError, "itself"):
            index.merge_from(index)
        with self.assertRaisesRegex(TypeError, "other"):
            index.merge_from(x)
        self.assertEqual((index.ntotal, other.ntotal), (100, 100))
        same = index.clone()
        same.close()
        with self.assertRaisesRegex(ValueError, "Index: is closed"):
            index.merge_from(same)

    def test_merges_of_two_indexes_into_each_other_end(self):
        x = make_rows(50, 64)
        both = [polarquant.Index("Polar4", 64)]
        both[0].train(x)
        both.append(both[0].clone())
        for index in both:
            index.add(x)

        def merge(into, other):
            for _ in range(200):
                into.merge_from(other)

        threads = [threading.Thread(target=merge, args=pair) for pair in (both, both[::-1])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            self.assertFalse(thread.is_alive())
        self.assertEqual(sorted(index.ntotal for index in both), [0, 100])

    def test_a_closed_index_says_so(self):
        with polarquant.Index("Polar2", 32) as index:
            self.assertFalse(index.closed)
        self.assertTrue(index.closed)
        with self.assertRaisesRegex(ValueError, "Index: is closed"):
            index.search(make_rows(1, 32), 1)
        self.assertEqual(repr(index), "Index(closed)")


if __name__ == "__main__":
    unittest.main()
