# SPDX-License-Identifier: MIT
"""The structs of include/polarquant/*.h, field for field; a test compares the layouts."""

from __future__ import annotations

import ctypes
from ctypes import (
    c_char,
    c_char_p,
    c_double,
    c_float,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)

#: int32_t progress(void* user, double done); non-zero stops the work.
ProgressFunction = ctypes.CFUNCTYPE(c_int32, c_void_p, c_double)
#: int32_t write(void* user, const void* data, size_t bytes); non-zero is a failure.
WriteFunction = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t)
#: int64_t read(void* user, void* data, size_t bytes): bytes read, negative for a failure.
ReadFunction = ctypes.CFUNCTYPE(c_int64, c_void_p, c_void_p, c_size_t)
#: int32_t keep(void* user, int64_t id); non-zero keeps the row.
KeepFunction = ctypes.CFUNCTYPE(c_int32, c_void_p, c_int64)


class WorkOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("num_threads", c_int32),
        ("progress", ProgressFunction),
        ("progress_user", c_void_p),
    ]


class Bitset(ctypes.Structure):
    _fields_ = [("words", c_void_p), ("num_bits", c_int64)]


class IdList(ctypes.Structure):
    _fields_ = [("ids", c_void_p), ("count", c_int64)]


class IdRange(ctypes.Structure):
    _fields_ = [("first", c_int64), ("end", c_int64)]


class IdCallback(ctypes.Structure):
    _fields_ = [("keep", KeepFunction), ("user", c_void_p)]


class Filter(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("kind", c_int32),
        ("bitset", Bitset),
        ("ids", IdList),
        ("range", IdRange),
        ("callback", IdCallback),
        ("prepared", c_void_p),
    ]


class SearchOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("num_threads", c_int32),
        ("exactness", c_float),
        ("reserved", c_int32),
        ("filter", c_void_p),
        ("progress", ProgressFunction),
        ("progress_user", c_void_p),
        ("nprobe", c_int64),
        ("ef_search", c_int64),
        ("k_factor", c_double),
    ]


class CodecOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("learn_centre", c_int32),
        ("seed", c_uint64),
        ("centre", c_void_p),
        ("norm_unit", c_double),
    ]


class CodecInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("dim", c_int32),
        ("metric", c_int32),
        ("is_trained", c_int32),
        ("state_origin", c_int32),
        ("group_rows", c_int32),
        ("seed", c_uint64),
        ("code_bytes", c_size_t),
        ("factor_bytes", c_size_t),
        ("tail_row_bytes", c_size_t),
        ("bits_per_dim", c_double),
        ("mse", c_double),
        ("centre_norm", c_double),
        ("norm_unit", c_double),
        ("state_id", c_uint64),
    ]


class Segment(ctypes.Structure):
    _fields_ = [
        ("first", c_int32),
        ("dim", c_int32),
        ("bits", c_double),
        ("scale", c_double),
    ]


class CodecPlan(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("has_basis", c_int32),
        ("segments", c_int64),
        ("error", c_double),
        ("untrained_error", c_double),
    ]


class Blocks(ctypes.Structure):
    _fields_ = [("rows", c_int64), ("data", c_void_p), ("bytes", c_size_t)]


class AdviceOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("num_threads", c_int32),
        ("seed", c_uint64),
        ("k", c_int64),
        ("wanted_recall", c_double),
        ("allowed_bytes", c_double),
        ("max_rows", c_int64),
        ("max_queries", c_int64),
        ("total_rows", c_int64),
        ("specs", ctypes.POINTER(c_char_p)),
        ("num_specs", c_int64),
        ("progress", ProgressFunction),
        ("progress_user", c_void_p),
    ]


class AdviceInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("held_out_queries", c_int32),
        ("rows", c_int64),
        ("recommended", c_int64),
        ("reason", c_char_p),
        ("queries", c_int64),
        ("base_rows", c_int64),
        ("train_rows", c_int64),
    ]


class AdviceRow(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("needs_training", c_int32),
        ("spec", c_char_p),
        ("problem", c_char_p),
        ("bytes_per_vector", c_double),
        ("recall", c_double),
        ("recall_margin", c_double),
        ("quarter_recall", c_double),
        ("expected_recall", c_double),
        ("error", c_double),
        ("gain", c_double),
        ("gain_margin", c_double),
        ("codec_bytes", c_size_t),
        ("pays", c_int32),
        ("is_recommended", c_int32),
    ]


class IndexInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("dim", c_int32),
        ("metric", c_int32),
        ("is_trained", c_int32),
        ("ntotal", c_int64),
    ]


class LoadOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("memory_map", c_int32),
        ("trust_faiss", c_int32),
        ("reserved", c_int32),
    ]


class SaveOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("verify", c_int32),
    ]


class BuilderOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("replace", c_int32),
        ("memory_bytes", c_int64),
    ]


class CudaDeviceInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("compute_major", c_int32),
        ("compute_minor", c_int32),
        ("multiprocessors", c_int32),
        ("total_bytes", c_uint64),
        ("free_bytes", c_uint64),
        ("name", c_char * 256),
    ]


class CudaOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("num_threads", c_int32),
        ("device", c_int32),
        ("num_devices", c_int32),
        ("devices", ctypes.POINTER(c_int32)),
        ("layout", c_int32),
        ("reserved", c_int32),
    ]


#: C name of each struct, for the test of the layouts.
STRUCTS: dict[str, type[ctypes.Structure]] = {
    "polar_work_options": WorkOptions,
    "polar_bitset": Bitset,
    "polar_id_list": IdList,
    "polar_id_range": IdRange,
    "polar_id_callback": IdCallback,
    "polar_filter": Filter,
    "polar_search_options": SearchOptions,
    "polar_codec_options": CodecOptions,
    "polar_codec_info": CodecInfo,
    "polar_segment": Segment,
    "polar_codec_plan": CodecPlan,
    "polar_blocks": Blocks,
    "polar_advice_options": AdviceOptions,
    "polar_advice_info": AdviceInfo,
    "polar_advice_row": AdviceRow,
    "polar_index_info": IndexInfo,
    "polar_load_options": LoadOptions,
    "polar_save_options": SaveOptions,
    "polar_builder_options": BuilderOptions,
    "polar_cuda_device_info": CudaDeviceInfo,
    "polar_cuda_options": CudaOptions,
}
