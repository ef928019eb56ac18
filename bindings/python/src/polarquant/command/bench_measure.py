# SPDX-License-Identifier: MIT
"""Every contender on the same parts: bytes, recall, time."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from typing import Callable, NamedTuple

import numpy as np

from polarquant._arrays import Floats, Ids
from polarquant._faiss_text import plain_faiss_text
from polarquant.command.bench_contenders import Contender, Named, Setting
from polarquant.command.bench_parts import Parts, exact_scores
from polarquant.metric import Metric

#: Threads of the library measured before spin for some milliseconds after their work.
_PAUSE_S = 0.05


class Measured(NamedTuple):
    """One contender."""

    named: Named
    #: Why it could not be measured, and then the numbers are 0; "" else.
    problem: str
    bytes_per_vector: float = 0.0
    #: Recall@k, 0 to 1.
    recall: float = 0.0
    #: Half of its 95 % interval, by the queries' spread.
    margin: float = 0.0
    build_s: float = 0.0
    #: Seconds of each round: all queries in one call.
    search_s: tuple[float, ...] = ()
    queries: int = 0

    @property
    def queries_per_second(self) -> float:
        """By the median round."""
        return self.queries / statistics.median(self.search_s) if self.search_s else 0.0


def measure(
    contenders: Sequence[Named],
    setting: Setting,
    parts: Parts,
    exact: Ids,
    rounds: int,
    tell: Callable[[float], None],
) -> list[Measured]:
    """Builds all, then searches with each in turn, `rounds` times, so that what else happens on the
    machine meets all alike. One that fails is told of, and the others go on."""
    steps = len(contenders) * (1 + rounds)
    done = 0
    built: list[tuple[Named, Contender | None, Measured]] = []
    for named in contenders:
        built.append((named, *_build(named, setting, parts, exact)))
        done += 1
        tell(done / steps)
    times: list[list[float]] = [[] for _ in built]
    for _ in range(rounds):
        for (_, contender, _), seconds in zip(built, times):
            if contender is not None:
                time.sleep(_PAUSE_S)
                start = time.perf_counter()
                contender.search(parts.queries, exact.shape[1])
                seconds.append(time.perf_counter() - start)
            done += 1
            tell(done / steps)
    return [row._replace(search_s=tuple(seconds)) for (_, _, row), seconds in zip(built, times)]


def _build(
    named: Named, setting: Setting, parts: Parts, exact: Ids
) -> tuple[Contender | None, Measured]:
    try:
        contender = named.make(setting)
        start = time.perf_counter()
        contender.build(parts.train, parts.base)
        build_s = time.perf_counter() - start
        found = contender.search(parts.queries, exact.shape[1])
        size = contender.bytes_per_vector()
    except Exception as error:  # of any library: its text is the row's
        return None, Measured(named, plain_faiss_text(error))
    shares = recalls(found, exact, parts, setting.metric)
    margin = 1.96 * float(np.std(shares)) / math.sqrt(len(shares))
    row = Measured(
        named, "", size, float(np.mean(shares)), margin, build_s, queries=len(parts.queries)
    )
    return contender, row


def recalls(found: Ids, exact: Ids, parts: Parts, metric: Metric) -> np.typing.NDArray[np.float64]:
    """Of each query, the share of the k exact neighbours found, (nq,). Where rows are equally near,
    as copies of one row are, which of them are the exact ones is chance: every row as near as the
    k-th counts as found."""
    return np.array(
        [
            _found(got[got >= 0], wanted, query, parts.base, metric) / len(wanted)
            for got, wanted, query in zip(found, exact, parts.queries)
        ]
    )


def _found(got: Ids, wanted: Ids, query: Floats, base: Floats, metric: Metric) -> int:
    others = np.setdiff1d(got, wanted)
    count = len(np.intersect1d(got, wanted))
    if len(others):
        last = exact_scores(base[wanted[-1:]], query, metric)
        count += int(np.count_nonzero(exact_scores(base[others], query, metric) >= last))
    return min(count, len(wanted))
