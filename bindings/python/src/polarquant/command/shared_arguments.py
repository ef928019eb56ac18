# SPDX-License-Identifier: MIT
"""Arguments that several commands take, with the same words and limits."""

from __future__ import annotations

import argparse
from typing import Callable

from polarquant.metric import Metric, as_metric


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """An argument's type: an integer from low to high."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"{number} is not allowed; {low} to {high}")
        return number

    return read


_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def memory_size(low: int) -> Callable[[str], int]:
    """An argument's type: bytes, at least `low`, as 2G, 512M or a whole number."""

    def read(text: str) -> int:
        digits = text.upper().removesuffix("B").removesuffix("I")
        unit = digits[-1:] if digits[-1:] in _UNITS else ""
        try:
            size = int(float(digits.removesuffix(unit)) * _UNITS[unit])
        except (ValueError, OverflowError):
            raise argparse.ArgumentTypeError(f"{text!r} is no size; 2G and 512M are") from None
        if size < low:
            raise argparse.ArgumentTypeError(f"{text} is not allowed; {low >> 20}M and more")
        return size

    return read


def number(low: float, high: float) -> Callable[[str], float]:
    """An argument's type: a number from low to high."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
        # Written so that a NaN is refused too.
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text} is not allowed; {low:g} to {high:g}")
        return value

    return read


def _read_metric(text: str) -> Metric:
    try:
        return as_metric(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).partition(": ")[2]) from None


def add_metric(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metric",
        type=_read_metric,
        default=Metric.COSINE,
        metavar="M",
        help="ip (inner product), l2 or cosine (default)",
    )


def add_dataset(parser: argparse.ArgumentParser, option: str = "--dataset") -> None:
    parser.add_argument(
        option,
        default="",
        metavar="NAME",
        help="which dataset of an HDF5 file, or column of a Parquet file",
    )


def add_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--table", default="docs", metavar="NAME", help="of a database, a .db file (default docs)"
    )


def add_threads(parser: argparse.ArgumentParser, default: int = 0) -> None:
    parser.add_argument(
        "--threads",
        type=whole_number(0, 1024),
        default=default,
        metavar="N",
        help=f"of searches, 0 for all processors (default {default})",
    )
