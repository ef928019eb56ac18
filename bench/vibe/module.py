# SPDX-License-Identifier: MIT
"""polarquant for VIBE: flat search, inverted files and graphs over polar codes."""

import os

# Indexes are built with one thread, as the queries are run; OpenMP reads this when it is loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import polarquant

from ..base.module import BaseANN

METRICS = {"euclidean": "l2", "cosine": "cosine", "normalized": "ip", "ip": "ip"}


def _without_gaps(ids):
    """Where the lists that are looked at have fewer rows than are asked for, -1 fills the rest."""
    return ids[ids >= 0]


class Polar(BaseANN):
    """An index made from a factory string."""

    def __init__(self, metric, description):
        if metric not in METRICS:
            raise ValueError(f"metric {metric} (allowed: {', '.join(METRICS)})")
        self._metric = METRICS[metric]
        self._description = description
        self._search = {}

    def fit(self, X):
        rows = np.ascontiguousarray(X, np.float32)
        self._index = polarquant.Index(self._description, rows.shape[1], self._metric)
        self._index.train(rows)
        self._index.add(rows)

    def query(self, q, n):
        return _without_gaps(self._index.search(q, n, num_threads=1, **self._search)[1])

    def batch_query(self, X, n):
        self._found = self._index.search(X, n, **self._search)[1]

    def get_batch_results(self):
        return [_without_gaps(found) for found in self._found]

    def __str__(self):
        settings = "".join(f", {name}={value}" for name, value in self._search.items())
        return f"polarquant({self._description}{settings})"


class PolarFlat(Polar):
    """Every row's sign bits are looked at; `exactness` says how surely the rest are left out."""

    def set_query_arguments(self, exactness):
        self._search = {"exactness": float(exactness)}


class PolarIVF(Polar):
    def __init__(self, metric, lists, code):
        super().__init__(metric, f"IVF{lists},{code}")

    def set_query_arguments(self, nprobe):
        self._search = {"nprobe": nprobe}


class PolarHNSW(Polar):
    def __init__(self, metric, links, code):
        super().__init__(metric, f"HNSW{links},{code}")

    def set_query_arguments(self, ef_search):
        self._search = {"ef_search": ef_search}
