# SPDX-License-Identifier: MIT
import importlib.util
import unittest

import numpy as np
from support import make_rows, needs_indexes

import polarquant
from polarquant import cuda
from polarquant._device_arrays import (
    codes_anywhere,
    floats_anywhere,
    output_anywhere,
    rows_anywhere,
)


def found_devices():
    try:
        return cuda.devices()
    except polarquant.UnsupportedError:
        return ()


@unittest.skipIf(found_devices(), "there is a device")
class NoCudaTest(unittest.TestCase):
    def test_what_is_missing_is_said(self):
        codec = polarquant.Codec("Polar2", 32)
        codes = codec.encode(make_rows(5, 32))
        for call in [
            cuda.devices,
            lambda: cuda.CudaIndex.from_codes(codec, codes),
            lambda: cuda.CudaEncoder(polarquant.Codec("Polar2", 96)),
            lambda: cuda.CudaCodec(codec),
        ]:
            with self.assertRaises(polarquant.UnsupportedError) as caught:
                call()
            self.assertGreater(len(str(caught.exception)), 20)

    @needs_indexes
    def test_an_index_has_no_copy_without_a_device(self):
        index = polarquant.Index("Polar2", 32)
        index.add(make_rows(5, 32))
        with self.assertRaisesRegex(polarquant.UnsupportedError, "CUDA"):
            index.to_cuda()


class PlacesTest(unittest.TestCase):
    def test_wrong_places_are_refused(self):
        codec = polarquant.Codec("Polar2", 32)
        codes = codec.encode(make_rows(5, 32))
        for error, text, places in [
            (ValueError, "device: 1 is not allowed beside devices", {"device": 1, "devices": [0]}),
            (ValueError, "devices: none is there", {"devices": []}),
            (ValueError, r"devices\[1\]: -1 is not allowed", {"devices": [0, -1]}),
            (TypeError, r"devices\[0\]: 'a' is not an integer", {"devices": "a"}),
            (ValueError, "num_devices: 65 is not allowed; 0 to 64", {"devices": [0] * 65}),
            (ValueError, "layout: 'halved' is not allowed; sharded or", {"layout": "halved"}),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, text):
                cuda.CudaIndex.from_codes(codec, codes, **places)

    @needs_indexes
    def test_an_index_is_copied_to_places(self):
        index = polarquant.Index("Polar2", 32)
        for text, places in [
            ("device: 1 is not allowed beside devices", {"device": 1, "devices": [0]}),
            ("layout: 'halved' is not allowed; sharded or", {"layout": "halved"}),
        ]:
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                index.to_cuda(**places)


