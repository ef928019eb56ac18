# SPDX-License-Identifier: MIT
"""An object of the C library that a Python object owns."""

from __future__ import annotations

import ctypes
import functools
from types import TracebackType
from typing import Any, ClassVar, TypeVar

from polarquant._arrays import as_int
from polarquant._library import check, work_options
from polarquant._progress import LongCall, ProgressLike
from polarquant._use import Use

#: Floats of rows whose coding takes some milliseconds.
_LONG_CHANGE = 200_000

_Self = TypeVar("_Self", bound="Handle")


class Handle:
    """Closed at the end of a with statement, by `close`, or when nobody refers to it any more."""

    #: The C library's function that frees the object.
    _destroy: ClassVar[Any]
    _use: Use

    def __init__(self, what: str, handle: int) -> None:
        self._use = Use(what, handle)

    @classmethod
    def _adopt(cls: type[_Self], handle: int) -> _Self:
        """The Python object of a handle that exists already."""
        made = cls.__new__(cls)
        Handle.__init__(made, cls.__name__, handle)
        return made

    def _read(self, function: Any, *arguments: Any) -> None:
        """Calls a function that takes a const handle."""
        with self._use.shared as handle:
            check(function(handle, *arguments))

    def _change(self, function: Any, *arguments: Any, beside: bool = False) -> None:
        """Calls a function that needs sole use of the handle, or that the C library lets go beside
        calls that read."""
        with self._use.beside if beside else self._use.sole as handle:
            check(function(handle, *arguments))

    def _change_long(
        self,
        what: str,
        progress: ProgressLike,
        num_threads: int,
        numbers: int,
        function: Any,
        *arguments: Any,
        beside: bool = False,
    ) -> None:
        """The same for one that may take long: heard by Ctrl-C from so many floats of rows on. Its
        last argument are its options."""
        threads = as_int("num_threads", num_threads, 0, 1024)
        with self._use.beside if beside else self._use.sole as handle:
            if not progress and numbers < _LONG_CHANGE:
                check(function(handle, *arguments, _options_of_threads(threads)[1]))
                return
            options = work_options(threads)
            with LongCall(what, progress, self._use) as call:
                options.progress = call.function
                call.check(function(handle, *arguments, ctypes.byref(options)))

    def close(self) -> None:
        """Frees its memory, after the calls that run. Any later call but close is an error."""
        if self._use.handle is None:
            return
        with self._use.sole as handle:
            self._use.handle = None
            self._destroy(handle)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._use.handle is None

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(f"{type(self).__name__}: cannot be pickled; it has no saved form")

    # One without rows is no less there.
    def __bool__(self) -> bool:
        return True

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Nobody uses what nobody refers to. There is no _use when making the object failed.
        use = getattr(self, "_use", None)
        if use is not None and use.handle is not None:
            handle, use.handle = use.handle, None
            self._destroy(handle)


@functools.lru_cache(maxsize=8)
def _options_of_threads(num_threads: int) -> tuple[Any, int]:
    """Options without progress, and their address. Made anew they would take as long as to put a row in;
    no one writes to them."""
    options = work_options(num_threads)
    return options, ctypes.addressof(options)


def create(function: Any, *arguments: Any) -> int:
    """The handle that a function writes to its last argument."""
    out = ctypes.c_void_p()
    check(function(*arguments, ctypes.byref(out)))
    assert out.value is not None
    return out.value
