# SPDX-License-Identifier: MIT
"""Where polar bench searches our codes: on the CPU, or on a CUDA device."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from polarquant import cuda
from polarquant.command.bench_contenders import Named
from polarquant.command.failure import CommandError

_CUDA = "cuda"


def read_device(text: str) -> int | None:
    """An argument's type: "cpu" is None, "cuda" is 0, "cuda:1" is 1."""
    if text == "cpu":
        return None
    name, _, number = text.partition(":")
    if name != _CUDA or not (number or text == _CUDA) or (number and not number.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no device; cpu, cuda and cuda:1 are")
    return int(number or 0)


def name_device(number: int) -> str:
    """The device's name. Raises UnsupportedError that says what is missing where there is none."""
    found = cuda.devices()
    if number >= len(found):
        raise CommandError(f"--device {_CUDA}:{number}: there are {len(found)}, numbered from 0")
    return found[number].name


def needs_device(device: int | None, contenders: Sequence[Named]) -> bool:
    """Whether something is to be searched on one."""
    return device is not None or any(named.is_on_device for named in contenders)
