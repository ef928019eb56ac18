# SPDX-License-Identifier: MIT
"""How nearness is measured."""

from __future__ import annotations

import enum
from typing import Union

from polarquant.errors import BadArgumentError


class Metric(enum.IntEnum):
    """The numbers of inner product and L2 are FAISS's ``METRIC_INNER_PRODUCT`` and ``METRIC_L2``."""

    INNER_PRODUCT = 0
    """The score is ⟨q, x⟩; larger is nearer."""
    L2 = 1
    """The score is ‖q − x‖², squared; smaller is nearer."""
    COSINE = 2
    """Rows and queries are normalized on the way in; larger is nearer."""


#: A `Metric`, its number, or one of "ip", "inner_product", "l2", "cosine".
MetricLike = Union[Metric, int, str]

_NAMES = {
    "ip": Metric.INNER_PRODUCT,
    "inner_product": Metric.INNER_PRODUCT,
    "l2": Metric.L2,
    "cosine": Metric.COSINE,
}


def as_metric(metric: MetricLike) -> Metric:
    """The metric that is meant; BadArgumentError for none."""
    found = _NAMES.get(metric.lower()) if isinstance(metric, str) else None
    if found is None and not isinstance(metric, str) and metric in tuple(Metric):
        found = Metric(metric)
    if found is None:
        raise BadArgumentError(
            f"metric: {metric!r} is not allowed; " + ", ".join(repr(name) for name in _NAMES)
        )
    return found
