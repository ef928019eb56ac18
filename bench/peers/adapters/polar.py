# SPDX-License-Identifier: MIT
"""Ours, through the Python package: a factory string, or one with +ids, which has a map of ids."""

import pickle

import numpy as np
import polarquant

from adapters.adapter import GrowingAdapter


class Polar(GrowingAdapter):
    is_ours = True
    params = ("nprobe", "ef_search", "k_factor", "exactness")

    def __init__(self, what, dim, threads):
        super().__init__(what, dim, threads)
        spec, _, extra = what.partition("+ids")
        if extra:
            self.refuse("a factory string, or one with +ids")
        self._with_ids = spec != what
        self._index = polarquant.Index(spec, dim, "ip")
        self._params = {}

    def library(self):
        return f"polarquant {polarquant.__version__}"

    def build(self, base):
        self._index.train(self.training_rows(base))
        self._size_without_rows = self.stored_bytes()
        if self._with_ids:
            self._index.add_with_ids(base, np.arange(len(base)))
        else:
            self._index.add(base)

    def prepare_changes(self):
        self._with_ids = True

    def upsert(self, ids, x):
        self._index.upsert(ids, x, num_threads=self.threads)

    def remove(self, ids):
        self._index.remove_ids(ids)

    def stored_bytes(self):
        return len(pickle.dumps(self._index))

    def bytes_per_vector(self, base):
        if self.what.startswith("HNSW") and "x," in self.what:
            return self._index.memory_bytes / len(base), "memory; no file has the signs of links"
        try:
            plain = not self._with_ids and not self.what.startswith(("IVF", "IMI", "HNSW", "NSG"))
            if plain:
                return float(self._index.code_size), "code_size: code and factors of a row"
        except polarquant.UnsupportedError:
            pass
        return super().bytes_per_vector(base)

    def set_params(self, **params):
        self._params = params

    def search(self, queries, k, filter=None):
        options = {"filter": filter, "num_threads": self.threads}
        return self._index.search(queries, k, **options, **self._params)[1]

    def make_filter(self, allowed):
        return allowed

    def keep_filter(self, allowed):
        return polarquant.Bitset(allowed)
