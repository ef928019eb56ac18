# SPDX-License-Identifier: MIT
"""Recall over bytes, drawn by matplotlib."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from polarquant.command.bench_contenders import LIBRARIES
from polarquant.command.bench_measure import Measured
from polarquant.command.failure import CommandError, import_for


class Series(NamedTuple):
    """How the members of a group are drawn."""

    #: Told apart by those who see no red or green, too (Okabe and Ito's colours).
    colour: str
    marker: str
    #: Where a label stands from its point: below to the right, or above to the left.
    is_below: bool


SERIES = {
    "polarquant": Series("#D55E00", "o", True),
    "polarquant, trained": Series("#CC79A7", "o", False),
    "published polar codes": Series("#56B4E9", "D", True),
    "FAISS": Series("#0072B2", "s", True),
    "turbovec": Series("#009E73", "^", False),
}
_TICKS = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 1.0)
_ENDINGS = (".svg", ".png", ".pdf")


def check_chart_file(path: str) -> None:
    """CommandError for a name that is no chart's, or where matplotlib is missing."""
    if pathlib.PurePath(path).suffix.lower() not in _ENDINGS:
        raise CommandError(f"{path}: a chart's name ends with {', '.join(_ENDINGS)}")
    _import_pyplot()


def _import_pyplot() -> Any:
    matplotlib = import_for("matplotlib", "matplotlib", "a chart")
    matplotlib.use("Agg")
    return import_for("matplotlib.pyplot", "matplotlib", "a chart")


def series_of(row: Measured) -> str:
    """Which of the chart's series a contender belongs to."""
    if not row.named.is_ours:
        return LIBRARIES[row.named.library].name
    if row.named.code.startswith(("PolarTree", "PolarPair", "PolarScalar")):
        return "published polar codes"
    return "polarquant, trained" if "-pca" in row.named.code else "polarquant"


def draw_chart(rows: Sequence[Measured], path: str, title: str, k: int) -> None:
    """Writes a chart of recall@k over bytes a vector; a line joins the best of each series, which are named."""
    pyplot = _import_pyplot()
    # A file that is the same for the same figures.
    with pyplot.rc_context({"svg.hashsalt": "polarquant", "svg.fonttype": "none"}):
        figure, axes = pyplot.subplots(figsize=(9, 5.5), layout="constrained")
        for name, series in SERIES.items():
            members = [row for row in rows if not row.problem and series_of(row) == name]
            if members:
                _draw_series(axes, members, name, series)
        _scale_recall(axes, rows)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("bytes a vector")
        axes.set_ylabel(f"recall@{k}")
        axes.set_title(title)
        axes.grid(color="#DDDDDD", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="lower right", frameon=False)
        figure.savefig(path, metadata={"Date": None} if path.lower().endswith(".svg") else None)
        pyplot.close(figure)


def _scale_recall(axes: Any, rows: Sequence[Measured]) -> None:
    """Gives recalls of .90 to .99 as much room as .50 to .90, by the logarithm of what is missed."""
    whole = 1.004  # so that a recall of 1 has a place
    axes.set_yscale(
        "function",
        functions=(
            lambda recall: -np.log(np.maximum(whole - recall, 1e-6)),
            lambda height: whole - np.exp(-height),
        ),
    )
    low = min((row.recall for row in rows if not row.problem), default=0.0)
    axes.set_ylim(max(0.0, low - 0.05), 1.002)
    axes.set_yticks([tick for tick in _TICKS if tick >= low - 0.05])
    axes.set_yticks([], minor=True)
    axes.yaxis.set_major_formatter("{x:.2f}")


def _draw_series(axes: Any, rows: Sequence[Measured], name: str, series: Series) -> None:
    axes.plot(
        [row.bytes_per_vector for row in rows],
        [row.recall for row in rows],
        series.marker,
        color=series.colour,
        label=name,
    )
    front = best_of(rows)
    axes.plot(
        [row.bytes_per_vector for row in front],
        [row.recall for row in front],
        color=series.colour,
        alpha=0.6,
    )
    for row in front:
        axes.annotate(
            row.named.code,
            (row.bytes_per_vector, row.recall),
            (5, -10) if series.is_below else (-5, 5),
            textcoords="offset points",
            horizontalalignment="left" if series.is_below else "right",
            fontsize=7,
            color=series.colour,
        )


def best_of(rows: Sequence[Measured]) -> list[Measured]:
    """Those that no row of as few bytes exceeds in recall, by rising bytes."""
    front: list[Measured] = []
    for row in sorted(rows, key=lambda row: (row.bytes_per_vector, -row.recall)):
        if not front or row.recall > front[-1].recall:
            front.append(row)
    return front
