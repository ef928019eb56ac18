# SPDX-License-Identifier: MIT
import copy
import pickle
import unittest

import numpy as np
from support import make_rows, needs_indexes

import polarquant

N = 300


class FilterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.x = make_rows(N, 64)
        cls.codec = polarquant.Codec("Polar2", 64)
        cls.codes = cls.codec.encode(cls.x)
        cls.query = make_rows(1, 64, seed=2)[0]
        cls.scores = cls.codec.search(cls.query, cls.codes, N, exactness=np.inf)

    def found(self, filter):
        _, ids = self.codec.search(self.query, self.codes, N, filter=filter, exactness=np.inf)
        return ids[ids >= 0].tolist()

    def expected(self, kept):
        return [id for id in self.scores[1].tolist() if id in kept]

    def test_each_kind_keeps_its_ids(self):
        kept = set(range(0, N, 7))
        mask = np.isin(np.arange(N), sorted(kept))
        backwards = sorted(kept, reverse=True)
        for name, filter in [
            ("mask", mask),
            ("list of bools", mask.tolist()),
            ("packed mask", polarquant.Bitset(mask)),
            ("set of ids", polarquant.IdSet(kept)),
            ("set of ids in another order, twice", polarquant.IdSet(backwards + backwards)),
            ("ids", np.array(sorted(kept))),
            ("ids of another type", np.array(sorted(kept), np.uint16)),
            ("ids in another order, twice", np.array(backwards + backwards)),
            ("tuple", tuple(backwards)),
            ("set", kept),
            ("frozenset", frozenset(kept)),
            ("range with steps", range(0, N, 7)),
            ("function", lambda id: id % 7 == 0),
        ]:
            with self.subTest(name):
                self.assertEqual(self.found(filter), self.expected(kept))

    def test_ranges(self):
        for ids in [
            range(100),
            range(64, 65),
            range(250, 10**30),
            range(-5, 20),
            range(9, 3),
        ]:
            with self.subTest(str(ids)):
                self.assertEqual(self.found(ids), self.expected(ids))

    def test_short_masks_leave_out_what_is_behind(self):
        for bits in (0, 1, 63, 64, 65, 300, 400):
            with self.subTest(bits):
                mask = np.ones(bits, bool)
                self.assertEqual(self.found(mask), self.expected(range(bits)))
                self.assertEqual(len(polarquant.Bitset(mask)), bits)

    def test_none_left(self):
        for filter in [[], set(), np.zeros(N, bool), lambda id: False, [N + 5]]:
            self.assertEqual(self.found(filter), [])

    def test_what_a_function_raises_reaches_the_caller(self):
        def broken(id):
            raise ZeroDivisionError(f"at {id}")

        with self.assertRaisesRegex(ZeroDivisionError, "at"):
            self.found(broken)

    def test_what_is_no_filter_is_refused(self):
        for wrong, error in [
            ([0.5], TypeError),
            (np.ones((2, 2), bool), ValueError),
            (["a"], TypeError),
            (3, ValueError),
        ]:
            with self.subTest(str(wrong)), self.assertRaises(error):
                self.found(wrong)
        with self.assertRaises(ValueError):
            polarquant.Bitset([1, 0])
        for wrong, error in [([0.5], TypeError), ([[1, 2]], ValueError), (["a"], TypeError)]:
            with self.subTest(str(wrong)), self.assertRaisesRegex(error, "ids"):
                polarquant.IdSet(wrong)

    def test_exactness(self):
        for wrong in (-1, np.nan):
            with self.assertRaisesRegex(ValueError, "exactness"):
                self.codec.search(self.query, self.codes, 1, exactness=wrong)
        self.codec.search(self.query, self.codes, 1, exactness=0)


@needs_indexes
class FilterForManySearchesTest(unittest.TestCase):
    def test_it_keeps_the_same_after_changes(self):
        x = make_rows(2 * N, 64)
        mask = np.arange(4 * N) % 9 == 1
        ids = np.flatnonzero(mask)
        for spec in ("Polar4", "IVF4,Polar4", "IDMap2,Polar4"):
            index = polarquant.Index(spec, 64)
            if not index.is_trained:
                index.train(x)
            index.add_with_ids(x[:N], range(N))
            filters = [polarquant.Bitset(mask), polarquant.IdSet(ids)]
            filters += [copy.copy(filters[0]), pickle.loads(pickle.dumps(filters[1]))]

            def check_same():
                expected = index.search(x[:5], 10, filter=ids)[1]
                self.assertEqual(int(np.min(expected % 9)), 1)
                for filter in filters + [copy.deepcopy(filters[0])]:
                    for _ in range(2):  # found, and kept
                        found = index.search(x[:5], 10, filter=filter)[1]
                        self.assertEqual(found.tolist(), expected.tolist())

            with self.subTest(spec):
                check_same()
                index.add_with_ids(x[N:], range(N, 2 * N))
                check_same()
                index.remove_ids(ids[::3])
                check_same()
                index.remove_ids(filters[1])
                self.assertEqual(len(index), 2 * N - int(mask[: 2 * N].sum()))


@needs_indexes
class LastIdTest(unittest.TestCase):
    def test_every_filter_names_the_last_id_there_can_be(self):
        last = 2**63 - 1
        x = make_rows(3, 32)
        for spec in ("Polar4", "IDMap2,Polar4", "IDMap2,Flat", "IVF1,Polar4", "IVF1,Flat"):
            index = polarquant.Index(spec, 32)
            if not index.is_trained:
                index.train(make_rows(200, 32, seed=2))
            ids = [5, last - 1, last]
            index.add_with_ids(x, ids)
            for filter, kept in [
                ([last], {last}),
                ({last}, {last}),
                (range(last, last + 1), {last}),
                (range(last - 1, last + 1), {last - 1, last}),
                (range(last, last), set()),
                (range(5, last), {5, last - 1}),
                (range(last + 1, last + 5), set()),
                (range(0, 10**30), set(ids)),
                ([5, last], {5, last}),
                (lambda id: id == last, {last}),
                (range(5, last + 1, last - 5), {5, last}),
            ]:
                with self.subTest(spec=spec, filter=str(filter)):
                    found = index.search(x[2], 3, filter=filter)[1].tolist()
                    self.assertEqual({id for id in found if id >= 0}, kept)
            self.assertEqual(index.remove_ids(range(5, last)), 2)
            self.assertEqual(index.remove_ids(range(last, last + 1)), 1)
            index.add_with_ids(x, ids)
            self.assertEqual(index.remove_ids([last]), 1)
            self.assertEqual(index.search(x[2], 3)[1].tolist().count(-1), 1)


if __name__ == "__main__":
    unittest.main()
