# SPDX-License-Identifier: MIT
"""What ends a command: one line that says what was wrong, and an exit code."""

from __future__ import annotations

import importlib
from typing import Any


class CommandError(Exception):
    """Its text is the line that the user reads."""


def import_for(module: str, package: str, purpose: str) -> Any:
    """A module that is installed only by those who need it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise CommandError(f"{purpose} needs {package}: pip install {package}") from None
