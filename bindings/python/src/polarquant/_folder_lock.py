# SPDX-License-Identifier: MIT
"""A folder that one saves to at a time, of all threads and processes of a machine.

The folder itself is locked, so that nothing stays behind, and the system lets go when a process ends,
however it ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
from collections.abc import Iterator


@contextlib.contextmanager
def sole_use(folder: pathlib.Path) -> Iterator[bool]:
    """Makes the folder where there is none and waits until nobody else saves to it. Says whether
    that is sure: some file systems, most often of other machines, lock no folders. A folder that was
    made is taken away again when the with statement fails and nothing lies in it."""
    descriptor, was_made = _open(folder)
    try:
        is_locked = _lock(descriptor)
        # Whoever had it before may have taken it away.
        while not _is_still(folder, descriptor):
            os.close(descriptor)
            descriptor, was_made = _open(folder)
            is_locked = _lock(descriptor)
        try:
            yield is_locked
        except BaseException:
            if was_made:
                with contextlib.suppress(OSError):
                    folder.rmdir()
            raise
    finally:
        # A process that was forked meanwhile has the folder open too.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _open(folder: pathlib.Path) -> tuple[int, bool]:
    """The open folder, and whether it was made for that."""
    while True:
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            folder.mkdir()
            was_made = True
        except FileExistsError:
            was_made = False
        try:
            return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), was_made
        except FileNotFoundError:  # taken away by one that failed
            # A link to nothing is there and leads nowhere.
            if folder.is_symlink():
                raise


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:
        return False
    return True


def _is_still(folder: pathlib.Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(folder), os.fstat(descriptor))
    except FileNotFoundError:
        return False
