# SPDX-License-Identifier: MIT
import copy
import pickle
import unittest

import numpy as np
from support import make_rows

import polarquant
from polarquant import codec as codec_module


class CodecTest(unittest.TestCase):
    def test_tells_what_it_is(self):
        codec = polarquant.Codec("Polar2", 64, "cosine", seed=7)
        self.assertEqual((codec.spec, codec.dim, codec.metric.name), ("Polar2", 64, "COSINE"))
        self.assertEqual(codec.info.seed, 7)
        self.assertEqual(codec.code_size, codec.info.code_bytes)
        self.assertEqual(codec.encoded_bytes(10), 10 * codec.code_size)
        self.assertTrue(codec.is_trained)
        self.assertGreater(codec.memory_bytes, 0)
        self.assertEqual(codec.centre.shape, (64,))
        self.assertEqual(repr(codec), "Codec('Polar2', dim=64, metric='cosine')")
        self.assertIn("Polar2", polarquant.spec_help())

    def test_decodes_what_it_encoded(self):
        x = make_rows(50, 64)
        errors = []
        for spec in ("Polar1", "Polar2", "Polar4", "Polar8", "Polar4+2"):
            codec = polarquant.Codec(spec, 64)
            codes = codec.encode(x)
            self.assertEqual(codes.shape, (50, codec.code_size))
            self.assertEqual(codes.dtype, np.uint8)
            decoded = codec.decode(codes)
            self.assertEqual((decoded.shape, decoded.dtype), (x.shape, np.float32))
            errors.append(float(np.mean((decoded - x) ** 2)))
        polar1, polar2, polar4, polar8, polar4_2 = errors
        self.assertLess(polar2, polar1)
        self.assertLess(polar4, polar2)
        self.assertLess(polar4_2, polar4)
        self.assertLess(polar8, 1e-3)

    def test_unbiased_vectors_are_longer(self):
        codec = polarquant.Codec("Polar1", 64)
        codes = codec.encode(make_rows(50, 64))
        plain, unbiased = codec.decode(codes), codec.decode(codes, unbiased=True)
        self.assertTrue(np.all(np.linalg.norm(unbiased, axis=1) > np.linalg.norm(plain, axis=1)))

    def test_codes_in_batches_are_the_codes(self):
        x = make_rows(3000, 16)
        codec = polarquant.Codec("Polar2", 16)
        groups = polarquant.Codec("PolarPair4x4g128", 16)
        whole, whole_groups = codec.encode(x), groups.encode(x)
        heard = []
        batch = codec_module._ENCODE_BATCH
        codec_module._ENCODE_BATCH = 1
        try:
            parts = codec.encode(x, progress=heard.append)
            parts_of_groups = groups.encode(x)
            x[2000, 3] = np.nan
            with self.assertRaisesRegex(ValueError, "952.*counted from row 1024"):
                codec.encode(x[24:])
            with self.assertRaises(polarquant.CancelledError):
                codec.encode(x[:1500], progress=lambda done: False)
        finally:
            codec_module._ENCODE_BATCH = batch
        np.testing.assert_array_equal(parts, whole)
        np.testing.assert_array_equal(parts_of_groups, whole_groups)
        self.assertEqual(heard, [1024 / 3000, 2048 / 3000, 1.0])

    def test_scores_are_near_the_truth(self):
        x, q = make_rows(200, 64), make_rows(3, 64, seed=2)
        for metric in ("ip", "l2", "cosine"):
            truth = {
                "ip": q @ x.T,
                "l2": ((q[:, None] - x[None]) ** 2).sum(axis=2),
                "cosine": (q @ x.T)
                / np.linalg.norm(q, axis=1)[:, None]
                / np.linalg.norm(x, axis=1),
            }[metric]
            codec = polarquant.Codec("Polar8", 64, metric)
            codes = codec.encode(x)
            scores = codec.score(q, codes)
            np.testing.assert_allclose(scores, truth, atol=0.02 * np.abs(truth).max())
            np.testing.assert_array_equal(codec.score(q[1], codes), scores[1])
            with codec.prepare_query(q[1]) as query:
                np.testing.assert_array_equal(codec.score(query, codes), scores[1])
            query = codec.prepare_query_from_code(codes, 5)
            between = codec.score_codes(codes[5:6], codes)
            np.testing.assert_allclose(codec.score(query, codes), between[0], atol=1e-3)
            self.assertEqual(codec.score_codes(codes).shape, (200, 200))

    def test_a_query_of_another_state_is_refused(self):
        x = make_rows(4, 16)
        a, b = polarquant.Codec("Polar2", 16), polarquant.Codec("Polar2", 16, seed=2)
        with self.assertRaises(polarquant.StateMismatchError):
            a.score(b.prepare_query(x[0]), a.encode(x))

    def test_search_finds_the_best_scores(self):
        x, q = make_rows(500, 64), make_rows(5, 64, seed=2)
        codec = polarquant.Codec("Polar8", 64)
        codes = codec.encode(x)
        scores, ids = codec.search(q, codes, 4, exactness=np.inf)
        self.assertEqual((scores.shape, scores.dtype), ((5, 4), np.float32))
        self.assertEqual((ids.shape, ids.dtype), ((5, 4), np.int64))
        expected = codec.score(q, codes)
        np.testing.assert_array_equal(ids[:, 0], expected.argmax(axis=1))
        one_scores, one_ids = codec.search(q[2], codes, 4, exactness=np.inf)
        np.testing.assert_array_equal(one_ids, ids[2])
        np.testing.assert_array_equal(one_scores, scores[2])

    def test_combine_sums_decoded_rows(self):
        x, w = make_rows(40, 32), make_rows(3, 40, seed=2)
        codec = polarquant.Codec("Polar4", 32)
        codes = codec.encode(x)
        expected = w @ codec.decode(codes)
        np.testing.assert_allclose(codec.combine(w, codes), expected, atol=1e-3)
        np.testing.assert_allclose(codec.combine(w[0], codes), expected[0], atol=1e-3)
        with self.assertRaisesRegex(ValueError, "weights"):
            codec.combine(w[:, :-1], codes)

    def test_groups_of_rows_need_their_number(self):
        x = make_rows(200, 32)
        codec = polarquant.Codec("PolarPair4x4g128", 32)
        codes = codec.encode(x)
        self.assertEqual(codes.shape, (codec.encoded_bytes(200),))
        self.assertEqual(codec.decode(codes, 200).shape, (200, 32))
        self.assertEqual(codec.score(x[0], codes, 200).shape, (200,))
        self.assertEqual(codec.search(x, codes, 1, 200)[1][:, 0].tolist(), list(range(200)))
        with self.assertRaisesRegex(ValueError, "n: None"):
            codec.decode(codes)

    def test_a_codec_that_needs_training_says_so(self):
        x = make_rows(200, 32)
        codec = polarquant.Codec("PolarPair4x4", 32)
        self.assertFalse(codec.is_trained)
        with self.assertRaises(polarquant.NotTrainedError):
            codec.encode(x)
        codec.train(x)
        self.assertTrue(codec.is_trained)
        self.assertEqual(codec.encode(x).shape, (200, codec.code_size))

    def test_training_learns_the_centre_until_rows_are_encoded(self):
        x = make_rows(300, 16) + 5
        codec = polarquant.Codec("Polar2", 16)
        self.assertEqual(codec.info.state_origin, 0)
        codec.train(x)
        self.assertEqual(codec.info.state_origin, 2)
        np.testing.assert_allclose(codec.centre, x.mean(axis=0), rtol=1e-4)
        codec.encode(x)
        with self.assertRaises(polarquant.StateMismatchError):
            codec.train(x)

    def test_a_given_centre_is_used(self):
        centre = np.arange(16)[::-1]
        codec = polarquant.Codec("Polar2", 16, centre=centre, norm_unit=4.0)
        np.testing.assert_array_equal(codec.centre, centre)
        self.assertEqual(codec.info.norm_unit, 4.0)

    def test_a_trained_plan_is_told(self):
        scale = np.linspace(2, 0.1, 128)
        x = make_rows(1500, 128) * scale
        codec = polarquant.Codec("Polar2-pca", 128)
        with self.assertRaises(polarquant.NotTrainedError):
            codec.plan
        codec.train(x)
        plan = codec.plan
        self.assertTrue(plan.has_basis)
        self.assertLess(plan.error, plan.untrained_error)
        self.assertEqual(sum(segment.dim for segment in plan.segments), 128)
        self.assertGreaterEqual(plan.segments[0].scale, plan.segments[1].scale)
        self.assertLess(abs(codec.drift(x) - 1), 0.2)
        with self.assertRaises(polarquant.UnsupportedError):
            polarquant.Codec("Polar2", 128).plan

    def test_state_and_pickle_give_the_same_codec(self):
        x = make_rows(300, 32)
        codec = polarquant.Codec("Polar2", 32, "l2", seed=9)
        codec.train(x)
        codes = codec.encode(x)
        for again in [
            polarquant.Codec.load_state(codec.save_state()),
            pickle.loads(pickle.dumps(codec)),
            copy.deepcopy(codec),
        ]:
            again.check_same_state(codec)
            self.assertEqual(again.info.state_id, codec.info.state_id)
            np.testing.assert_array_equal(again.encode(x), codes)
        with self.assertRaisesRegex(polarquant.StateMismatchError, "seed"):
            codec.check_same_state(polarquant.Codec("Polar2", 32, "l2"))

    def test_damaged_states_are_refused(self):
        state = polarquant.Codec("Polar2", 32).save_state()
        for damaged in [b"", state[:-1], state[:20], b"\0" * len(state)]:
            with self.subTest(len(damaged)), self.assertRaises(polarquant.PolarError):
                polarquant.Codec.load_state(damaged)

    def test_a_closed_codec_says_so(self):
        with polarquant.Codec("Polar2", 16) as codec:
            self.assertFalse(codec.closed)
        self.assertTrue(codec.closed)
        codec.close()
        self.assertEqual(repr(codec), "Codec(closed)")
        with self.assertRaisesRegex(ValueError, "closed"):
            codec.encode(make_rows(1, 16))


if __name__ == "__main__":
    unittest.main()
