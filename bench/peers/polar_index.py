# SPDX-License-Identifier: MIT
"""The index half of the C ABI of include/polarquant/polarquant.h, with calls that cost little."""
import ctypes

INNER_PRODUCT = 0
ERROR_TEXT_BYTES = 1024

_int32, _int64, _size = ctypes.c_int32, ctypes.c_int64, ctypes.c_size_t
_pointer = ctypes.c_void_p

_STATUS_CALLS = {
    "polar_index_create": [ctypes.c_char_p, _int32, _int32, _pointer],
    "polar_index_train": [_pointer, _int64, _pointer],
    "polar_index_add": [_pointer, _int64, _pointer],
    "polar_index_search": [_pointer, _int64, _pointer, _int64, _int32, _pointer, _pointer],
    "polar_index_code_size": [_pointer, _pointer],
}


class PolarError(Exception):
    """A call that did not return POLAR_OK."""


class PolarLibrary:
    def __init__(self, path):
        self._lib = lib = ctypes.CDLL(str(path))
        lib.polar_last_error.restype = _size
        lib.polar_last_error.argtypes = [ctypes.c_char_p, _size]
        lib.polar_version_string.restype = ctypes.c_char_p
        lib.polar_version_string.argtypes = []
        lib.polar_index_destroy.restype = None
        lib.polar_index_destroy.argtypes = [_pointer]
        for name, arguments in _STATUS_CALLS.items():
            function = getattr(lib, name)
            function.restype = _int32
            function.argtypes = arguments
            function.errcheck = self._check

    def _check(self, status, function, _arguments):
        if status != 0:
            text = ctypes.create_string_buffer(ERROR_TEXT_BYTES)
            self._lib.polar_last_error(text, len(text))
            raise PolarError(f"{function.__name__}: {text.value.decode('utf-8', 'replace')}")
        return status

    def version(self):
        return self._lib.polar_version_string().decode()

    def index(self, description, dim):
        return PolarIndex(self._lib, description, dim)


class PolarIndex:
    """Arrays must be C-contiguous float32, and int64 for ids."""

    def __init__(self, lib, description, dim):
        self._lib = lib
        self._handle = _pointer()
        lib.polar_index_create(description.encode(), dim, INNER_PRODUCT, ctypes.byref(self._handle))

    def __del__(self):
        self._lib.polar_index_destroy(self._handle)

    def train(self, x):
        self._lib.polar_index_train(self._handle, len(x), x.ctypes.data)

    def add(self, x):
        self._lib.polar_index_add(self._handle, len(x), x.ctypes.data)

    def code_size(self):
        size = _size()
        self._lib.polar_index_code_size(self._handle, ctypes.byref(size))
        return size.value

    def search_call(self, queries, k, scores, ids):
        """The function and its arguments, converted once; the caller keeps the arrays alive.

        Search options of the C library belong here and nowhere else: they become arguments.
        """
        arguments = (self._handle, _int64(len(queries)), _pointer(queries.ctypes.data), _int64(k),
                     _int32(1), _pointer(scores.ctypes.data), _pointer(ids.ctypes.data))
        return self._lib.polar_index_search, arguments
