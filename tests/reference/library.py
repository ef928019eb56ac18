# SPDX-License-Identifier: MIT
"""The codec half of the C ABI of include/polarquant/polarquant.h, for the checks of this folder."""

import ctypes

import numpy as np

INNER_PRODUCT, L2, COSINE = 0, 1, 2
LEAST_ERROR, UNBIASED = 0, 1

_int32, _int64, _size = ctypes.c_int32, ctypes.c_int64, ctypes.c_size_t
_pointer = ctypes.c_void_p


class Error(Exception):
    """A call that did not return POLAR_OK."""

    def __init__(self, status, text):
        super().__init__(f"status {status}: {text}")
        self.status = status


class CodecOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("learn_centre", _int32),
                ("seed", ctypes.c_uint64), ("centre", _pointer), ("norm_unit", ctypes.c_double)]


class CodecInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("dim", _int32), ("metric", _int32),
                ("is_trained", _int32), ("state_origin", _int32), ("group_rows", _int32),
                ("seed", ctypes.c_uint64), ("code_bytes", _size), ("factor_bytes", _size),
                ("tail_row_bytes", _size), ("bits_per_dim", ctypes.c_double),
                ("mse", ctypes.c_double),
                ("centre_norm", ctypes.c_double), ("norm_unit", ctypes.c_double),
                ("state_id", ctypes.c_uint64)]


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        lib = self.lib
        lib.polar_last_error.restype = _size
        lib.polar_last_error.argtypes = [ctypes.c_char_p, _size]
        lib.polar_codec_options_init_sized.restype = None
        lib.polar_codec_options_init_sized.argtypes = [_pointer, _size]
        lib.polar_codec_destroy.restype = None
        lib.polar_codec_destroy.argtypes = [_pointer]
        lib.polar_query_destroy.restype = None
        lib.polar_query_destroy.argtypes = [_pointer]
        calls = {
            "polar_codec_create": [ctypes.c_char_p, _int32, _int32, _pointer, _pointer],
            "polar_codec_get_info": [_pointer, _pointer],
            "polar_codec_train": [_pointer, _int64, _pointer, _pointer],
            "polar_codec_encoded_bytes": [_pointer, _int64, _pointer],
            "polar_codec_encode": [_pointer, _int64, _pointer, _pointer, _pointer, _size],
            "polar_codec_decode": [_pointer, _int64, _pointer, _size, _int32, _pointer, _pointer],
            "polar_query_prepare": [_pointer, _pointer, _pointer],
            "polar_query_prepare_from_code": [_pointer, _int64, _pointer, _size, _int64, _pointer],
            "polar_codec_score": [_pointer, _pointer, _int64, _pointer, _size, _pointer, _pointer],
            "polar_codec_search": [_pointer, _int64, _pointer, _int64, _pointer, _size, _int64,
                                   _pointer, _pointer, _pointer],
            "polar_codec_score_codes": [_pointer, _int64, _pointer, _size, _int64, _pointer, _size,
                                        _pointer, _pointer],
            "polar_codec_combine": [_pointer, _int64, _pointer, _size, _int64, _pointer, _pointer,
                                    _pointer],
            "polar_codec_save_state": [_pointer, _pointer, _size, _pointer],
        }
        for name, arguments in calls.items():
            function = getattr(lib, name)
            function.restype = _int32
            function.argtypes = arguments

    def check(self, status):
        if status != 0:
            text = ctypes.create_string_buffer(1024)
            self.lib.polar_last_error(text, len(text))
            raise Error(status, text.value.decode("utf-8", "replace"))

    def codec(self, spec, dim, metric=INNER_PRODUCT, **options):
        return Codec(self, spec, dim, metric, options)


def _floats(x):
    return np.ascontiguousarray(x, dtype=np.float32)


class Codec:
    """options: seed, centre, norm_unit, learn_centre, as in polar_codec_options."""

    def __init__(self, library, spec, dim, metric, options):
        self.library, self.lib, self.dim = library, library.lib, dim
        self.handle = _pointer()
        raw = CodecOptions()
        self.lib.polar_codec_options_init_sized(ctypes.byref(raw), ctypes.sizeof(raw))
        centre = options.pop("centre", None)
        if centre is not None:
            centre = _floats(centre)
            raw.centre = centre.ctypes.data
        for name, value in options.items():
            setattr(raw, name, value)
        library.check(self.lib.polar_codec_create(spec.encode(), dim, metric, ctypes.byref(raw),
                                                  ctypes.byref(self.handle)))

    def __del__(self):
        self.lib.polar_codec_destroy(self.handle)

    def info(self):
        info = CodecInfo(struct_size=ctypes.sizeof(CodecInfo))
        self.library.check(self.lib.polar_codec_get_info(self.handle, ctypes.byref(info)))
        return info

    def train(self, x):
        x = _floats(x)
        self.library.check(self.lib.polar_codec_train(self.handle, len(x), x.ctypes.data, None))

    def encoded_bytes(self, n):
        size = _size()
        self.library.check(self.lib.polar_codec_encoded_bytes(self.handle, n, ctypes.byref(size)))
        return size.value

    def encode(self, x):
        """x: (n, dim). One flat array of bytes."""
        x = _floats(x)
        codes = np.zeros(self.encoded_bytes(len(x)), dtype=np.uint8)
        self.library.check(self.lib.polar_codec_encode(self.handle, len(x), x.ctypes.data,
                                                       None, codes.ctypes.data, codes.size))
        return codes

    def decode(self, codes, n, kind=LEAST_ERROR):
        out = np.zeros((n, self.dim), dtype=np.float32)
        self.library.check(self.lib.polar_codec_decode(self.handle, n, codes.ctypes.data,
                                                       codes.size, kind, None, out.ctypes.data))
        return out

    def score(self, q, codes, n):
        """q: (dim). Scores, (n)."""
        q = _floats(q)
        query = _pointer()
        self.library.check(self.lib.polar_query_prepare(self.handle, q.ctypes.data,
                                                        ctypes.byref(query)))
        try:
            scores = np.zeros(n, dtype=np.float32)
            self.library.check(self.lib.polar_codec_score(self.handle, query, n, codes.ctypes.data,
                                                          codes.size, None, scores.ctypes.data))
            return scores
        finally:
            self.lib.polar_query_destroy(query)

    def search(self, queries, codes, n, k):
        """Scores and ids, (nq, k)."""
        queries = _floats(queries)
        scores = np.zeros((len(queries), k), dtype=np.float32)
        ids = np.zeros((len(queries), k), dtype=np.int64)
        self.library.check(self.lib.polar_codec_search(self.handle, len(queries),
                                                       queries.ctypes.data, n, codes.ctypes.data,
                                                       codes.size, k, None, scores.ctypes.data,
                                                       ids.ctypes.data))
        return scores, ids

    def combine(self, codes, n, weights):
        """weights: (nw, n). Sums, (nw, dim)."""
        weights = _floats(weights)
        out = np.zeros((len(weights), self.dim), dtype=np.float32)
        self.library.check(self.lib.polar_codec_combine(self.handle, n, codes.ctypes.data,
                                                        codes.size, len(weights),
                                                        weights.ctypes.data, None, out.ctypes.data))
        return out

    def save_state(self):
        needed = _size()
        self.library.check(self.lib.polar_codec_save_state(self.handle, None, 0,
                                                           ctypes.byref(needed)))
        out = np.zeros(needed.value, dtype=np.uint8)
        self.library.check(self.lib.polar_codec_save_state(self.handle, out.ctypes.data, out.size,
                                                           ctypes.byref(needed)))
        return out.tobytes()
