# SPDX-License-Identifier: MIT
"""What a call of the library raises: one class for each status of the C library.

All derive from `PolarError`, and from the builtin exception that a Python user expects, so that
``except ValueError`` works as well as ``except polarquant.BadArgumentError``. The text names the
argument, its value and what is allowed.
"""

from __future__ import annotations

__all__ = [
    "BadArgumentError",
    "CancelledError",
    "CorruptDataError",
    "CudaError",
    "InputOutputError",
    "InternalError",
    "NewerFormatError",
    "NotFoundError",
    "NotTrainedError",
    "OutOfMemoryError",
    "PolarError",
    "StateMismatchError",
    "UnsupportedError",
]


class PolarError(Exception):
    """A call of the library that failed. `status` is the C library's number for the cause."""

    status: int = -1

    # KeyError, a base of NotFoundError, would show the text in quotes.
    def __str__(self) -> str:
        return Exception.__str__(self)


class BadArgumentError(PolarError, ValueError):
    """An argument is outside what is allowed: a name, a shape, a NaN, a row of odd length."""

    status = 10


class UnsupportedError(PolarError, NotImplementedError):
    """This build, or this codec or index, cannot do it."""

    status = 20


class NotTrainedError(PolarError, RuntimeError):
    """`train` must come first."""

    status = 30


class NotFoundError(PolarError, KeyError):
    """No row has this id."""

    status = 40


class StateMismatchError(PolarError, ValueError):
    """Codes, queries or codecs of different states met, or training came after the first rows."""

    status = 50


class OutOfMemoryError(PolarError, MemoryError):
    """An allocation failed."""

    status = 60


class CorruptDataError(PolarError, ValueError):
    """Stored bytes are damaged, or not polarquant's."""

    status = 70


class NewerFormatError(PolarError, ValueError):
    """Stored bytes are of a newer format than this library reads."""

    status = 80


class InputOutputError(PolarError, OSError):
    """Reading or writing failed."""

    status = 90


class CudaError(PolarError, RuntimeError):
    """A CUDA call failed."""

    status = 100


class CancelledError(PolarError, RuntimeError):
    """A progress function said False. Ctrl-C raises KeyboardInterrupt instead."""

    status = 110


class InternalError(PolarError, RuntimeError):
    """A bug in the library; please report it."""

    status = 120


_BY_STATUS: dict[int, type[PolarError]] = {
    kind.status: kind for kind in PolarError.__subclasses__()
}


def error_for(status: int, text: str) -> PolarError:
    """The exception for a status of the C library that is not 0."""
    kind = _BY_STATUS.get(status)
    if kind is not None:
        return kind(text)
    error = PolarError(f"status {status}: {text}")
    error.status = status
    return error
