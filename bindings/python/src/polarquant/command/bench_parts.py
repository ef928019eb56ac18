# SPDX-License-Identifier: MIT
"""What a comparison is made on: queries, rows to train on, rows to search, and the exact answer.

The parts are drawn as `polarquant.advise` draws them, and share no row, so that recall is that of rows
which training has not seen, as for vectors that come later.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from polarquant._arrays import Floats, Ids
from polarquant.command.failure import CommandError
from polarquant.command.vectors import Vectors
from polarquant.metric import Metric

#: Found in float32 and scored again in float64: so many beyond k that rounding hides none.
_EXTRA_CANDIDATES = 22
#: Scores held at a time, queries times rows.
_SCORES_HELD = 32_000_000


class Parts(NamedTuple):
    """Parts of a sample; normalized where the metric is cosine."""

    base: Floats
    train: Floats
    queries: Floats
    #: Whether the queries are rows of the sample.
    held_out_queries: bool


def draw_parts(
    vectors: Vectors,
    queries: Vectors | None,
    metric: Metric,
    k: int,
    max_rows: int,
    max_queries: int,
    seed: int,
) -> Parts:
    """Random parts of the vectors: up to max_queries queries, or a tenth of the rows; up to half of
    the others, at most the larger of 20·dim and 10,000, to train on; up to max_rows to search."""
    order = np.random.default_rng(seed).permutation(vectors.count)
    num_queries = 0 if queries is not None else min(max_queries, vectors.count // 10)
    num_train = min((vectors.count - num_queries) // 2, max(20 * vectors.dim, 10_000))
    num_base = min(max_rows, vectors.count - num_queries - num_train)
    if num_base < 10 * k or (queries is None and num_queries < 10):
        raise CommandError(
            f"{vectors.path}: {vectors.count} rows are too few for k = {k}; {max(22 * k, 100)} or "
            "more are needed"
        )
    if queries is not None:
        asked = queries.take(_some(queries.count, max_queries, seed))
    else:
        asked = vectors.take(np.sort(order[:num_queries]))
    train = vectors.take(np.sort(order[num_queries : num_queries + num_train]))
    base = vectors.take(np.sort(order[num_queries + num_train :][:num_base]))
    if metric == Metric.COSINE:
        base, train, asked = map(normalize, (base, train, asked))
    return Parts(base, train, asked, queries is None)


def _some(count: int, most: int, seed: int) -> Ids:
    return np.sort(np.random.default_rng(seed).permutation(count)[:most])


def normalize(x: Floats) -> Floats:
    """Rows of length 1; zeros stay zeros."""
    norms = np.linalg.norm(x.astype(np.float64), axis=1, keepdims=True)
    found: Floats = (x / np.where(norms > 0, norms, 1)).astype(np.float32)
    return found


def exact_neighbours(base: Floats, queries: Floats, metric: Metric, k: int) -> Ids:
    """The k nearest rows of each query, (nq, k), ties by lower row."""
    found = np.empty((len(queries), k), dtype=np.int64)
    half_squares = 0.5 * np.einsum("ij,ij->i", base, base)
    step = max(1, _SCORES_HELD // len(base))
    for first in range(0, len(queries), step):
        part = queries[first : first + step]
        scores = part @ base.T
        if metric == Metric.L2:
            scores -= half_squares
        count = min(len(base), k + _EXTRA_CANDIDATES)
        candidates = np.argpartition(scores, len(base) - count, axis=1)[:, len(base) - count :]
        for row, (query, rows) in enumerate(zip(part, candidates)):
            rows = np.sort(rows)
            exact = exact_scores(base[rows], query, metric)
            found[first + row] = rows[np.argsort(-exact, kind="stable")[:k]]
    return found


def exact_scores(rows: Floats, query: Floats, metric: Metric) -> npt.NDArray[np.float64]:
    """How near rows, (n, dim), are to a query, larger is nearer; the same for equal rows."""
    near = rows.astype(np.float64)
    # Each row summed alone: a product of matrices adds up in other orders at other places.
    if metric == Metric.L2:
        scores: npt.NDArray[np.float64] = -((near - query) ** 2).sum(axis=1)
    else:
        scores = (near * query.astype(np.float64)).sum(axis=1)
    return scores
