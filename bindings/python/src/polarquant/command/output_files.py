# SPDX-License-Identifier: MIT
"""Files that commands write: whole or not at all, through links and pipes, and never over an input."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from typing import Optional

from polarquant.command.failure import CommandError

#: An ending that is longer is no format's.
_LONGEST_ENDING = 16


def refuse_overlaps(outputs: list[Optional[str]], inputs: list[Optional[str]]) -> None:
    """CommandError where a file that is to be written is also read, or written twice, whatever the
    names; None is a file that was not asked for."""
    written = [path for path in outputs if path]
    for i, output in enumerate(written):
        for other in inputs:
            if other and _is_same_file(output, other):
                raise CommandError(
                    f"{output}: is what is read{_known_as(other, output)}; it would be replaced: "
                    "name another file"
                )
        for other in written[:i]:
            if _is_same_file(output, other):
                raise CommandError(f"{output}: would be written twice{_known_as(other, output)}")


def require_place(path: str) -> None:
    """CommandError where no file can be written under this name: told before the work, not after."""
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise CommandError(f"{path}: cannot be written ({folder} is no folder)")
    if os.path.exists(path) and not os.path.isfile(path):
        raise CommandError(f"{path}: is not a regular file; a file's name is allowed")


def _known_as(other: str, path: str) -> str:
    return "" if other == path else f", as {other}"


def _is_same_file(one: str, other: str) -> bool:
    try:
        # Terminals and pipes can be read and written.
        return os.path.samefile(one, other) and os.path.isfile(one)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


@contextlib.contextmanager
def whole_file(path: str) -> Iterator[str]:
    """An unfinished file, with the ending of `path`, whose bytes are there when all went well: it
    takes the place of a file, of what a link names where that is a file, and is written to pipes,
    terminals and the process's own output."""
    try:
        if _is_stream(path):
            with tempfile.TemporaryDirectory() as folder:
                unfinished = os.path.join(folder, f"unfinished{_ending(path)}")
                yield unfinished
                _copy(unfinished, path)
        else:
            with _beside(os.path.realpath(path)) as unfinished:
                yield unfinished
    except OSError as error:
        raise CommandError(f"{path}: cannot be written ({error.strerror or error})") from None


def _ending(path: str) -> str:
    ending = pathlib.PurePath(path).suffix
    return ending if len(ending) <= _LONGEST_ENDING else ""


@contextlib.contextmanager
def _beside(target: str) -> Iterator[str]:
    folder = os.path.dirname(target)
    file, unfinished = tempfile.mkstemp(_ending(target), ".polar-", folder)
    os.close(file)
    try:
        yield unfinished
        os.chmod(unfinished, _rights(target))
        os.replace(unfinished, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # it has its name already
            os.unlink(unfinished)
        raise


def _rights(target: str) -> int:
    """Those of the file that is there, or those of a new one; mkstemp's are for its owner alone."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _is_stream(path: str) -> bool:
    """Whether a path is written to, not replaced."""
    try:
        is_file = stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False
    return not is_file or _descriptor(path) is not None


def _descriptor(path: str) -> int | None:
    """The file that this process has open, of a name like /dev/stdout."""
    for _ in range(8):
        folder, name = os.path.split(path)
        if name.isdecimal() and os.path.realpath(folder) == os.path.realpath("/proc/self/fd"):
            return int(name)
        if not os.path.islink(path):
            break
        path = os.path.join(folder, os.readlink(path))
    return None


def _copy(source: str, path: str) -> None:
    sys.stdout.flush()
    descriptor = _descriptor(path)
    # Opened anew a file would be written from its begin.
    target = os.dup(descriptor) if descriptor is not None else os.open(path, os.O_WRONLY)
    with open(source, "rb") as unfinished, os.fdopen(target, "wb") as file:
        shutil.copyfileobj(unfinished, file)
