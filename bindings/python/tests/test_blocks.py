# SPDX-License-Identifier: MIT
import pickle
import unittest

import numpy as np
from support import make_rows

import polarquant
from polarquant.partials import merge_partials


class CodeBlocksTest(unittest.TestCase):
    def setUp(self):
        self.codec = polarquant.Codec("Polar2", 48)
        self.codes = self.codec.encode(make_rows(500, 48))

    def test_codes_come_out_as_they_went_in(self):
        blocks = polarquant.CodeBlocks(self.codec)
        self.assertEqual(blocks.get().shape, (0, self.codec.code_size))
        for first, end in [(0, 1), (1, 70), (70, 70), (70, 500)]:
            blocks.append(self.codes[first:end])
            np.testing.assert_array_equal(blocks.get(), self.codes[:end])
        np.testing.assert_array_equal(blocks.get(63, 3), self.codes[63:66])
        self.assertEqual(len(blocks), 500)
        self.assertGreaterEqual(blocks.nbytes, self.codes.nbytes)
        self.assertLess(blocks.nbytes, 1.5 * self.codes.nbytes)

    def test_rows_are_removed_and_replaced(self):
        codes = self.codes
        blocks = polarquant.CodeBlocks(self.codec, codes[:100])
        self.assertEqual(blocks.remove(np.arange(100) % 3 == 0), 66)
        kept = codes[:100][np.arange(100) % 3 != 0]
        np.testing.assert_array_equal(blocks.get(), kept)
        blocks.swap_remove(2)
        kept[2] = kept[-1]
        np.testing.assert_array_equal(blocks.get(), kept[:-1])
        blocks.overwrite(4, codes[400])
        np.testing.assert_array_equal(blocks.get(4, 1)[0], codes[400])
        for row in (-1, 65):
            with self.assertRaises(polarquant.NotFoundError):
                blocks.swap_remove(row)
        with self.assertRaisesRegex(ValueError, r"\(65,\)"):
            blocks.remove(np.zeros(64, bool))

    def test_search_is_the_codec_s(self):
        blocks = polarquant.CodeBlocks(self.codec, self.codes)
        q = make_rows(7, 48, seed=2)
        for options in [
            {},
            {"filter": range(30, 90)},
            {"exactness": 0.5, "num_threads": 1},
        ]:
            expected = self.codec.search(q, self.codes, 5, **options)
            for found, wanted in zip(blocks.search(q, 5, **options), expected):
                np.testing.assert_array_equal(found, wanted)

    def test_range_searches_are_those_of_the_codes_and_of_an_exhaustive_search(self):
        blocks = polarquant.CodeBlocks(self.codec, self.codes)
        q = make_rows(7, 48, seed=2)
        scores, ids = self.codec.search(q, self.codes, 500, exactness=np.inf)
        radius = float(scores[0, 20])
        options = {"exactness": np.inf, "filter": range(30, 400), "num_threads": 2}
        lims, found_scores, found = self.codec.range_search(q, self.codes, radius, **options)
        self.assertEqual(lims.shape, (8,))
        for i in range(7):
            wanted = (scores[i] > radius) & (ids[i] >= 30) & (ids[i] < 400)
            np.testing.assert_array_equal(found[lims[i] : lims[i + 1]], ids[i, wanted])
            np.testing.assert_array_equal(found_scores[lims[i] : lims[i + 1]], scores[i, wanted])
        self.assertGreater(len(found), 10)
        block_ranges = blocks.range_search(q, radius, **options)
        for code_range, block_range in zip((lims, found_scores, found), block_ranges):
            np.testing.assert_array_equal(code_range, block_range)
        heard = []
        blocks.range_search(q, radius, progress=heard.append)
        self.assertEqual(heard[-1], 1)
        with self.assertRaisesRegex(ValueError, "radius"):
            blocks.range_search(q, np.nan)

    def test_parts_searched_apart_answer_as_one(self):
        blocks = polarquant.CodeBlocks(self.codec, self.codes)
        rows = len(self.codes)
        begins, ends = [0, 0, 100, rows // 2], [0, 100, rows // 2, rows]
        parts = [
            polarquant.CodeBlocks(self.codec, self.codes[begin:end])
            for begin, end in zip(begins, ends)
        ]
        mask = np.zeros(rows, dtype=bool)
        mask[::3] = True
        some = make_rows(7, 48, seed=9)
        for filter in (None, mask, polarquant.Bitset(mask), range(90, 210)):
            options = {"filter": filter, "exactness": np.inf}
            partials = [
                part.search_partial(some, 9, first_row=begin, **options)
                for part, begin in zip(parts, begins)
            ]
            found = merge_partials(partials, len(some), 9)
            for one, other in zip(found, blocks.search(some, 9, **options)):
                np.testing.assert_array_equal(one, other)
        with self.assertRaisesRegex(ValueError, "first_row: -1"):
            parts[1].search_partial(some, 9, first_row=-1)

    def test_pickled_blocks_have_the_codes(self):
        blocks = polarquant.CodeBlocks(self.codec, self.codes)
        again = pickle.loads(pickle.dumps(blocks))
        again.codec.check_same_state(self.codec)
        np.testing.assert_array_equal(again.get(), self.codes)

    def test_codecs_without_blocks_say_so(self):
        with self.assertRaises(polarquant.UnsupportedError):
            polarquant.CodeBlocks(polarquant.Codec("PolarPair4x4g128", 48))


if __name__ == "__main__":
    unittest.main()
