# SPDX-License-Identifier: MIT
"""usearch: HNSWm,DTYPE, a graph of connectivity m over vectors of f32, f16, bf16 or i8. Its C++
interface has predicates, its Python interface has none."""

import importlib.metadata
import re

import numpy as np
from usearch.index import Index

from adapters.adapter import Adapter


class Usearch(Adapter):
    params = ("ef_search",)

    def __init__(self, what, dim, threads):
        super().__init__(what, dim, threads)
        match = re.fullmatch(r"HNSW(?P<m>\d+),(?P<dtype>f32|f16|bf16|i8)", what)
        if not match:
            self.refuse("HNSWm,f32, f16, bf16 or i8")
        self._index = Index(
            ndim=dim, metric="ip", dtype=match["dtype"], connectivity=int(match["m"])
        )

    def library(self):
        return f"usearch {importlib.metadata.version('usearch')}"

    def build(self, base):
        self._index.add(np.arange(len(base)), base, threads=self.threads)

    def prepare_changes(self):
        pass

    def upsert(self, ids, x):
        self.remove(ids)
        self._index.add(ids, x, threads=self.threads)

    def remove(self, ids):
        self._index.remove(ids, threads=self.threads)  # passes over those that are not there

    def bytes_per_vector(self, base):
        return len(self._index.save()) / len(base), "the file over its rows"

    def set_params(self, **params):
        if "ef_search" in params:
            self._index.expansion_search = params["ef_search"]

    def search(self, queries, k):
        keys = self._index.search(queries, k, threads=self.threads).keys
        return np.asarray(keys, np.int64).reshape(len(queries), k)
