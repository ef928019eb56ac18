# SPDX-License-Identifier: MIT
"""Which calls may run at the same time on one object of the library.

Calls run without the interpreter's lock, and the C library leaves it to its caller that nothing else
happens to an object while it changes. Here calls that only read share the object, and one that
changes it waits for them, and they for it: threads may search while another one adds.

A reader takes no lock: it enters itself, then looks for a writer; a writer announces itself, then looks
for readers. One of them sees the other.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType

from polarquant.errors import BadArgumentError


class _Callbacks(threading.local):
    """Whose callbacks this thread is inside."""

    uses: tuple[Use, ...] = ()


_callbacks = _Callbacks()
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
        self._outer = _callbacks.uses
        _callbacks.uses = (*self._outer, self._use)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _callbacks.uses = self._outer


class Use:
    """Who uses an object. `shared` and `sole` are context managers that give its handle."""

    def __init__(self, what: str, handle: int | None) -> None:
        self.what = what
        self.handle = handle
        self.forget()
        self.shared = _Shared(self)
        self.sole = _Sole(self)

    def forget(self) -> None:
        """In a new process: threads of a parent do not live on in a forked child."""
        self.process = _process
        self.changed = threading.Condition(threading.Lock())
        # Calls of each thread; more than one is a call inside a callback. What an interrupt between
        # two lines leaves behind ends with the thread's next call.
        self.readers: dict[int, int] = {}
        self.writer: int | None = None
        self.writers_wanted = 0

    def is_inside_callback(self) -> bool:
        return self in _callbacks.uses

    def open_handle(self) -> int:
        if self.handle is None:
            raise BadArgumentError(f"{self.what}: is closed; make a new one")
        return self.handle


class _Shared:
    def __init__(self, use: Use) -> None:
        self._use = use

    def __enter__(self) -> int:
        use = self._use
        if use.process is not _process:
            use.forget()
        me = threading.get_ident()
        nested = me in use.readers and use.is_inside_callback()
        use.readers[me] = use.readers[me] + 1 if nested else 1
        if use.writers_wanted and not nested and not use.is_inside_callback():
            self._wait(use, me)
        if use.handle is None:
            self.__exit__(None, None, None)
        return use.open_handle()

    @staticmethod
    def _wait(use: Use, me: int) -> None:
        with use.changed:
            use.readers.pop(me, None)
            use.changed.notify_all()
            while use.writers_wanted:
                use.changed.wait()
            # Writers announce themselves under the lock.
            use.readers[me] = 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        use = self._use
        me = threading.get_ident()
        left = use.readers.get(me, 1) - 1
        if left:
            use.readers[me] = left
        else:
            use.readers.pop(me, None)
        if use.writers_wanted:
            with use.changed:
                use.changed.notify_all()


class _Sole:
    def __init__(self, use: Use) -> None:
        self._use = use

    def __enter__(self) -> int:
        use = self._use
        if use.process is not _process:
            use.forget()
        if use.is_inside_callback():
            raise RuntimeError(f"{use.what}: a callback of its own search cannot change it")
        me = threading.get_ident()
        with use.changed:
            if use.writer == me:  # left behind by an interrupt
                self._leave(use)
            use.readers.pop(me, None)
            use.writers_wanted += 1
            try:
                while use.readers or use.writer is not None:
                    use.changed.wait()
                handle = use.open_handle()
                use.writer = me
            except BaseException:
                use.writers_wanted -= 1
                use.changed.notify_all()
                raise
        return handle

    @staticmethod
    def _leave(use: Use) -> None:
        use.writer = None
        use.writers_wanted -= 1
        use.changed.notify_all()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._use.changed:
            self._leave(self._use)
