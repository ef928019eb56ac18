# SPDX-License-Identifier: MIT
"""What is taken as rows, ids and codes, and what is copied."""

import tracemalloc
import unittest

import numpy as np
from support import make_rows, needs_indexes

import polarquant
from polarquant import _arrays


class RowsTest(unittest.TestCase):
    def test_contiguous_float32_is_not_copied(self):
        x = make_rows(5, 8)
        x.flags.writeable = False
        self.assertIs(_arrays.as_rows("x", x, 8), x)
        part = x[1:4]
        self.assertIs(_arrays.as_rows("x", part, 8), part)

    @needs_indexes
    def test_calls_read_contiguous_float32_where_it_lies(self):
        x = make_rows(2000, 384)
        index = polarquant.Index("Polar1", 384)
        calls = {
            "train": lambda: index.train(x),
            "add": lambda: index.add(x),
            "search": lambda: index.search(x, 1, filter=range(10)),
            "range_search": lambda: index.range_search(x, 1e9),
        }
        for name, call in calls.items():
            tracemalloc.start()  # NumPy tells it of its arrays
            call()
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            with self.subTest(name):
                self.assertLess(peak, x.nbytes / 10)

    def test_other_types_and_strides_give_the_same_codes(self):
        # Numbers that float16 has exactly.
        x = np.round(make_rows(20, 24) * 8) / 8
        codec = polarquant.Codec("Polar4", 24)
        codes = codec.encode(x)
        strided = np.zeros((20, 48), np.float32)
        strided[:, ::2] = x
        unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32)
        for name, other in [
            ("float16", x.astype(np.float16)),
            ("float64", x.astype(np.float64)),
            ("big endian", x.astype(">f4")),
            ("columns of a wider array", strided[:, ::2]),
            ("rows backwards", x[::-1].copy()[::-1]),
            ("Fortran order", np.asfortranarray(x)),
            ("unaligned", unaligned.reshape(20, 24)),
            ("lists", x.tolist()),
        ]:
            with self.subTest(name):
                np.testing.assert_array_equal(codec.encode(other), codes)

    def test_integers_are_numbers(self):
        x = np.arange(48, dtype=np.int8).reshape(2, 24)
        codec = polarquant.Codec("Polar4", 24, norm_unit=64)
        np.testing.assert_array_equal(codec.encode(x), codec.encode(x.astype(np.float32)))

    def test_what_is_not_rows_is_refused(self):
        codec = polarquant.Codec("Polar4", 8)
        for wrong in [np.zeros(8), np.zeros((2, 9)), np.zeros((2, 2, 8)), 3.0]:
            with (
                self.subTest(str(np.shape(wrong))),
                self.assertRaisesRegex(polarquant.BadArgumentError, r"x: shape .* \(n, 8\)"),
            ):
                codec.encode(wrong)
        for wrong in [np.zeros((2, 8), complex), [["a"] * 8], None]:
            with self.subTest(str(wrong)), self.assertRaisesRegex(TypeError, "x: dtype"):
                codec.encode(wrong)

    def test_what_is_not_finite_is_refused_by_row(self):
        codec = polarquant.Codec("Polar4", 8)
        for wrong in [np.nan, np.inf, 1e300]:
            x = np.ones((3, 8))
            x[1, 5] = wrong
            with self.assertRaisesRegex(polarquant.BadArgumentError, "1"):
                codec.encode(x)


class NumbersTest(unittest.TestCase):
    def test_integers_beyond_c_s_are_refused_and_not_cut(self):
        for dim in (0, -1, 65536, 2**32 + 8, 2**70):
            with self.subTest(dim), self.assertRaisesRegex(ValueError, "dim"):
                polarquant.Codec("Polar2", dim)
        for seed in (-1, 2**64):
            with self.subTest(seed), self.assertRaisesRegex(ValueError, "seed"):
                polarquant.Codec("Polar2", 8, seed=seed)
        codec = polarquant.Codec("Polar2", 8)
        codes = codec.encode(make_rows(3, 8))
        for k in (0, -3, 2**64 + 1):
            with self.subTest(k), self.assertRaisesRegex(ValueError, "k: "):
                codec.search(make_rows(1, 8), codes, k)
        with self.assertRaisesRegex(TypeError, "k: 1.5"):
            codec.search(make_rows(1, 8), codes, 1.5)

    def test_names_end_where_they_end(self):
        with self.assertRaisesRegex(ValueError, "zero byte"):
            polarquant.Codec("Polar2\0-dense", 8)
        with self.assertRaisesRegex(TypeError, "spec"):
            polarquant.Codec(b"Polar2", 8)

    def test_metrics(self):
        for given, expected in [
            ("ip", 0),
            ("L2", 1),
            ("cosine", 2),
            (1, 1),
            ("inner_product", 0),
        ]:
            self.assertEqual(polarquant.Codec("Polar2", 8, given).metric, expected)
        for wrong in ("dot", 3, -1):
            with self.assertRaisesRegex(ValueError, "metric"):
                polarquant.Codec("Polar2", 8, wrong)


class IdsTest(unittest.TestCase):
    def test_ids_of_other_types(self):
        for given in [
            [1, 2],
            np.array([1, 2], np.uint8),
            np.array([1, 0, 2, 0])[::2],
            [],
        ]:
            taken = _arrays.as_ids("ids", given)
            self.assertEqual(taken.dtype, np.int64)
            self.assertTrue(taken.flags.c_contiguous)
            self.assertEqual(taken.tolist(), list(given))

    def test_what_is_no_id_is_refused(self):
        with self.assertRaises(TypeError):
            _arrays.as_ids("ids", [1.5])
        with self.assertRaises(ValueError):
            _arrays.as_ids("ids", [[1]])
        with self.assertRaises(ValueError):
            _arrays.as_ids("ids", np.array([2**63], np.uint64))


class CodesTest(unittest.TestCase):
    def test_bytes_and_views_are_codes(self):
        x = make_rows(6, 16)
        codec = polarquant.Codec("Polar2", 16)
        codes = codec.encode(x)
        decoded = codec.decode(codes)
        for given in [
            codes.tobytes(),
            bytearray(codes),
            memoryview(codes.tobytes()),
            codes.ravel(),
        ]:
            np.testing.assert_array_equal(codec.decode(given), decoded)
        np.testing.assert_array_equal(codec.decode(codes[::2]), decoded[::2])
        self.assertEqual(codec.decode(b"").shape, (0, 16))

    def test_what_is_not_codes_is_refused(self):
        codec = polarquant.Codec("Polar2", 16)
        codes = codec.encode(make_rows(6, 16))
        with self.assertRaisesRegex(ValueError, "codes: shape"):
            codec.decode(codes.ravel()[:-1])
        with self.assertRaisesRegex(ValueError, "codes: shape"):
            codec.decode(codes.reshape(3, -1))
        with self.assertRaisesRegex(TypeError, "codes: dtype"):
            codec.decode(codes.astype(np.int8))
        with self.assertRaisesRegex(ValueError, "codes: "):
            codec.decode(codes, n=5)


if __name__ == "__main__":
    unittest.main()
