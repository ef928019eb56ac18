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
    _allow_replace_deleted = False

    def __init__(self, what, dim, threads):
        super().__init__(what, dim, threads)
        match = re.fullmatch(r"HNSW(\d+)", what)
        if not match:
            self.refuse("HNSWm")
        self._m = int(match[1])
        self._index = hnswlib.Index("ip", dim)

    def prepare_changes(self):
        self._allow_replace_deleted = True

    def upsert(self, ids, x):
        # An id that is there gets the new vector; a new one takes the node of one that is deleted.
        known = self._ids.issuperset(ids.tolist())
        self._index.add_items(x, ids, num_threads=self.threads, replace_deleted=not known)
        self._ids.update(ids.tolist())

    def remove(self, ids):
        for id in ids.tolist():
            self._index.mark_deleted(id)
        self._ids.difference_update(ids.tolist())

    def library(self):
        return f"hnswlib {importlib.metadata.version('hnswlib')}"

    def build(self, base):
        settings = {"M": self._m, "ef_construction": EF_CONSTRUCTION}
        settings["allow_replace_deleted"] = self._allow_replace_deleted
        self._index.init_index(len(base), **settings)
        self._index.set_num_threads(self.threads)
        self._ids = set(range(len(base)))
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
