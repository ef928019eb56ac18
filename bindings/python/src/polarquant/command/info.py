# SPDX-License-Identifier: MIT
"""polar info: what is in a file, or what a code is."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from polarquant.codec import Codec
from polarquant.codec_info import spec_help
from polarquant.command import vector_files
from polarquant.command.failure import CommandError
from polarquant.command.shared_arguments import add_dataset, add_metric, whole_number
from polarquant.command.text_table import format_bytes, format_pairs
from polarquant.errors import BadArgumentError, UnsupportedError
from polarquant.index import Index

HELP = "what is in a file, or what a code is"
DESCRIPTION = """\
Tells of an index file, a file of a codec's state, a file of vectors, or the name of a code. Without an
argument: how codes are named.
"""
EXAMPLES = """\
examples:
  polar info
  polar info rows.polar
  polar info vectors.hdf5 --dataset test
  polar info Polar4 --dim 384
  polar info rows.polar --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", help="a file, or a code as Polar4")
    parser.add_argument(
        "--dim", type=whole_number(1, 65535), default=384, help="of a code (default 384)"
    )
    add_metric(parser)
    add_dataset(parser)
    parser.add_argument("--verify", action="store_true", help="read and check all of an index file")
    parser.add_argument(
        "--trust-faiss",
        action="store_true",
        help="read FAISS's own kinds too, unchecked: for files from whom you trust",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(given: argparse.Namespace) -> int:
    if given.what is None:
        print(spec_help().rstrip())
        return 0
    told = _describe(given)
    if given.json:
        print(json.dumps({name: value for name, value, _ in told}, indent=2, ensure_ascii=False))
    else:
        print(format_pairs([(name.replace("_", " "), text) for name, _, text in told]))
    return 0


#: Name, value, and the value for people.
_Told = list[tuple[str, Any, str]]


def _plain(**values: Any) -> _Told:
    return [
        (name, value, f"{value:g}" if isinstance(value, float) else str(value))
        for name, value in values.items()
    ]


def _bytes(**values: int) -> _Told:
    return [(name, value, format_bytes(value)) for name, value in values.items()]


def _describe(given: argparse.Namespace) -> _Told:
    path = given.what
    if not os.path.exists(path):
        return _describe_code(path, given)
    if vector_files.find_format(path) is not None:
        return _describe_vectors(path, given.dataset)
    with open(path, "rb") as file:
        begin = file.read(8)
    # Of docs/format.md.
    if begin == b"PQINDEX\0":
        return _describe_index(path, given)
    if begin == b"PQCODEC\0":
        return _describe_state(path)
    raise CommandError(
        f"{path}: is neither an index file, nor a codec's state, nor vectors "
        f"({', '.join(vector_files.ENDINGS)})"
    )


def _describe_index(path: str, given: argparse.Namespace) -> _Told:
    with Index.load(path, memory_map=True, trust_faiss=given.trust_faiss) as index:
        told = _plain(
            kind="index",
            index=index.description,
            dim=index.dim,
            metric=index.metric.name.lower(),
            vectors=index.ntotal,
            is_trained=index.is_trained,
        )
        try:
            told += _bytes(code_size=index.code_size)
        except UnsupportedError:  # rows share codes, or FAISS does not tell
            pass
        size = os.path.getsize(path)
        told += _bytes(file_size=size, memory_when_mapped=index.memory_bytes)
        if index.ntotal > 0:
            floats = 4 * index.dim * index.ntotal
            told += _plain(file_bytes_per_vector=size / index.ntotal)
            told += [("share_of_floats", size / floats, f"{size / floats:.1%}")]
            if index.is_trained:
                told += _plans(index)
        if given.verify:
            index.verify()
            told += _plain(verified=True)
    return told


def _plans(index: Index) -> _Told:
    """What searches of one query, and of 1,000, would do."""
    told: _Told = []
    for name, nq in (("one_query", 1), ("1000_queries", 1000)):
        lines = index.explain(nq).splitlines()
        plan = dict(line.split(": ", 1) for line in lines)
        told.append((name, plan, "".join(f"\n  {line}" for line in lines)))
    return told


def _describe_state(path: str) -> _Told:
    with open(path, "rb") as file:
        codec = Codec.load_state(file.read())
    return _plain(kind="codec state") + _describe_codec(codec)


def _describe_code(name: str, given: argparse.Namespace) -> _Told:
    try:
        codec = Codec(name, given.dim, given.metric)
    except BadArgumentError as error:
        raise CommandError(f"{name}: no such file, and no code: {error}") from None
    return _plain(kind="code") + _describe_codec(codec)


def _describe_codec(codec: Codec) -> _Told:
    info = codec.info
    told = _plain(
        code=codec.spec,
        dim=info.dim,
        metric=info.metric.name.lower(),
        needs_training=not info.is_trained,
        bits_per_dim=info.bits_per_dim,
    )
    told += _bytes(code_size=info.code_bytes, of_these_factors=info.factor_bytes)
    floats = info.bits_per_dim / 32
    told += [("share_of_floats", floats, f"{floats:.1%}")]
    if info.group_rows > 1:
        told += _plain(rows_that_share_a_code=info.group_rows)
    if info.mse > 0:
        told += [("error_per_dim", info.mse, f"{info.mse:.4g} of a unit Gaussian's variance")]
    told += _plain(seed=info.seed, centre_norm=info.centre_norm, norm_unit=info.norm_unit)
    return told + _bytes(memory=codec.memory_bytes)


def _describe_vectors(path: str, dataset: str) -> _Told:
    vectors = vector_files.open_vectors(path, dataset)
    told = _plain(kind="vectors", vectors=vectors.count, dim=vectors.dim, dtype=vectors.dtype)
    return told + _bytes(file_size=os.path.getsize(path))
