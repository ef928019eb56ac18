# SPDX-License-Identifier: MIT
"""libpolarquant, loaded once, with the prototypes of its functions.

The library lies inside the package. The environment's POLARQUANT_LIBRARY names another one, as the
tests do for the library that was just built.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import sys
from ctypes import c_char_p, c_float, c_int32, c_int64, c_size_t, c_void_p
from typing import Any, TypeVar

from polarquant import _structs
from polarquant.errors import error_for

_STATUS = c_int32
_HANDLE = c_void_p  # a polar_codec*, polar_index*, …
_OUT = c_void_p  # where one value or handle is written
_ARRAY = c_void_p  # an array's address
_OPTIONS = c_void_p  # a struct of options or a filter, or NULL
_BLOCKS = c_void_p  # a polar_blocks
#: How many, and these.
_QUERIES = [c_int64, _ARRAY]
#: Queries, k, options, scores, ids.
_SEARCH = [*_QUERIES, c_int64, _OPTIONS, _ARRAY, _ARRAY]
#: Radius, options, capacity, lims, scores, ids.
_RANGE = [c_float, _OPTIONS, c_int64, _ARRAY, _ARRAY, _ARRAY]
#: Codec, heads, queries or weights of a head, these, rows of a head, codes, their bytes, stream, out.
_OVER_HEADS = [_HANDLE, c_int64, c_int64, _ARRAY, c_int64, _ARRAY, c_size_t, c_void_p, _ARRAY]

#: The oldest and the first too new version that these prototypes are right for.
_VERSIONS = ((0, 1), (0, 2))

# name: (result, arguments). One row for each function used.
PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "polar_version": (c_int32, []),
    "polar_version_string": (c_char_p, []),
    "polar_status_name": (c_char_p, [_STATUS]),
    "polar_last_error": (c_size_t, [c_char_p, c_size_t]),
    "polar_spec_help": (c_size_t, [c_char_p, c_size_t]),
    "polar_search_options_init_sized": (None, [_OPTIONS, c_size_t]),
    "polar_work_options_init_sized": (None, [_OPTIONS, c_size_t]),
    "polar_filter_init_sized": (None, [_OPTIONS, c_size_t]),
    "polar_prepared_filter_create": (_STATUS, [_OPTIONS, _OUT]),
    "polar_prepared_filter_destroy": (None, [_HANDLE]),
    # codec
    "polar_codec_options_init_sized": (None, [_OPTIONS, c_size_t]),
    "polar_codec_create": (_STATUS, [c_char_p, c_int32, c_int32, _OPTIONS, _OUT]),
    "polar_codec_destroy": (None, [_HANDLE]),
    "polar_codec_get_info": (_STATUS, [_HANDLE, _OUT]),
    "polar_codec_spec": (c_size_t, [_HANDLE, c_char_p, c_size_t]),
    "polar_codec_get_centre": (_STATUS, [_HANDLE, _ARRAY]),
    "polar_codec_memory_bytes": (_STATUS, [_HANDLE, _OUT]),
    "polar_codec_train": (_STATUS, [_HANDLE, c_int64, _ARRAY, _OPTIONS]),
    "polar_codec_get_plan": (_STATUS, [_HANDLE, _OUT, _ARRAY, c_int64]),
    "polar_codec_drift": (_STATUS, [_HANDLE, c_int64, _ARRAY, _OPTIONS, _OUT]),
    "polar_codec_encoded_bytes": (_STATUS, [_HANDLE, c_int64, _OUT]),
    "polar_codec_encode": (_STATUS, [_HANDLE, c_int64, _ARRAY, _OPTIONS, _ARRAY, c_size_t]),
    "polar_codec_decode": (
        _STATUS,
        [_HANDLE, c_int64, _ARRAY, c_size_t, c_int32, _OPTIONS, _ARRAY],
    ),
    "polar_query_prepare": (_STATUS, [_HANDLE, _ARRAY, _OUT]),
    "polar_query_prepare_from_code": (
        _STATUS,
        [_HANDLE, c_int64, _ARRAY, c_size_t, c_int64, _OUT],
    ),
    "polar_query_destroy": (None, [_HANDLE]),
    "polar_codec_score": (_STATUS, [_HANDLE, _HANDLE, c_int64, _ARRAY, c_size_t, _OPTIONS, _ARRAY]),
    "polar_codec_search": (
        _STATUS,
        [_HANDLE, *_QUERIES, c_int64, _ARRAY, c_size_t, c_int64, _OPTIONS, _ARRAY, _ARRAY],
    ),
    "polar_codec_range_search": (
        _STATUS,
        [_HANDLE, *_QUERIES, c_int64, _ARRAY, c_size_t, *_RANGE],
    ),
    "polar_codec_score_codes": (
        _STATUS,
        [_HANDLE, c_int64, _ARRAY, c_size_t, c_int64, _ARRAY, c_size_t, _OPTIONS, _ARRAY],
    ),
    "polar_codec_combine": (
        _STATUS,
        [_HANDLE, c_int64, _ARRAY, c_size_t, c_int64, _ARRAY, _OPTIONS, _ARRAY],
    ),
    "polar_codec_save_state": (_STATUS, [_HANDLE, _ARRAY, c_size_t, _OUT]),
    "polar_codec_load_state": (_STATUS, [_ARRAY, c_size_t, _OUT]),
    "polar_codec_check_same_state": (_STATUS, [_HANDLE, _HANDLE]),
    # blocks
    "polar_blocks_bytes": (_STATUS, [_HANDLE, c_int64, _OUT]),
    "polar_blocks_append": (_STATUS, [_HANDLE, _BLOCKS, c_int64, _ARRAY, c_size_t]),
    "polar_blocks_get": (_STATUS, [_HANDLE, _BLOCKS, c_int64, c_int64, _ARRAY, c_size_t]),
    "polar_blocks_overwrite": (_STATUS, [_HANDLE, _BLOCKS, c_int64, _ARRAY, c_size_t]),
    "polar_blocks_remove": (_STATUS, [_HANDLE, _BLOCKS, _ARRAY]),
    "polar_blocks_swap_remove": (_STATUS, [_HANDLE, _BLOCKS, c_int64]),
    "polar_blocks_search": (_STATUS, [_HANDLE, _BLOCKS, *_SEARCH]),
    "polar_blocks_partial_bytes": (_STATUS, [_HANDLE, _BLOCKS, c_int64, c_int64, _OUT]),
    "polar_blocks_search_partial": (
        _STATUS,
        [_HANDLE, _BLOCKS, c_int64, c_int64, _ARRAY, c_int64, _OPTIONS, c_size_t, _ARRAY, _OUT],
    ),
    "polar_blocks_range_search": (_STATUS, [_HANDLE, _BLOCKS, *_QUERIES, *_RANGE]),
    # advice
    "polar_advice_options_init_sized": (None, [_OPTIONS, c_size_t]),
    "polar_advice_create": (
        _STATUS,
        [c_int32, c_int32, c_int64, _ARRAY, c_int64, _ARRAY, _OPTIONS, _OUT],
    ),
    "polar_advice_destroy": (None, [_HANDLE]),
    "polar_advice_get_info": (_STATUS, [_HANDLE, _OUT]),
    "polar_advice_get_row": (_STATUS, [_HANDLE, c_int64, _OUT]),
    # index
    "polar_index_create": (_STATUS, [c_char_p, c_int32, c_int32, _OUT]),
    "polar_index_destroy": (None, [_HANDLE]),
    "polar_index_train": (_STATUS, [_HANDLE, c_int64, _ARRAY, _OPTIONS]),
    "polar_index_add": (_STATUS, [_HANDLE, c_int64, _ARRAY, _OPTIONS]),
    "polar_index_add_with_ids": (_STATUS, [_HANDLE, c_int64, _ARRAY, _ARRAY, _OPTIONS]),
    "polar_index_search": (_STATUS, [_HANDLE, *_SEARCH]),
    "polar_index_nlist": (c_int64, [_HANDLE]),
    "polar_index_nprobe": (c_int64, [_HANDLE]),
    "polar_index_set_nprobe": (_STATUS, [_HANDLE, c_int64]),
    "polar_index_train_with_centroids": (
        _STATUS,
        [_HANDLE, c_int64, _ARRAY, c_int64, _ARRAY, _OPTIONS],
    ),
    "polar_index_add_to_lists": (_STATUS, [_HANDLE, c_int64, _ARRAY, _ARRAY, _ARRAY, _OPTIONS]),
    "polar_index_ntotal": (c_int64, [_HANDLE]),
    "polar_index_is_trained": (c_int32, [_HANDLE]),
    "polar_index_code_size": (_STATUS, [_HANDLE, _OUT]),
    "polar_index_reconstruct": (_STATUS, [_HANDLE, c_int64, _ARRAY]),
    "polar_index_range_search": (_STATUS, [_HANDLE, *_QUERIES, *_RANGE]),
    "polar_index_remove": (_STATUS, [_HANDLE, c_int64, _ARRAY, _OUT]),
    "polar_index_remove_filtered": (_STATUS, [_HANDLE, _OPTIONS, _OUT]),
    "polar_index_compact": (_STATUS, [_HANDLE, _OPTIONS]),
    "polar_index_merge": (_STATUS, [_HANDLE, _HANDLE, _OPTIONS]),
    "polar_index_upsert": (_STATUS, [_HANDLE, c_int64, _ARRAY, _ARRAY, _OPTIONS]),
    "polar_index_update": (_STATUS, [_HANDLE, c_int64, _ARRAY, _ARRAY, _OPTIONS]),
    "polar_index_get_info": (_STATUS, [_HANDLE, _OUT]),
    "polar_index_description": (c_size_t, [_HANDLE, c_char_p, c_size_t]),
    "polar_index_explain": (
        _STATUS,
        [_HANDLE, c_int64, c_int64, _OPTIONS, c_char_p, c_size_t, _OUT],
    ),
    # index files
    "polar_load_options_init_sized": (None, [_OPTIONS, c_size_t]),
    "polar_save_options_init_sized": (None, [_OPTIONS, c_size_t]),
    "polar_index_save": (_STATUS, [_HANDLE, c_char_p, _OPTIONS]),
    "polar_index_save_to": (_STATUS, [_HANDLE, _structs.WriteFunction, c_void_p, _OPTIONS]),
    "polar_index_load": (_STATUS, [c_char_p, _OPTIONS, _OUT]),
    "polar_index_load_from": (
        _STATUS,
        [_structs.ReadFunction, c_void_p, _OPTIONS, _OUT],
    ),
    "polar_index_verify": (_STATUS, [_HANDLE]),
    "polar_index_clone": (_STATUS, [_HANDLE, _OUT]),
    "polar_index_memory_bytes": (_STATUS, [_HANDLE, _OUT]),
    # index files in parts
    "polar_merge_files": (_STATUS, [c_int64, _ARRAY, c_char_p, _OPTIONS]),
    "polar_index_load_empty": (_STATUS, [c_char_p, _OUT]),
    "polar_index_open_shards": (_STATUS, [c_int64, _ARRAY, _OUT]),
    "polar_index_partial_bytes": (_STATUS, [_HANDLE, c_int64, c_int64, _OUT]),
    "polar_index_search_partial": (
        _STATUS,
        [_HANDLE, c_int64, c_int64, _ARRAY, c_int64, _OPTIONS, c_size_t, _ARRAY, _OUT],
    ),
    "polar_merge_partials": (_STATUS, [c_int64, _ARRAY, _ARRAY, c_int64, c_int64, _ARRAY, _ARRAY]),
    "polar_builder_options_init_sized": (None, [_OPTIONS, c_size_t]),
    "polar_builder_create": (_STATUS, [_HANDLE, c_char_p, _OPTIONS, _OUT]),
    "polar_builder_resume": (_STATUS, [c_char_p, _OPTIONS, _OUT]),
    "polar_builder_destroy": (None, [_HANDLE]),
    "polar_builder_add": (_STATUS, [_HANDLE, c_int64, _ARRAY, _OPTIONS]),
    "polar_builder_add_with_ids": (_STATUS, [_HANDLE, c_int64, _ARRAY, _ARRAY, _OPTIONS]),
    "polar_builder_write_part": (_STATUS, [_HANDLE]),
    "polar_builder_finish": (_STATUS, [_HANDLE, _OPTIONS]),
    "polar_builder_dim": (c_int32, [_HANDLE]),
    "polar_builder_ntotal": (c_int64, [_HANDLE]),
    "polar_builder_written": (c_int64, [_HANDLE]),
    # cuda
    "polar_cuda_device_count": (_STATUS, [_OUT]),
    "polar_cuda_get_device_info": (_STATUS, [c_int32, _OUT]),
    "polar_cuda_options_init_sized": (None, [_OPTIONS, c_size_t]),
    "polar_cuda_index_from_index": (_STATUS, [_HANDLE, _OPTIONS, _OUT]),
    "polar_cuda_index_from_codes": (
        _STATUS,
        [_HANDLE, c_int64, _ARRAY, c_size_t, _OPTIONS, _OUT],
    ),
    "polar_cuda_index_refresh": (_STATUS, [_HANDLE, _HANDLE]),
    "polar_cuda_index_destroy": (None, [_HANDLE]),
    "polar_cuda_index_search": (
        _STATUS,
        [_HANDLE, c_int64, _ARRAY, c_int64, _OPTIONS, c_void_p, _ARRAY, _ARRAY],
    ),
    "polar_cuda_index_ntotal": (c_int64, [_HANDLE]),
    "polar_cuda_index_memory_bytes": (_STATUS, [_HANDLE, _OUT]),
    "polar_cuda_search_create": (_STATUS, [_HANDLE, c_int64, c_int64, _OPTIONS, _OUT]),
    "polar_cuda_search_destroy": (None, [_HANDLE]),
    "polar_cuda_search_memory_bytes": (_STATUS, [_HANDLE, _OUT]),
    "polar_cuda_search_start": (_STATUS, [_HANDLE, _ARRAY, c_void_p, _ARRAY, _ARRAY, _ARRAY]),
    "polar_cuda_encoder_create": (_STATUS, [_HANDLE, _OPTIONS, _OUT]),
    "polar_cuda_encoder_destroy": (None, [_HANDLE]),
    "polar_cuda_encoder_encode": (
        _STATUS,
        [_HANDLE, c_int64, _ARRAY, _ARRAY, c_size_t, c_void_p],
    ),
    "polar_cuda_codec_create": (_STATUS, [_HANDLE, _OPTIONS, _OUT]),
    "polar_cuda_codec_destroy": (None, [_HANDLE]),
    "polar_cuda_codec_score": (_STATUS, _OVER_HEADS),
    "polar_cuda_codec_combine": (_STATUS, _OVER_HEADS),
}


def library_name() -> str:
    """What this system calls the library inside the package."""
    names = {"win32": "polarquant.dll", "darwin": "libpolarquant.dylib"}
    return names.get(sys.platform, "libpolarquant.so")


def library_path() -> str:
    """Where the library lies."""
    return os.environ.get("POLARQUANT_LIBRARY") or str(
        pathlib.Path(__file__).with_name(library_name())
    )


def _load() -> ctypes.CDLL:
    path = library_path()
    try:
        # A CDLL's functions run without the interpreter's lock.
        loaded = ctypes.CDLL(path)
        for name, (result, arguments) in PROTOTYPES.items():
            function = getattr(loaded, name)
            function.restype = result
            function.argtypes = arguments
    except (OSError, AttributeError) as error:
        raise ImportError(
            f"polarquant: its shared library cannot be used: {error}. Install the package (pip "
            "install ./bindings/python), or set POLARQUANT_LIBRARY to the library of the same "
            "version",
            name="polarquant",
            path=path,
        ) from error
    version = divmod(loaded.polar_version() // 100, 100)
    if not _VERSIONS[0] <= version < _VERSIONS[1]:
        raise ImportError(
            f"polarquant: {path} is version {version[0]}.{version[1]}; this package needs "
            f"{_VERSIONS[0][0]}.{_VERSIONS[0][1]}",
            name="polarquant",
            path=path,
        )
    return loaded


lib = _load()


def read_text(function: Any, *arguments: Any) -> str:
    """The text of a function that copies one into a buffer and returns its length."""
    length = function(*arguments, None, 0)
    buffer = ctypes.create_string_buffer(length + 1)
    function(*arguments, buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace")


def check(status: int) -> None:
    """Raises the exception of a status that is not 0, with this thread's error text."""
    if status != 0:
        raise error_for(status, read_text(lib.polar_last_error))


_Struct = TypeVar("_Struct", bound=ctypes.Structure)
_defaults: dict[type[ctypes.Structure], bytes] = {}


def default_options(struct: type[_Struct], init: Any) -> _Struct:
    """An options struct as the library's init function fills it."""
    filled = _defaults.get(struct)
    if filled is None:
        first = struct()
        init(ctypes.byref(first), ctypes.sizeof(struct))
        filled = _defaults[struct] = bytes(first)
    return struct.from_buffer_copy(filled)


def sized(struct: type[_Struct]) -> _Struct:
    """A struct for the library to fill, which reads its size first."""
    return struct(struct_size=ctypes.sizeof(struct))


def work_options(num_threads: int) -> _structs.WorkOptions:
    options = default_options(_structs.WorkOptions, lib.polar_work_options_init_sized)
    options.num_threads = num_threads
    return options


def search_options() -> _structs.SearchOptions:
    return default_options(_structs.SearchOptions, lib.polar_search_options_init_sized)