@unittest.skipUnless(found_devices(), "there is no CUDA library or device")
class CudaTest(unittest.TestCase):
    def test_devices_are_told(self):
        device = cuda.devices()[0]
        self.assertTrue(device.name)
        self.assertGreater(device.total_bytes, 0)

    def test_codes_are_searched_as_on_the_cpu(self):
        codec = polarquant.Codec("Polar2", 64)
        codes = codec.encode(make_rows(5000, 64))
        queries = make_rows(20, 64, seed=2)
        with cuda.CudaIndex.from_codes(codec, codes) as index:
            self.assertEqual((len(index), index.dim), (5000, 64))
            self.assertGreater(index.memory_bytes, codes.nbytes)
            for options in [{}, {"filter": range(100, 900)}, {"exactness": np.inf}]:
                expected = codec.search(queries, codes, 5, **options)
                for found, wanted in zip(index.search(queries, 5, **options), expected):
                    np.testing.assert_array_equal(found, wanted)

    def test_several_devices_search_as_the_cpu(self):
        codec = polarquant.Codec("Polar2", 64)
        codes = codec.encode(make_rows(5000, 64))
        queries = make_rows(20, 64, seed=2)
        expected = codec.search(queries, codes, 5)
        for devices in [[0, 0, 0], range(len(found_devices()))]:
            for layout in ("sharded", "replicated"):
                with cuda.CudaIndex.from_codes(
                    codec, codes, devices=devices, layout=layout
                ) as index:
                    self.assertEqual(len(index), 5000)
                    for found, wanted in zip(index.search(queries, 5), expected):
                        np.testing.assert_array_equal(found, wanted)

    @needs_indexes
    def test_an_index_is_searched_as_on_the_cpu(self):
        x = make_rows(5000, 64)
        index = polarquant.Index("Polar4", 64, "cosine")
        index.add(x)
        for copy in (cuda.CudaIndex.from_index(index), index.to_cuda(devices=[0, 0])):
            with copy:
                for found, wanted in zip(copy.search(x[:9], 3), index.search(x[:9], 3)):
                    np.testing.assert_array_equal(found, wanted)

    @needs_indexes
    def test_a_copy_follows_its_index(self):
        x = make_rows(6000, 64)
        for description in ["Polar4", "IVF20,Polar4"]:
            index = polarquant.Index(description, 64, "cosine")
            index.train(x)
            index.add_with_ids(x[:3000], np.arange(3000))
            with index.to_cuda() as copy:

                def check_same(what):
                    self.assertEqual(len(copy), len(index), what)
                    with index.to_cuda() as anew:
                        for found, wanted in zip(copy.search(x[:9], 5), anew.search(x[:9], 5)):
                            np.testing.assert_array_equal(found, wanted, what)

                for end in [3001, 3200, 6000]:
                    before = len(index)
                    index.add_with_ids(x[before:end], np.arange(before, end))
                    copy.refresh(index)
                    check_same("rows were added")
                index.remove_ids([5, 17])
                copy.refresh(index)
                check_same("rows were removed")
                other = polarquant.Index("Polar2", 64, "cosine")
                other.train(x)
                with self.assertRaisesRegex(polarquant.StateMismatchError, "it is of Polar2"):
                    copy.refresh(other)
                check_same("nothing")

    @needs_indexes
    def test_an_inverted_file_is_searched_as_on_the_cpu(self):
        x = make_rows(5000, 64)
        index = polarquant.Index("IVF20,Polar4", 64, "cosine")
        index.train(x)
        index.add(x)
        index.nprobe = 4
        for devices in [[0], [0, 0]]:
            with cuda.CudaIndex.from_index(index, devices=devices) as copy:
                self.assertEqual(len(copy), 5000)
                for options in [{}, {"nprobe": 9}, {"nprobe": 2, "filter": range(100, 3000)}]:
                    expected = index.search(x[:9], 3, **options)
                    for found, wanted in zip(copy.search(x[:9], 3, **options), expected):
                        np.testing.assert_array_equal(found, wanted)
        codec = polarquant.Codec("Polar2", 64)
        with cuda.CudaIndex.from_codes(codec, codec.encode(x)) as flat:
            with self.assertRaisesRegex(polarquant.UnsupportedError, "nprobe: 2 is for inverted"):
                flat.search(x[:2], 3, nprobe=2)

    def test_codes_are_the_cpu_s(self):
        x = make_rows(3000, 96)
        for spec in ("Polar1", "Polar2", "Polar4-norot"):
            codec = polarquant.Codec(spec, 96, "cosine")
            codec.train(x)
            with self.subTest(spec), cuda.CudaEncoder(codec) as encoder:
                self.assertEqual((encoder.dim, encoder.code_size), (96, codec.code_size))
                expected = codec.encode(x)
                np.testing.assert_array_equal(encoder.encode(x), expected)
                out = np.empty_like(expected)
                self.assertIs(encoder.encode(x.astype(np.float64), out=out), out)
                np.testing.assert_array_equal(out, expected)
                self.assertEqual(encoder.encode(x[:0]).shape, (0, codec.code_size))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_rows_in_the_device_s_memory_are_encoded(self):
        torch = importlib.import_module("torch")
        x = make_rows(3000, 96)
        codec = polarquant.Codec("Polar2", 96)
        codec.train(x)
        rows = torch.from_numpy(x).cuda()
        codes = torch.empty((3000, codec.code_size), dtype=torch.uint8, device="cuda")
        torch.cuda.synchronize()
        with cuda.CudaEncoder(codec) as encoder:
            self.assertIs(encoder.encode(rows, out=codes), codes)
            np.testing.assert_array_equal(codes.cpu().numpy(), codec.encode(x))
            np.testing.assert_array_equal(encoder.encode(rows), codec.encode(x))

    def test_what_cannot_be_encoded_is_refused(self):
        x = make_rows(10, 96)
        with self.assertRaises(polarquant.UnsupportedError):
            cuda.CudaEncoder(polarquant.Codec("Polar8", 96))
        with cuda.CudaEncoder(polarquant.Codec("Polar2", 96)) as encoder:
            x[7, 3] = np.nan
            with self.assertRaisesRegex(polarquant.BadArgumentError, "row 7"):
                encoder.encode(x)

    def test_heads_are_scored_and_summed_as_on_the_cpu(self):
        heads, n, dim = 3, 700, 96
        x = make_rows(heads * n, dim).reshape(heads, n, dim)
        queries = make_rows(heads * 2, dim, seed=2).reshape(heads, 2, dim)
        weights = make_rows(heads * 4, n, seed=3).reshape(heads, 4, n)
        for spec in ("Polar2", "Polar4-pca", "PolarTree4.2.2.2", "PolarPair4x4g128"):
            codec = polarquant.Codec(spec, dim)
            codec.train(x.reshape(-1, dim))
            parts = [codec.encode(rows) for rows in x]
            codes = np.stack(parts)
            count = None if codec.info.group_rows == 1 else n
            with self.subTest(spec), cuda.CudaCodec(codec) as on_device:
                self.assertEqual((on_device.dim, on_device.code_size), (dim, codec.code_size))
                expected = np.stack([codec.score(q, c, count) for q, c in zip(queries, parts)])
                scores = on_device.score(queries, codes, count)
                np.testing.assert_allclose(scores, expected, atol=1e-3, rtol=1e-4)
                for shown, q in ((scores[1], queries[1]), (scores[1, 0], queries[1, 0])):
                    one = on_device.score(q, parts[1], count)
                    np.testing.assert_allclose(one, shown, atol=1e-4, rtol=1e-5)
                out = np.zeros((heads, 2, n), np.float32)
                self.assertIs(on_device.score(queries, codes, count, out=out), out)
                np.testing.assert_array_equal(out, scores)

                expected = np.stack([codec.combine(w, c, count) for w, c in zip(weights, parts)])
                sums = on_device.combine(weights, codes, count)
                np.testing.assert_allclose(sums, expected, atol=1e-2, rtol=1e-4)
                for shown, w in ((sums[2], weights[2]), (sums[2, 0], weights[2, 0])):
                    one = on_device.combine(w, parts[2], count)
                    np.testing.assert_allclose(one, shown, atol=1e-4, rtol=1e-5)

    def test_wrong_heads_are_refused(self):
        codec = polarquant.Codec("Polar2", 32)
        codes = codec.encode(make_rows(6, 32)).reshape(2, 3, -1)
        queries, weights = np.zeros((2, 1, 32)), np.zeros((2, 1, 3))
        with cuda.CudaCodec(codec) as on_device:
            for text, call in [
                ("queries: shape", lambda: on_device.score(queries[..., :9], codes)),
                ("codes: shape", lambda: on_device.score(queries, codes[0])),
                ("codes: shape", lambda: on_device.score(queries[0], codes)),
                (
                    "codes: [0-9]+ bytes; 2 heads of 4 rows",
                    lambda: on_device.score(queries, codes, 4),
                ),
                ("weights: shape", lambda: on_device.combine(weights[..., :2], codes)),
                ("weights: shape", lambda: on_device.combine(np.zeros((1, 2, 1, 3)), codes)),
                ("out: shape", lambda: on_device.score(queries, codes, out=np.zeros(3, "f4"))),
                ("queries", lambda: on_device.score(queries * np.nan, codes)),
                ("weights", lambda: on_device.combine(weights * np.nan, codes)),
            ]:
                with self.subTest(text), self.assertRaisesRegex(polarquant.BadArgumentError, text):
                    call()

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_heads_in_the_device_s_memory(self):
        torch = importlib.import_module("torch")
        codec = polarquant.Codec("Polar4", 64)
        codes = codec.encode(make_rows(600, 64)).reshape(2, 300, -1)
        queries, weights = make_rows(2, 64, seed=2)[:, None], make_rows(2, 300, seed=3)[:, None]
        held = torch.from_numpy(codes).cuda()
        out = torch.empty((2, 1, 300), dtype=torch.float32, device="cuda")
        torch.cuda.synchronize()
        with cuda.CudaCodec(codec) as on_device:
            self.assertIs(on_device.score(queries, held, out=out), out)
            np.testing.assert_array_equal(out.cpu().numpy(), on_device.score(queries, codes))
            np.testing.assert_array_equal(
                on_device.combine(torch.from_numpy(weights).cuda(), held),
                on_device.combine(weights, codes),
            )


