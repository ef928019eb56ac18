# SPDX-License-Identifier: MIT
"""What errors of the package faiss say, without where in FAISS's source they were raised."""

from __future__ import annotations

import re

_RAISED = re.compile(r"Error in .*? at \S+:\d+: (?:Error: '(.*?)' failed:? *)?", re.DOTALL)


def plain_faiss_text(error: BaseException) -> str:
    """The reason that an error gives, in one line, or the condition where it gives none."""
    text = " ".join(str(error).split())
    plain = _RAISED.sub("", text).strip()
    conditions = [match.group(1) for match in _RAISED.finditer(text) if match.group(1)]
    if not plain and conditions:
        return f"FAISS requires {conditions[-1]}"
    return plain or type(error).__name__
