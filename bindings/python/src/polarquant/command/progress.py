# SPDX-License-Identifier: MIT
"""How far a command is, on terminals alone."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Callable

from polarquant._progress import make_bar


@contextlib.contextmanager
def shown(what: str) -> Iterator[Callable[[float], None]]:
    """A function that is told the share done, 0 to 1."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    bar = make_bar(what)
    try:
        yield bar.show
    finally:
        bar.close()


@contextlib.contextmanager
def shown_rows(what: str, first: int, total: int) -> Iterator[Callable[[int], None]]:
    """A function that is told how many of the rows are done: shows how many, how many a second since
    `first`, and how long the others will take."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    start = time.monotonic()
    width = 0

    def show(done: int) -> None:
        nonlocal width
        rate = (done - first) / max(time.monotonic() - start, 1e-9)
        left = _clock((total - done) / rate) if rate > 0 else "-"
        line = f"{what}: {done:,} of {total:,} rows, {rate:,.0f} a second, {left} left"
        print(f"\r{line.ljust(width)}", end="", file=sys.stderr, flush=True)
        width = len(line)

    try:
        yield show
    finally:
        if width:
            print(file=sys.stderr)


def _clock(seconds: float) -> str:
    minutes, seconds_left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds_left:02}" if hours else f"{minutes}:{seconds_left:02}"


def say(text: str) -> None:
    """A line for people, apart from what the command prints."""
    print(text, file=sys.stderr, flush=True)
