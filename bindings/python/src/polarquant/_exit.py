# SPDX-License-Identifier: MIT
"""The interpreter's end, while the C library calls functions of Python's.

When the interpreter ends, a thread that asks for its lock is ended where it stands. Daemon threads do
that in every function that the C library calls back, with the library's frames below it, which
cannot be left that way: the process would abort. So each call that lends a function is counted; at
exit those that run are told to stop and waited for, and no other thread begins one.
"""

from __future__ import annotations

import atexit
import os
import threading
from types import TracebackType


class _Lent:
    def __init__(self) -> None:
        self.changed = threading.Condition(threading.Lock())
        self.calls = 0
        self.is_ending = False


_lent = _Lent()


def _start_process() -> None:
    global _lent
    _lent = _Lent()


# Threads of a parent do not live on in a forked child.
os.register_at_fork(after_in_child=_start_process)


class lending:
    """While a function of Python's is lent to the C library. At the interpreter's end it ends the
    thread by SystemExit, which threads do not report; the main thread, which runs what is left to
    do then, goes on."""

    def __init__(self) -> None:
        self._is_main = threading.current_thread() is threading.main_thread()

    def must_stop(self) -> bool:
        """Whether the interpreter ends and does not wait for the thread. From any thread."""
        return _lent.is_ending and not self._is_main

    def __enter__(self) -> None:
        with _lent.changed:
            if self.must_stop():
                raise SystemExit
            _lent.calls += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with _lent.changed:
            _lent.calls -= 1
            _lent.changed.notify_all()
        if self.must_stop():
            raise SystemExit


def _wait_for_calls() -> None:
    with _lent.changed:
        _lent.is_ending = True
        while _lent.calls:
            _lent.changed.wait()


# Registered when the package is imported, so that it runs after what was registered later; all
# threads but daemons have ended by then.
atexit.register(_wait_for_calls)
