# SPDX-License-Identifier: MIT
"""Which calls may run at the same time on one object of the library.

Calls run without the interpreter's lock, and the C library leaves it to its caller that nothing else
happens to an object while it changes. Here calls that only read share the object, and one that
changes it waits for them, and they for it: threads may search while another one adds.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Callable

from polarquant.errors import BadArgumentError

_in_callback = threading.local()
_process = object()


def _start_process() -> None:
    global _process
    _process = object()


os.register_at_fork(after_in_child=_start_process)


class callback_of:
    """While a function of the caller's runs inside a call on an object."""

    def __init__(self, use: Use) -> None:
        self._use = use

    def __enter__(self) -> None:
        self._outer: tuple[Use, ...] = getattr(_in_callback, "uses", ())
        _in_callback.uses = (*self._outer, self._use)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _in_callback.uses = self._outer


class Use:
    """Counts who uses an object. `shared` and `sole` are context managers that give its handle."""

    def __init__(self, what: str, handle: int | None) -> None:
        self._what = what
        self.handle = handle
        self.shared = _Span(self.enter_shared, self.exit_shared)
        self.sole = _Span(self.enter_sole, self.exit_sole)
        self._forget()

    def _forget(self) -> None:
        # Threads of a parent process do not live on in a forked child.
        self._process = _process
        self._changed = threading.Condition(threading.Lock())
        # By thread, so that an entry that an interrupt left behind ends with the thread's next call.
        self._readers: dict[int, int] = {}
        self._writer: int | None = None
        self._waiting_writers = 0

    def _is_inside_callback(self) -> bool:
        return self in getattr(_in_callback, "uses", ())

    def _open_handle(self) -> int:
        if self.handle is None:
            raise BadArgumentError(f"{self._what}: is closed; make a new one")
        return self.handle

    def enter_shared(self) -> int:
        if self._process is not _process:
            self._forget()
        me = threading.get_ident()
        with self._changed:
            nested = self._is_inside_callback()
            while not nested and (
                self._waiting_writers or (self._writer is not None and self._writer != me)
            ):
                self._changed.wait()
            handle = self._open_handle()
            self._readers[me] = self._readers.get(me, 0) + 1 if nested else 1
        return handle

    def exit_shared(self) -> None:
        me = threading.get_ident()
        with self._changed:
            left = self._readers.get(me, 1) - 1
            if left:
                self._readers[me] = left
            else:
                self._readers.pop(me, None)
                if self._waiting_writers:
                    self._changed.notify_all()

    def enter_sole(self) -> int:
        if self._process is not _process:
            self._forget()
        if self._is_inside_callback():
            raise RuntimeError(f"{self._what}: a callback of its own search cannot change it")
        me = threading.get_ident()
        with self._changed:
            self._readers.pop(me, None)
            self._waiting_writers += 1
            try:
                while self._readers or (self._writer is not None and self._writer != me):
                    self._changed.wait()
                handle = self._open_handle()
                self._writer = me
            finally:
                self._waiting_writers -= 1
                if self._writer != me:
                    self._changed.notify_all()
        return handle

    def exit_sole(self) -> None:
        with self._changed:
            self._writer = None
            self._changed.notify_all()


class _Span:
    """A with statement's enter and exit; no generator, for a search's few microseconds."""

    def __init__(self, enter: Callable[[], int], leave: Callable[[], None]) -> None:
        self._enter = enter
        self._leave = leave

    def __enter__(self) -> int:
        return self._enter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leave()
