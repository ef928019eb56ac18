# SPDX-License-Identifier: MIT
"""How far a command is, on terminals alone."""

from __future__ import annotations

import contextlib
import sys
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


def say(text: str) -> None:
    """A line for people, apart from what the command prints."""
    print(text, file=sys.stderr, flush=True)
