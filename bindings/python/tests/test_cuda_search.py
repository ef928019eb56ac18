# SPDX-License-Identifier: MIT
"""Searches that are started and not waited for, by stand-ins whose memory is this machine's."""

import ctypes
import importlib.util
import types
import unittest
import unittest.mock

import numpy as np
from support import make_rows
from test_cuda import InterfaceOf, found_devices

import polarquant
from polarquant import _structs, cuda
from polarquant._cuda_search import CudaSearch
from polarquant._search import make_search_options
from polarquant._use import Use

NQ, DIM, K = 4, 8, 3


class Library:
    """Stands in for the library: finds row i as neighbor i of every query."""

    def __init__(self):
        self.created, self.kept, self.streams, self.destroyed = [], [], [], []

    def polar_cuda_search_create(self, index, nq, k, options, out):
        given = ctypes.cast(options, ctypes.POINTER(_structs.SearchOptions)).contents
        self.created.append((index, nq, k, given.exactness))
        if given.filter:
            ids = _structs.Filter.from_address(given.filter)
            self.kept.append(ids.kind)
        ctypes.cast(out, ctypes.POINTER(ctypes.c_void_p)).contents.value = 77
        return 0

    def polar_cuda_search_start(self, search, queries, stream, scores, ids, unfinished):
        self.streams.append((search, stream))
        floats = np.ctypeslib.as_array((ctypes.c_float * (NQ * DIM)).from_address(queries))
        numbers = np.ctypeslib.as_array((ctypes.c_float * (NQ * K)).from_address(scores))
        numbers[:] = np.repeat(floats.reshape(NQ, DIM)[:, 0], K)
        np.ctypeslib.as_array((ctypes.c_int64 * (NQ * K)).from_address(ids))[:] = np.tile(
            np.arange(K), NQ
        )
        ctypes.c_int32.from_address(unfinished).value = 0
        return 0


    def polar_cuda_search_memory_bytes(self, search, out):
        ctypes.cast(out, ctypes.POINTER(ctypes.c_size_t)).contents.value = 1000 + search
        return 0


class CudaSearchTest(unittest.TestCase):
    def setUp(self):
        self.library = Library()
        for patch in (
            unittest.mock.patch("polarquant._cuda_search.lib", self.library),
            unittest.mock.patch.object(
                CudaSearch, "_destroy", staticmethod(self.library.destroyed.append)
            ),
        ):
            patch.start()
            self.addCleanup(patch.stop)
        self.x = make_rows(NQ, DIM)

    def prepare(self, filter=None, nq=NQ, k=K):
        options = make_search_options(1.5, 0)
        return CudaSearch._prepare(Use("CudaIndex", 1), (nq, DIM, k), filter, options)

    def outputs(self):
        return (
            InterfaceOf(np.empty((NQ, K), np.float32)),
            InterfaceOf(np.empty((NQ, K), np.int64)),
            InterfaceOf(np.full(1, 77, np.int32)),
        )

    def test_a_start_writes_what_is_given(self):
        search = self.prepare()
        self.assertEqual((search.nq, search.dim, search.k), (NQ, DIM, K))
        self.assertEqual(search.memory_bytes, 1077)
        self.assertEqual(self.library.created, [(1, NQ, K, 1.5)])
        out = self.outputs()
        self.assertIs(search.start(InterfaceOf(self.x), out=out, stream=9), out)
        self.assertEqual(self.library.streams, [(77, 9)])
        np.testing.assert_array_equal(out[0].array, np.repeat(self.x[:, :1], K, axis=1))
        np.testing.assert_array_equal(out[1].array, np.tile(np.arange(K), (NQ, 1)))
        self.assertEqual(out[2].array[0], 0)
        search.close()
        self.assertEqual(self.library.destroyed, [77])
        with self.assertRaises(ValueError):
            search.start(InterfaceOf(self.x), out=out)

    def test_results_are_arrays_of_the_queries_library(self):
        class Tensor(InterfaceOf):
            device = "cuda:0"

        def empty(shape, dtype, device):
            self.assertEqual(device, "cuda:0")
            return Tensor(np.empty(shape, dtype))

        Tensor.__module__ = "torch"
        torch = types.SimpleNamespace(
            empty=empty, float32=np.float32, int64=np.int64, int32=np.int32
        )
        with unittest.mock.patch.dict("sys.modules", {"torch": torch}):
            scores, ids, unfinished = self.prepare().start(Tensor(self.x))
        self.assertEqual((scores.array.shape, ids.array.shape), ((NQ, K), (NQ, K)))
        self.assertEqual(unfinished.array.dtype, np.int32)

    def test_a_filter_is_given_once(self):
        self.prepare(filter=np.array([3, 5, 6]))
        self.prepare(filter=InterfaceOf(np.arange(5, dtype=np.uint64)))
        self.assertEqual(len(self.library.kept), 2)
        self.assertNotEqual(*self.library.kept)

    def test_what_is_wrong_is_said(self):
        search = self.prepare()
        given, out = InterfaceOf(self.x), self.outputs()
        host = np.empty((NQ, K), np.int16)
        for error, text, call in [
            (ValueError, "nq: 0 is not allowed", lambda: self.prepare(nq=0)),
            (ValueError, "k: 0 is not allowed", lambda: self.prepare(k=0)),
            (ValueError, "queries: ndarray in host memory", lambda: search.start(self.x)),
            (
                ValueError,
                r"queries: shape \(3, 8\) is not allowed; \(4, 8\)",
                lambda: search.start(InterfaceOf(self.x[:3]), out=out),
            ),
            (TypeError, "out: a tuple of three", lambda: search.start(given, out=out[:2])),
            (TypeError, r"out\[1\]: ", lambda: search.start(given, out=(out[0], host, out[2]))),
            (ValueError, r"out\[2\]: shape", lambda: search.start(given, out=(*out[:2], _two()))),
        ]:
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()


def _two():
    return InterfaceOf(np.empty(2, np.int32))


@unittest.skipUnless(
    found_devices() and importlib.util.find_spec("torch"), "there is no device, or no PyTorch"
)
class GraphTest(unittest.TestCase):
    def test_a_graph_holds_a_search(self):
        import torch

        codec = polarquant.Codec("Polar4", 64)
        index = cuda.CudaIndex.from_codes(codec, codec.encode(make_rows(5000, 64)))
        search = index.prepare_search(20, 5)
        queries = torch.empty((20, 64), device="cuda")
        out = search.start(queries)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            search.start(queries, out=out, stream=torch.cuda.current_stream().cuda_stream)
        for seed in (1, 2):
            queries.copy_(torch.from_numpy(make_rows(20, 64, seed)))
            graph.replay()
            scores, ids = index.search(queries.cpu().numpy(), 5)
            self.assertEqual(int(out[2]), 0)
            np.testing.assert_array_equal(out[0].cpu().numpy(), scores)
            np.testing.assert_array_equal(out[1].cpu().numpy(), ids)


if __name__ == "__main__":
    unittest.main()
