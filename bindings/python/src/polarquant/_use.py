# SPDX-License-Identifier: MIT
"""Which calls may run at the same time on one object of the library.

Calls run without the interpreter's lock, and the C library leaves it to its caller that nothing else
happens to an object while it changes. Here calls that only read share the object, and one that
changes it waits for them, and they for it. Changes that the C library itself lets go beside reading
calls wait for other changes alone: threads search while another one adds.

They take turns. Readers that come while a writer waits or works wait for that one's call, and go
before the next writer, however many there are and however fast they come again; writers go in the
order they came, each after the readers that were let in before it.

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
    """Who uses an object. `shared`, `sole` and `beside`, for changes beside reading calls, are
    context managers that give its handle."""

    def __init__(self, what: str, handle: int | None) -> None:
        self.what = what
        self.handle = handle
        self.forget()
        self.shared = _Shared(self)
        self.sole = _Sole(self)
        self.beside = _Beside(self)

    def forget(self) -> None:
        """In a new process: threads of a parent do not live on in a forked child."""
        self.process = _process
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        # Calls of each thread; more than one is a call inside a callback. What an interrupt between
        # two lines leaves behind ends with the thread's next call.
        self.readers: dict[int, int] = {}
        # Readers that wait for a writer, which lets them in when it leaves.
        self.waiting: set[int] = set()
        # Threads that change the object or wait to, first come first; the first may be at it.
        self.writers: list[int] = []
        # Those of them that no call may read beside.
        self.sole_writers: set[int] = set()
        self.writer: int | None = None

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
        if use.writer == me and use.is_inside_callback():
            raise RuntimeError(f"{use.what}: a callback of a call that changes it cannot use it")
        nested = me in use.readers and use.is_inside_callback()
        use.readers[me] = use.readers[me] + 1 if nested else 1
        if use.sole_writers and not nested and not use.is_inside_callback():
            self._wait(use, me)
        if use.handle is None:
            self.__exit__(None, None, None)
        return use.open_handle()

    @staticmethod
    def _wait(use: Use, me: int) -> None:
        with use.lock:
            # Writers announce themselves under the lock.
            if not use.sole_writers:
                return
            use.readers.pop(me, None)
            use.waiting.add(me)
            use.changed.notify_all()
            try:
                while me in use.waiting:
                    use.changed.wait()
            except BaseException:
                use.waiting.discard(me)
                use.readers.pop(me, None)
                use.changed.notify_all()
                raise

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
        if use.writers:
            with use.lock:
                use.changed.notify_all()


class _Sole:
    _beside_readers = False

    def __init__(self, use: Use) -> None:
        self._use = use

    def __enter__(self) -> int:
        use = self._use
        if use.process is not _process:
            use.forget()
        if use.is_inside_callback():
            raise RuntimeError(f"{use.what}: a callback of its own call cannot change it")
        me = threading.get_ident()
        with use.lock:
            if me in use.writers:  # left behind by an interrupt
                self._leave(use, me)
            use.readers.pop(me, None)
            use.writers.append(me)
            if not self._beside_readers:
                use.sole_writers.add(me)
            try:
                while use.writers[0] != me or (use.readers and not self._beside_readers):
                    use.changed.wait()
                handle = use.open_handle()
                if not self._beside_readers:
                    use.writer = me
            except BaseException:
                self._leave(use, me)
                raise
        return handle

    @staticmethod
    def _leave(use: Use, me: int) -> None:
        use.writers.remove(me)
        use.sole_writers.discard(me)
        is_awaited = bool(use.waiting or use.writers)
        # Only a call that ended is a turn: the readers go on waiting for the next writer else.
        if use.writer == me or not use.sole_writers:
            for reader in use.waiting:
                use.readers[reader] = 1
            use.waiting.clear()
        if use.writer == me:
            use.writer = None
        if is_awaited:
            use.changed.notify_all()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._use.lock:
            self._leave(self._use, threading.get_ident())


class _Beside(_Sole):
    _beside_readers = True
