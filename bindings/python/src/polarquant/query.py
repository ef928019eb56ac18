# SPDX-License-Identifier: MIT
"""A query that is scored many times."""

from __future__ import annotations

from polarquant._handle import Handle
from polarquant._library import lib


class Query(Handle):
    """A query prepared for one codec: rotated and centred once. Immutable.

    Made by `Codec.prepare_query` and `Codec.prepare_query_from_code`; any thread may use it.
    """

    _destroy = lib.polar_query_destroy
