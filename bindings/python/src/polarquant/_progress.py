# SPDX-License-Identifier: MIT
"""Long calls: they tell how far they are, and Ctrl-C ends them.

The C library calls a progress function now and then from any of its threads, the calling one among
them, and stops when that returns non-zero. Python handles a signal when the main thread next runs
Python code, which in a long call is inside this function; a handler that raised there would lose its
exception, so one that only notes the signal stands in while the call runs.
"""

from __future__ import annotations

import importlib
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any, Callable, Protocol, Union

from polarquant import _structs
from polarquant._exit import lending
from polarquant._library import check
from polarquant._use import Use, callback_of
from polarquant.errors import CancelledError

#: True shows a bar (by tqdm where it is installed); a function hears the share of the work that is
#: done, 0 to 1, from any thread, and stops it by returning False.
ProgressLike = Union[bool, Callable[[float], Any], None]


class _Bar(Protocol):
    def show(self, done: float) -> None: ...

    def close(self) -> None: ...


class _TqdmBar:
    def __init__(self, tqdm: Any, what: str) -> None:
        self._bar = tqdm(total=1.0, desc=what, bar_format="{l_bar}{bar}| {elapsed}<{remaining}")

    def show(self, done: float) -> None:
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class _PlainBar:
    """Percents on one line of the standard error output."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shown = -1

    def show(self, done: float) -> None:
        percent = int(100 * done)
        if percent != self._shown:
            self._shown = percent
            print(f"\r{self._what}: {percent}%", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._shown >= 0:
            print(file=sys.stderr)


def make_bar(what: str) -> _Bar:
    try:
        return _TqdmBar(importlib.import_module("tqdm.auto").tqdm, what)
    except ImportError:
        return _PlainBar(what)


class LongCall:
    """One call of the C library; give it `function` as its progress function, then `check`.

    The call's status is checked by `check`, and what the caller's function raised, or Ctrl-C, is
    raised at the end of the with statement.
    """

    def __init__(self, what: str, progress: ProgressLike, use: Use) -> None:
        self._what = what
        self._use = use
        self._bar = make_bar(what) if progress is True else None
        self._report = progress if callable(progress) else None
        if progress is not None and not isinstance(progress, bool) and self._report is None:
            raise TypeError(f"progress: {progress!r} is not a bool or a function")
        self._error: BaseException | None = None
        self._signal: int | None = None
        self._previous: Any = None
        self._lending = lending()
        self._part = (0.0, 1.0)
        self.function = _structs.ProgressFunction(self._hear)

    def _hear(self, user: int | None, done: float) -> int:
        try:
            if self._signal is None and not self._lending.must_stop():
                begin, end = self._part
                done = begin + done * (end - begin)
                if self._bar is not None:
                    self._bar.show(done)
                if self._report is None:
                    return 0
                with callback_of(self._use):
                    goes_on = self._report(done) is not False
                # A signal may have come meanwhile.
                if goes_on and self._signal is None:
                    return 0
        except BaseException as error:  # carried over the C library, which knows no exceptions
            self._error = error
        return 1

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        self._signal = number

    def begin_part(self, begin: float, end: float) -> None:
        """What the library tells from now on is about a part of the work."""
        self._part = (begin, end)

    def advance(self, done: float) -> None:
        """Between the parts of work that is cut into calls; raises when it is to stop."""
        if self._hear(None, done) != 0:
            raise CancelledError(f"{self._what}: stopped by its progress function")

    def check(self, status: int) -> None:
        """As _library.check, but for what is raised at the end of the with statement."""
        if self._error is None and self._signal is None:
            check(status)

    def __enter__(self) -> LongCall:
        self._lending.__enter__()
        if threading.current_thread() is threading.main_thread():
            previous = signal.getsignal(signal.SIGINT)
            if callable(previous):
                self._previous = previous
                signal.signal(signal.SIGINT, self._note_signal)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lending.__exit__(kind, error, traceback)
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        if self._bar is not None:
            self._bar.close()
        if self._signal is not None:
            self._previous(self._signal, None)
        if self._error is not None:
            raise self._error
