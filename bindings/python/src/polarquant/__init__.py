# SPDX-License-Identifier: MIT
"""Polar codes for embedding vectors, searched without decoding.

>>> import numpy as np, polarquant
>>> x = np.random.default_rng(0).standard_normal((1000, 384), dtype=np.float32)
>>> index = polarquant.Index("Polar2", 384, "cosine")
>>> index.add(x)
>>> scores, ids = index.search(x[7], k=3)
>>> int(ids[0])
7

`Index` stores codes and searches them, with FAISS's verbs. `Codec` makes codes that the caller
keeps, and `CodeBlocks` holds them as searches read them fastest. `advise` measures on a sample
which code to take. `polarquant.cuda` searches on GPUs.
"""

from __future__ import annotations

from polarquant._library import lib as _lib
from polarquant.advice import Advice, AdviceRow, advise
from polarquant.blocks import CodeBlocks
from polarquant.builder import IndexBuilder, merge_files
from polarquant.codec import Codec
from polarquant.codec_info import CodecInfo, Plan, Segment, spec_help
from polarquant.errors import (
    BadArgumentError,
    CancelledError,
    CorruptDataError,
    CudaError,
    InputOutputError,
    InternalError,
    NewerFormatError,
    NotFoundError,
    NotTrainedError,
    OutOfMemoryError,
    PolarError,
    StateMismatchError,
    UnsupportedError,
)
from polarquant.filters import Bitset, IdSet
from polarquant.index import Index
from polarquant.metric import Metric
from polarquant.partials import Part
from polarquant.query import Query
from polarquant.shards import ShardedIndex

__all__ = [
    "Advice",
    "AdviceRow",
    "BadArgumentError",
    "Bitset",
    "IdSet",
    "CancelledError",
    "CodeBlocks",
    "Codec",
    "CodecInfo",
    "CorruptDataError",
    "CudaError",
    "Index",
    "IndexBuilder",
    "InputOutputError",
    "InternalError",
    "Metric",
    "NewerFormatError",
    "NotFoundError",
    "NotTrainedError",
    "OutOfMemoryError",
    "Plan",
    "Part",
    "PolarError",
    "Query",
    "Segment",
    "ShardedIndex",
    "StateMismatchError",
    "UnsupportedError",
    "__version__",
    "advise",
    "merge_files",
    "spec_help",
]

__version__: str = _lib.polar_version_string().decode()
