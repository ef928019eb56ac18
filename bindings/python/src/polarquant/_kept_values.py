# SPDX-License-Identifier: MIT
"""What vector stores keep beside vectors: values that come back from a file as they went in.

A file has JSON, which turns tuples into lists and all keys into texts. So what it would change is
refused when it is given, and not found out when the store is saved or, worse, loaded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polarquant.errors import BadArgumentError

_ALLOWED = "None, bool, int, float, str, and lists and dicts of these, keys of dicts being str"
_MAX_DEPTH = 100  # Python's reader of JSON is recursive
_MAX_BITS = 10_000  # of an int: Python reads no longer ones from text


def kept_id(name: str, value: Any) -> str:
    """An id, which is a text and not empty."""
    if not isinstance(value, str):
        raise BadArgumentError(f"{name}: {value!r} is of type {_type_of(value)}; a str is allowed")
    return kept_text(name, value)


def kept_text(name: str, value: str) -> str:
    """A text that UTF-8 can hold."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise BadArgumentError(
            f"{name}: has {value[error.start]!r} at {error.start}, half of a character; texts "
            "that UTF-8 can hold are allowed"
        ) from None
    # Of a derived class the text alone.
    return str.__str__(value)


def kept_value(name: str, value: Any, depth: int = 0) -> Any:
    """A copy of a value; `name` says in errors where it stands. NumPy's numbers become Python's,
    and values of classes that derive from the allowed ones become those."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return kept_text(name, value)
    if isinstance(value, (int, np.integer)):
        number = int(value)
        if number.bit_length() > _MAX_BITS:
            raise BadArgumentError(f"{name}: an int of more than {_MAX_BITS} bits is not allowed")
        return number
    if isinstance(value, (float, np.float16, np.float32)):
        return float(value)
    if depth > _MAX_DEPTH:
        raise BadArgumentError(f"{name}: lies {depth} deep; {_MAX_DEPTH} is allowed")
    if isinstance(value, list):
        return [kept_value(f"{name}[{i}]", item, depth + 1) for i, item in enumerate(value)]
    if isinstance(value, dict):
        return kept_dict(name, value, depth)
    raise BadArgumentError(
        f"{name}: {value!r} is of type {_type_of(value)}; {_ALLOWED} are allowed, which come back "
        "from a saved store as they were"
    )


def kept_dict(name: str, value: dict[Any, Any], depth: int = 0) -> dict[str, Any]:
    """A copy of a dict."""
    kept = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise BadArgumentError(
                f"{name}: key {key!r} is of type {_type_of(key)}; {_ALLOWED} are allowed"
            )
        kept[kept_text(f"{name}: key", key)] = kept_value(f"{name}[{key!r}]", item, depth + 1)
    return kept


def _type_of(value: Any) -> str:
    return type(value).__name__
