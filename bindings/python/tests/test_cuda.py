# SPDX-License-Identifier: MIT
import unittest

import numpy as np
from support import make_rows, needs_indexes

import polarquant
from polarquant import cuda


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
        for call in [cuda.devices, lambda: cuda.CudaIndex.from_codes(codec, codes)]:
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


if __name__ == "__main__":
    unittest.main()
