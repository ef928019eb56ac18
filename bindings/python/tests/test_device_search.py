# SPDX-License-Identifier: MIT
"""Searches with arrays in a device's memory, by stand-ins whose memory is this machine's."""

import ctypes
import importlib.util
import sys
import types
import unittest
import unittest.mock

import numpy as np
from support import make_rows
from test_cuda import InterfaceOf, found_devices

import polarquant
from polarquant import _structs, cuda
from polarquant._device_arrays import floats_anywhere, is_on_device, words_on_device
from polarquant._device_search import DeviceSearch, run_device_search
from polarquant._search import make_search_options
from polarquant._use import Use


class TensorOf:
    """Tells of an array by DLPack alone, as JAX's in a device's memory do."""

    def __init__(self, array, device_type=2):
        self.array, self.device_type = array, device_type
        self.streams = []

    def __dlpack_device__(self):
        return (self.device_type, 0)

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        return self.array.__dlpack__()


def _numbers(address, shape, kind):
    count = int(np.prod(shape))
    return np.ctypeslib.as_array((kind * count).from_address(address)).reshape(shape)


class Search:
    """Stands in for the library: finds, of query q, scores q + i and ids 10·q + i."""

    def __init__(self, dim):
        self.dim, self.queries, self.words = dim, None, None

    def __call__(self, nq, queries, k, options, scores, ids):
        self.queries = _numbers(queries, (nq, self.dim), ctypes.c_float).copy()
        filter = _structs.SearchOptions.from_address(options).filter
        if filter:
            bits = _structs.Filter.from_address(filter).bitset
            self.words = (bits.words, bits.num_bits)
        _numbers(scores, (nq, k), ctypes.c_float)[:] = np.add.outer(np.arange(nq), np.arange(k))
        _numbers(ids, (nq, k), ctypes.c_int64)[:] = np.add.outer(10 * np.arange(nq), np.arange(k))
        return 0


def _run(queries, k=3, filter=None, out=None, stream=None, dim=8):
    search = Search(dim)
    given = DeviceSearch(queries, k, filter, out, stream)
    options = make_search_options(None, 0)
    return search, run_device_search(search, Use("CudaIndex", 1), given, dim, options)


