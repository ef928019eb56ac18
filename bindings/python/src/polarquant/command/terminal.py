# SPDX-License-Identifier: MIT
"""Text for whatever reads it: terminals that know ASCII alone, and names of files of any bytes."""

from __future__ import annotations

import codecs
import io
import sys
from typing import Union

#: What is meant, in ASCII.
_PLAIN = {"×": "x", "±": "+-", "−": "-", "–": "-", "…": "...", "≥": ">=", "≤": "<=", "·": "*"}
_PLAIN.update({"⟨": "<", "⟩": ">", "‖": "|", "→": "->", "²": "^2", "’": "'", "“": '"', "”": '"'})
_NAME = "polarquant.plain"


def _as_plain(error: UnicodeError) -> tuple[Union[str, bytes], int]:
    """What an encoding that lacks a character writes in its place; the bytes of a file's name are
    written as they are."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    if "\udc80" <= character <= "\udcff":
        return bytes([ord(character) - 0xDC00]), error.start + 1
    return _PLAIN.get(character, "?"), error.start + 1


def write_any_text() -> None:
    """From now on no text that the process prints ends in an error."""
    codecs.register_error(_NAME, _as_plain)
    for stream in (sys.stdout, sys.stderr):
        # Tests put other objects in their place.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_NAME)
