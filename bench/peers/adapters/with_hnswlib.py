# SPDX-License-Identifier: MIT
"""hnswlib: HNSWm, a graph over the floats."""

import importlib.metadata
import re

import hnswlib
import numpy as np

from adapters.adapter import Adapter

EF_CONSTRUCTION = 200  # its own default


class Hnswlib(Adapter):
    params = ("ef_search",)

    def __init__(self, what, dim, threads):
        super().__init__(what, dim, threads)
        match = re.fullmatch(r"HNSW(\d+)", what)
        if not match:
            self.refuse("HNSWm")
        self._m = int(match[1])
        self._index = hnswlib.Index("ip", dim)

    def library(self):
        return f"hnswlib {importlib.metadata.version('hnswlib')}"

    def build(self, base):
        self._index.init_index(len(base), M=self._m, ef_construction=EF_CONSTRUCTION)
        self._index.set_num_threads(self.threads)
        self._index.add_items(base, num_threads=self.threads)

    def bytes_per_vector(self, base):
        return self._index.index_file_size() / len(base), "the file over its rows"

    def set_params(self, **params):
        if "ef_search" in params:
            self._index.set_ef(params["ef_search"])

    def search(self, queries, k, filter=None):
        try:
            found = self._index.knn_query(queries, k, num_threads=self.threads, filter=filter)[0]
            return found.astype(np.int64)
        except (
            RuntimeError
        ):  # one query with fewer than k results, and none of the call are returned
            if len(queries) == 1:
                return np.full((1, k), -1)
            return np.concatenate([self.search(query[None], k, filter) for query in queries])

    def make_filter(self, allowed):
        # A function, asked of each node that the search comes to, through the interpreter.
        return allowed.__getitem__
