# SPDX-License-Identifier: MIT
"""Which contender to take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from polarquant.command.bench_contenders import LIBRARIES
from polarquant.command.bench_measure import Measured

#: Half a bit a dimension more must find one more of 100 neighbours, as `polarquant.advise` has it.
_RECALL_OF_HALF_A_BIT = 0.01


class Choice(NamedTuple):
    """The contender to take, None when none is what was asked for, and why."""

    row: Measured | None
    reason: str


def choose(
    rows: Sequence[Measured], dim: int, k: int, wanted_recall: float, allowed_bytes: float
) -> Choice:
    """With wanted_recall, the fewest bytes that surely reach it; with allowed_bytes, the highest
    recall within them; with both, the first if it fits; with neither (0), the best value."""
    measured = [row for row in rows if not row.problem]
    if not measured:
        return Choice(None, "Nothing could be measured.")
    chosen = _choose(measured, dim, wanted_recall, allowed_bytes)
    if chosen is None:
        nearest = max(measured, key=lambda row: row.recall)
        asked = [f"recall of {wanted_recall:g}"] if wanted_recall else []
        asked += [f"{allowed_bytes:g} bytes"] if allowed_bytes else []
        return Choice(
            None,
            f"None of them is within {' and '.join(asked)}; the highest recall, {nearest.recall:.3f}, "
            f"has {nearest.named.label} in {nearest.bytes_per_vector:.4g} bytes.",
        )
    return Choice(chosen, f"{_describe(chosen, dim, k)} {_compare(chosen, measured)}".strip())


def _choose(
    rows: Sequence[Measured], dim: int, wanted_recall: float, allowed_bytes: float
) -> Measured | None:
    fitting = [row for row in rows if not allowed_bytes or row.bytes_per_vector <= allowed_bytes]
    if wanted_recall:
        sure = [row for row in fitting if row.recall - row.margin >= wanted_recall]
        return min(sure, key=lambda row: (row.bytes_per_vector, -row.recall), default=None)
    if allowed_bytes:
        return max(fitting, key=lambda row: (row.recall, -row.bytes_per_vector), default=None)
    return max(rows, key=lambda row: _value(row, dim))


def _value(row: Measured, dim: int) -> float:
    half_bits = 16 * row.bytes_per_vector / dim
    return row.recall - _RECALL_OF_HALF_A_BIT * half_bits


def _describe(row: Measured, dim: int, k: int) -> str:
    smaller = 4 * dim / row.bytes_per_vector
    return (
        f"{row.named.label}: recall@{k} {row.recall:.3f} ± {row.margin:.3f} in "
        f"{row.bytes_per_vector:.4g} bytes a vector, {smaller:.1f} times fewer than floats."
    )


def _compare(chosen: Measured, rows: Sequence[Measured]) -> str:
    """The best of the other libraries beside it, by bytes and by recall."""
    own = LIBRARIES[chosen.named.library].name
    others = [row for row in rows if LIBRARIES[row.named.library].name != own]
    said = []
    small = [row for row in others if row.bytes_per_vector <= chosen.bytes_per_vector]
    if small:
        best = max(small, key=lambda row: row.recall)
        said.append(
            f"In no more bytes, {best.named.label} finds most of the others' codes: {best.recall:.3f} "
            f"in {best.bytes_per_vector:.4g}."
        )
    as_good = [row for row in others if row.recall >= chosen.recall]
    if as_good:
        least = min(as_good, key=lambda row: row.bytes_per_vector)
        said.append(
            f"To find as much, {least.named.label} takes fewest of theirs: "
            f"{least.bytes_per_vector:.4g} bytes."
        )
    return " ".join(said)
