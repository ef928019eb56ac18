# SPDX-License-Identifier: MIT
"""What is trained once, before shards are built: the same for all engines."""

from __future__ import annotations

from polarquant._arrays import Floats
from polarquant.command.build import lists_of
from polarquant.index import Index
from polarquant.manifest import Shard
from polarquant.metric import MetricLike
from polarquant.shards import write_state

#: As `polar build` trains: so many rows, or so many for each list.
_TRAIN_ROWS = 100_000
_ROWS_A_LIST = 39


def rows_to_train(description: str, train_rows: int | None) -> int:
    """How many rows an index of this factory string learns from, unless train_rows says it."""
    return train_rows or max(_TRAIN_ROWS, _ROWS_A_LIST * lists_of(description))


def write_trained(
    rows: Floats, description: str, metric: MetricLike, place: str, num_threads: int = 0
) -> Shard:
    """Trains an index on these rows and writes the state that all shards are built by."""
    with Index(description, rows.shape[1], metric) as index:
        index.train(rows, num_threads=num_threads)
        return write_state(index, place)