class InterfaceOf:
    """Tells of an array as those in a device's memory do."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, **changes}


class DeviceArrayTest(unittest.TestCase):
    def test_arrays_are_found_where_they_lie(self):
        x = make_rows(5, 8)
        for given in (x, InterfaceOf(x), InterfaceOf(x, strides=x.strides)):
            found = rows_anywhere("x", given, 8)
            self.assertEqual((found.address, found.shape), (x.ctypes.data, (5, 8)))
        codes = np.zeros((5, 3), np.uint8)
        for given in (codes, InterfaceOf(codes)):
            self.assertEqual(codes_anywhere("codes", given).address, codes.ctypes.data)
            found = output_anywhere("out", given, (5, 3), codes.dtype)
            self.assertEqual(found.address, codes.ctypes.data)
        weights = make_rows(6, 4).reshape(2, 3, 4)
        for given in (weights, InterfaceOf(weights)):
            found = floats_anywhere("weights", given)
            self.assertEqual((found.address, found.shape), (weights.ctypes.data, (2, 3, 4)))
        self.assertEqual(floats_anywhere("weights", [1, 2]).held.dtype, np.float32)

    def test_others_are_refused(self):
        x, codes = make_rows(5, 8), np.zeros((5, 3), np.uint8)
        read_only = codes.copy()
        read_only.flags.writeable = False

        def output(out, shape):
            return lambda: output_anywhere("out", out, shape, codes.dtype)

        for error, text, call in [
            (ValueError, r"x: shape \(5, 8\)", lambda: rows_anywhere("x", InterfaceOf(x), 9)),
            (
                TypeError,
                "x: <f8",
                lambda: rows_anywhere("x", InterfaceOf(x * 1.0, typestr="<f8"), 8),
            ),
            (ValueError, "x: strides", lambda: rows_anywhere("x", InterfaceOf(x[:, ::2]), 4)),
            (TypeError, "codes: dtype", lambda: codes_anywhere("codes", x)),
            (ValueError, "out: shape", output(codes, (4, 3))),
            (TypeError, "out: list", output([[1, 2, 3]], (1, 3))),
            (TypeError, "out: ndarray", output(codes[:, ::2], (5, 2))),
            (TypeError, "out: ndarray", output(x, (5, 8))),
            (ValueError, "cannot be written", output(read_only, (5, 3))),
            (ValueError, "cannot be written", output(InterfaceOf(read_only), (5, 3))),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()


if __name__ == "__main__":
    unittest.main()
