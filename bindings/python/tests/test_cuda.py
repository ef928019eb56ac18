# SPDX-License-Identifier: MIT
import importlib.util
import unittest

import numpy as np
from support import make_rows, needs_indexes

import polarquant
from polarquant import cuda
from polarquant._device_arrays import codes_anywhere, rows_anywhere


def _devices():
    try:
        return cuda.devices()
    except polarquant.UnsupportedError:
        return ()


@unittest.skipIf(_devices(), "there is a device")
class NoCudaTest(unittest.TestCase):
    def test_what_is_missing_is_said(self):
        codec = polarquant.Codec("Polar2", 32)
        codes = codec.encode(make_rows(5, 32))
        for call in [
            cuda.devices,
            lambda: cuda.CudaIndex.from_codes(codec, codes),
            lambda: cuda.CudaEncoder(polarquant.Codec("Polar2", 96)),
        ]:
            with self.assertRaises(polarquant.UnsupportedError) as caught:
                call()
            self.assertGreater(len(str(caught.exception)), 20)


@unittest.skipUnless(_devices(), "there is no CUDA library or device")
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

    @needs_indexes
    def test_an_index_is_searched_as_on_the_cpu(self):
        x = make_rows(5000, 64)
        index = polarquant.Index("Polar4", 64, "cosine")
        index.add(x)
        with cuda.CudaIndex.from_index(index) as copy:
            for found, wanted in zip(copy.search(x[:9], 3), index.search(x[:9], 3)):
                np.testing.assert_array_equal(found, wanted)

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


class _InterfaceOf:
    """Tells of an array as those in a device's memory do."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, **changes}


class DeviceArrayTest(unittest.TestCase):
    def test_arrays_are_found_where_they_lie(self):
        x = make_rows(5, 8)
        for given in (x, _InterfaceOf(x), _InterfaceOf(x, strides=x.strides)):
            found = rows_anywhere("x", given, 8)
            self.assertEqual((found.address, found.shape), (x.ctypes.data, (5, 8)))
        codes = np.zeros((5, 3), np.uint8)
        for given in (codes, _InterfaceOf(codes)):
            self.assertEqual(codes_anywhere("out", given, (5, 3)).address, codes.ctypes.data)

    def test_others_are_refused(self):
        x, codes = make_rows(5, 8), np.zeros((5, 3), np.uint8)
        read_only = codes.copy()
        read_only.flags.writeable = False
        for error, text, call in [
            (ValueError, r"x: shape \(5, 8\)", lambda: rows_anywhere("x", _InterfaceOf(x), 9)),
            (
                TypeError,
                "x: <f8",
                lambda: rows_anywhere("x", _InterfaceOf(x * 1.0, typestr="<f8"), 8),
            ),
            (ValueError, "x: strides", lambda: rows_anywhere("x", _InterfaceOf(x[:, ::2]), 4)),
            (ValueError, "out: shape", lambda: codes_anywhere("out", codes, (4, 3))),
            (TypeError, "out: list", lambda: codes_anywhere("out", [[1, 2, 3]], (1, 3))),
            (TypeError, "out: ndarray", lambda: codes_anywhere("out", codes[:, ::2], (5, 2))),
            (ValueError, "cannot be written", lambda: codes_anywhere("out", read_only, (5, 3))),
            (
                ValueError,
                "cannot be written",
                lambda: codes_anywhere("out", _InterfaceOf(read_only), (5, 3)),
            ),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()


if __name__ == "__main__":
    unittest.main()