class DeviceSearchTest(unittest.TestCase):
    def setUp(self):
        self.x = make_rows(4, 8)
        self.scores = np.add.outer(np.arange(4), np.arange(3)).astype(np.float32)
        self.ids = np.add.outer(10 * np.arange(4), np.arange(3))

    def check(self, scores, ids):
        np.testing.assert_array_equal(scores, self.scores)
        np.testing.assert_array_equal(ids, self.ids)

    def test_results_go_where_they_are_wanted(self):
        for queries in (self.x, InterfaceOf(self.x), TensorOf(self.x)):
            scores, ids = np.empty((4, 3), np.float32), np.empty((4, 3), np.int64)
            out = (scores, InterfaceOf(ids))
            search, found = _run(queries, out=out)
            self.assertIs(found[0], out[0])
            self.assertIs(found[1], out[1])
            np.testing.assert_array_equal(search.queries, self.x)
            self.check(scores, ids)

    def test_results_are_arrays_of_the_queries_library(self):
        made = []

        class Tensor(InterfaceOf):
            device = "cuda:0"

        def empty(shape, dtype, device):
            self.assertEqual(device, "cuda:0")
            made.append(Tensor(np.empty(shape, dtype)))
            return made[-1]

        Tensor.__module__ = "torch"
        torch = types.SimpleNamespace(empty=empty, float32=np.float32, int64=np.int64)
        with unittest.mock.patch.dict(sys.modules, {"torch": torch}):
            _, found = _run(Tensor(self.x))
            self.assertEqual(list(found), made)
            self.check(*(array.array for array in found))
            _, (scores, ids) = _run(Tensor(self.x[0]))
            self.assertEqual((scores.array.shape, ids.array.shape), ((3,), (3,)))
            # Others' arrays are made by what is installed.
            with unittest.mock.patch(
                "importlib.util.find_spec", lambda name: name if name == "torch" else None
            ):
                _, found = _run(TensorOf(self.x))
            self.assertEqual(list(found), made[-2:])
        with unittest.mock.patch("importlib.util.find_spec", lambda name: None):
            with self.assertRaisesRegex(
                polarquant.BadArgumentError, "out: None is not allowed for"
            ):
                _run(InterfaceOf(self.x))

    def test_results_are_arrays_of_cupy(self):
        used = []

        class Device:
            def __init__(self, number):
                self.number = number

            def __enter__(self):
                used.append(self.number)

            def __exit__(self, *_):
                pass

        cupy = types.SimpleNamespace(
            cuda=types.SimpleNamespace(Device=Device),
            empty=lambda shape, dtype: InterfaceOf(np.empty(shape, dtype)),
        )
        with unittest.mock.patch.dict(sys.modules, {"cupy": cupy}):
            with unittest.mock.patch(
                "importlib.util.find_spec", lambda name: name if name == "cupy" else None
            ):
                _, found = _run(TensorOf(self.x))
        self.check(*(array.array for array in found))
        self.assertEqual(used, [0])

    def test_a_filter_is_words(self):
        words = np.array([5, 7], np.uint64)
        for filter in (InterfaceOf(words), InterfaceOf(words.view(np.int64)), TensorOf(words)):
            search, (scores, ids) = _run(self.x, filter=filter)
            self.assertEqual(search.words, (words.ctypes.data, 128))
            self.check(scores, ids)
        search, _ = _run(InterfaceOf(self.x), filter=np.array([True, False]), out=_outs(4, 3))
        self.assertEqual(search.words[1], 2)

    def test_a_stream_is_told_to_who_writes(self):
        for stream, told in ((None, 1), (0, 1), (77, 77)):
            tensor = TensorOf(self.x)
            _run(tensor, out=_outs(4, 3), stream=stream)
            self.assertEqual(tensor.streams, [told])

    def test_memory_of_the_host_is_no_device_s(self):
        for value in (self.x, TensorOf(self.x, 1), [1.0], None):
            self.assertFalse(is_on_device(value))
        for value in (InterfaceOf(self.x), TensorOf(self.x), TensorOf(self.x, 13)):
            self.assertTrue(is_on_device(value))

    def test_others_are_refused(self):
        x, out = self.x, _outs(4, 3)
        for error, text, call in [
            (TypeError, "queries: <f8", lambda: _run(TensorOf(x.astype(np.float64)), out=out)),
            (ValueError, "queries: strides", lambda: _run(TensorOf(x.T), dim=4, out=_outs(8, 3))),
            (ValueError, r"queries: shape \(4, 8\)", lambda: _run(InterfaceOf(x), dim=9, out=out)),
            (TypeError, "out: a tuple", lambda: _run(x, out=[1, 2])),
            (ValueError, r"out\[0\]: shape", lambda: _run(x, out=_outs(3, 3))),
            (ValueError, r"out\[0\]: cannot", lambda: _run(x, out=(_read_only(), out[1]))),
            (TypeError, r"out\[1\]: ", lambda: _run(x, out=(out[0], out[0]))),
            (ValueError, "k: 0", lambda: _run(x, k=0, out=out)),
            (TypeError, "filter: <f4", lambda: _run(x, filter=InterfaceOf(x))),
            (
                ValueError,
                r"filter: shape \(1, 2\)",
                lambda: words_on_device("filter", InterfaceOf(np.zeros((1, 2), np.uint64))),
            ),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()

    def test_arrays_are_found_by_dlpack(self):
        x = make_rows(30, 8).reshape(5, 6, 8)
        for given in (x, x[1:], x[:, :1], x[:0]):
            if given.flags.c_contiguous:
                found = floats_anywhere("x", TensorOf(given))
                self.assertEqual((found.address, found.shape), (given.ctypes.data, given.shape))


def _outs(nq, k):
    return np.empty((nq, k), np.float32), np.empty((nq, k), np.int64)


def _read_only():
    array = np.empty((4, 3), np.float32)
    array.flags.writeable = False
    return array


@unittest.skipUnless(found_devices(), "there is no CUDA library or device")
class CudaArraysTest(unittest.TestCase):
    def setUp(self):
        codec = polarquant.Codec("Polar4", 64)
        codes = codec.encode(make_rows(5000, 64))
        self.queries = make_rows(20, 64, seed=2)
        self.index = cuda.CudaIndex.from_codes(codec, codes)
        self.addCleanup(self.index.close)
        self.expected = self.index.search(self.queries, 5)

    def check(self, found, to_numpy):
        for array, wanted in zip(found, self.expected):
            np.testing.assert_array_equal(to_numpy(array), wanted)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_torch(self):
        torch = importlib.import_module("torch")
        queries = torch.from_numpy(self.queries).cuda()
        found = self.index.search(queries, 5)
        self.assertTrue(all(array.is_cuda for array in found))
        self.check(found, lambda array: array.cpu().numpy())
        self.assertEqual(self.index.search(queries[3], 5)[1].tolist(), found[1][3].tolist())
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            doubled = torch.from_numpy(self.queries).pin_memory().cuda(non_blocking=True) * 1
            found = self.index.search(doubled, 5, stream=stream.cuda_stream)
        self.check(found, lambda array: array.cpu().numpy())
        out = (np.empty((20, 5), np.float32), torch.empty((20, 5), dtype=torch.int64).cuda())
        self.assertIs(self.index.search(queries, 5, out=out)[0], out[0])
        self.check((out[0], out[1].cpu().numpy()), np.asarray)
        keep = torch.full((20,), -1, dtype=torch.int64).cuda()
        _, ids = self.index.search(queries, 5, filter=keep)
        self.assertLess(int(ids.max()), 20 * 64)

    @unittest.skipUnless(importlib.util.find_spec("cupy"), "CuPy is not installed")
    def test_cupy(self):
        cupy = importlib.import_module("cupy")
        found = self.index.search(cupy.asarray(self.queries), 5)
        self.assertIsInstance(found[0], cupy.ndarray)
        self.check(found, cupy.asnumpy)

    @unittest.skipUnless(importlib.util.find_spec("jax"), "JAX is not installed")
    def test_jax(self):
        jax = importlib.import_module("jax")
        queries = jax.device_put(self.queries, jax.devices("gpu")[0])
        out = (np.empty((20, 5), np.float32), np.empty((20, 5), np.int64))
        self.check(self.index.search(queries, 5, out=out), np.asarray)
        scores, _ = self.index.search(queries, 5)
        np.testing.assert_array_equal(jax.dlpack.from_dlpack(scores), out[0])


if __name__ == "__main__":
    unittest.main()
