# SPDX-License-Identifier: MIT
"""The command `polar`: builds, searches and tells of index files, and compares codes on vectors.

`python -m polarquant` is the same command.
"""

from __future__ import annotations

from polarquant.command.main import main

__all__ = ["main"]
