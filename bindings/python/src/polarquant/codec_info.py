# SPDX-License-Identifier: MIT
"""What codecs tell of themselves."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

from polarquant import _structs
from polarquant._library import check, lib, read_text, sized
from polarquant.metric import Metric


class CodecInfo(NamedTuple):
    """What a codec is; see polar_codec_info in the C header."""

    dim: int
    """Dimensions of a vector."""
    metric: Metric
    """How scores are measured."""
    is_trained: bool
    """False only while `Codec.encode` must wait for `Codec.train`."""
    state_origin: int
    """Centre and unit: 0 as created, 2 trained; 1, of earlier versions, from an index's first rows."""
    group_rows: int
    """Rows that share a code; 1 for all but "PolarPair…g128"."""
    seed: int
    """Of the rotation."""
    code_bytes: int
    """Bytes of one code (of `group_rows` rows), factors included."""
    factor_bytes: int
    """Of these, the factors."""
    tail_row_bytes: int
    """Bytes of a row of the unfinished last group; 0 when `group_rows` is 1."""
    bits_per_dim: float
    """8·code_bytes / (group_rows·dim)."""
    mse: float
    """Error per dimension on the unit Gaussian; 0 where not defined."""
    centre_norm: float
    """Length of the centre."""
    norm_unit: float
    """Power of two near the typical distance of a row from the centre."""
    state_id: int
    """Equal exactly for codecs whose codes mix."""


class Segment(NamedTuple):
    """Rotated coordinates of a trained code that have one rate."""

    first: int
    """Its first coordinate."""
    dim: int
    """Coordinates."""
    bits: float
    """Bits a dimension; 0 where nothing is stored."""
    scale: float
    """Standard deviation of its coordinates."""


class Plan(NamedTuple):
    """What a "…-pca" codec learned."""

    has_basis: bool
    """False: training gained too little on held out rows, so codes are the untrained codec's."""
    error: float
    """Mean ‖x̂ − x‖² / ‖x − c‖² on rows that were held out."""
    untrained_error: float
    """The same of the untrained codec."""
    segments: tuple[Segment, ...]
    """By falling variance."""


def read_info(codec: int) -> CodecInfo:
    """Of the codec of this handle."""
    raw = sized(_structs.CodecInfo)
    check(lib.polar_codec_get_info(codec, ctypes.byref(raw)))
    values = {name: getattr(raw, name) for name in CodecInfo._fields}
    values.update(metric=Metric(raw.metric), is_trained=bool(raw.is_trained))
    return CodecInfo(**values)


def read_plan(codec: int) -> Plan:
    """Of the codec of this handle."""
    raw = sized(_structs.CodecPlan)
    check(lib.polar_codec_get_plan(codec, ctypes.byref(raw), None, 0))
    segments = (_structs.Segment * raw.segments)()
    check(lib.polar_codec_get_plan(codec, ctypes.byref(raw), segments, raw.segments))
    return Plan(
        bool(raw.has_basis),
        raw.error,
        raw.untrained_error,
        tuple(Segment(s.first, s.dim, s.bits, s.scale) for s in segments),
    )


def read_state(codec: int) -> bytes:
    """Of the codec of this handle."""
    needed = ctypes.c_size_t()
    check(lib.polar_codec_save_state(codec, None, 0, ctypes.byref(needed)))
    out = (ctypes.c_uint8 * needed.value)()
    check(lib.polar_codec_save_state(codec, out, needed.value, ctypes.byref(needed)))
    return bytes(out)


def spec_help() -> str:
    """A text that lists every codec name's form, meaning and an example."""
    return read_text(lib.polar_spec_help)
