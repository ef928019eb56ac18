# SPDX-License-Identifier: MIT
"""The vectors of tests/conformance, which readers in every language must agree with."""

import sys
import unittest

import numpy as np
from support import ROOT, needs_indexes

import polarquant

FOLDER = ROOT / "tests" / "conformance"
if FOLDER.is_dir():
    sys.path.insert(0, str(FOLDER))
    import vectors

#: Of a score, times its size and 1.
_BOUND = 1e-6


@unittest.skipUnless(FOLDER.is_dir(), "there are no vectors beside an installed package")
class ConformanceTest(unittest.TestCase):
    def check_numbers(self, expected, found):
        wanted = np.array([float.fromhex(text) for text in expected], dtype=np.float32)
        np.testing.assert_allclose(np.ravel(found), wanted, rtol=_BOUND, atol=_BOUND)

    def check_searches(self, case, search, range_search):
        for wanted in case["searches"]:
            queries = vectors.rows(wanted["queries"], case["dim"])
            options = vectors.as_options(wanted["options"])
            scores, ids = search(queries, wanted["k"], **options)
            np.testing.assert_array_equal(ids, wanted["ids"])
            self.check_numbers([text for line in wanted["scores"] for text in line], scores)
        for wanted in case["range_searches"]:
            queries = vectors.rows(wanted["queries"], case["dim"])
            radius = vectors.as_float(wanted["radius"])
            options = vectors.as_options(wanted["options"])
            lims, scores, ids = range_search(queries, radius, **options)
            self.assertEqual((lims.tolist(), ids.tolist()), (wanted["lims"], wanted["ids"]))
            self.check_numbers(wanted["scores"], scores)

    def check_index(self, case, index):
        self.assertEqual(index.ntotal, case["ntotal"])
        self.check_searches(case, index.search, index.range_search)
        if "reconstruct" in case:
            wanted = case["reconstruct"]
            self.check_numbers(wanted["x"], index.reconstruct(wanted["id"]))

    def test_codecs_make_these_codes_and_find_these_rows_among_them(self):
        for case in vectors.read("codecs.json"):
            with self.subTest(case["name"]):
                self.check_codec(case)

    def check_codec(self, case):
        codec = vectors.make_codec(case)
        n = case["rows"]["n"]
        codes = codec.encode(vectors.rows(case["rows"], case["dim"]))
        self.assertEqual(codec.code_size, case["code_bytes"])
        self.assertEqual(vectors.fnv1a(codes.tobytes()), case["codes_fnv1a"])
        if "first_code" in case:
            self.assertEqual(codes[0].tobytes().hex(), case["first_code"])
        if "state_fnv1a" in case:
            self.assertEqual(vectors.fnv1a(codec.save_state()), case["state_fnv1a"])
        self.check_numbers(case["decoded"], codec.decode(codes, n)[0])

        def search(queries, k, **options):
            return codec.search(queries, codes, k, n, **options)

        def range_search(queries, radius, **options):
            return codec.range_search(queries, codes, radius, n, **options)

        self.check_searches(case, search, range_search)
        if case["has_blocks"]:
            blocks = polarquant.CodeBlocks(codec, codes)
            self.check_searches(case, blocks.search, blocks.range_search)
        else:
            with self.assertRaises(polarquant.UnsupportedError):
                polarquant.CodeBlocks(codec)

    @needs_indexes
    def test_indexes_find_these_rows(self):
        for case in vectors.read("indexes.json"):
            with self.subTest(case["name"]):
                self.check_index(case, vectors.make_index(case))

    @needs_indexes
    def test_files_have_these_indexes(self):
        for case in vectors.read("files.json"):
            path = FOLDER / case["file"]
            data = path.read_bytes()
            self.assertEqual((len(data), vectors.fnv1a(data)), (case["bytes"], case["fnv1a"]))
            for memory_map in (False, True) if case["can_map"] else (False,):
                with self.subTest(case["name"], memory_map=memory_map):
                    index = polarquant.Index.load(path, memory_map=memory_map)
                    found = (index.description, index.dim, index.metric)
                    wanted = (case["description"], case["dim"], polarquant.Metric(case["metric"]))
                    self.assertEqual(found, wanted)
                    self.check_index(case, index)

    @needs_indexes
    def test_wrong_calls_raise_these_errors(self):
        for case in vectors.read("errors.json"):
            with self.subTest(case["name"]):
                call = self.wrong_call(case)
                with self.assertRaises(polarquant.PolarError) as raised:
                    call()
                self.assertEqual(raised.exception.status, case["status"])
                self.assertIn(case["names"], str(raised.exception))

    def wrong_call(self, case):
        """What is to fail, after what is made before it."""
        given = case["arguments"]
        if "codec" in case:
            codec = vectors.make_codec(case["codec"])
            if "encode" in case["codec"]:
                codec.encode(vectors.rows(case["codec"]["encode"], codec.dim))
            x = vectors.rows(given["rows"], codec.dim)
            return lambda: self.call_codec(codec, case["call"], given, x)
        if "index" in case:
            index = vectors.make_index(case["index"])
            return lambda: self.call_index(index, case["call"], given)
        calls = {
            "codec_create": lambda: vectors.make_codec(given),
            "codec_load_state": lambda: vectors.make_codec(given),
            "index_create": lambda: vectors.make_index(given),
            "index_load": lambda: polarquant.Index.load(FOLDER / given["file"]),
        }
        return calls[case["call"]]

    def call_codec(self, codec, call, given, x):
        if call == "codec_train":
            codec.train(x)
            return
        codes = codec.encode(x)
        options = vectors.as_options(given.get("options", {}))
        if call == "codec_search":
            codec.search(x[:1], codes, given["k"], **options)
        elif call == "codec_range_search":
            codec.range_search(x[:1], codes, vectors.as_float(given["radius"]), **options)
        elif call == "blocks_append":
            polarquant.CodeBlocks(codec, codes)
        else:
            self.assertEqual(call, "codec_encode")

    def call_index(self, index, call, given):
        query = np.zeros((1, index.dim), np.float32)
        options = vectors.as_options(given.get("options", {}))
        if call == "index_search":
            index.search(query, given["k"], **options)
        elif call == "index_range_search":
            index.range_search(query, vectors.as_float(given["radius"]), **options)
        elif call == "index_reconstruct":
            index.reconstruct(given["id"])
        else:
            step = {**given, "call": call.removeprefix("index_")}
            vectors.do_step(index, index.dim, step)


if __name__ == "__main__":
    unittest.main()
