# SPDX-License-Identifier: MIT
"""Ours, through the Python package."""

import pickle

import polarquant

from adapters.adapter import GrowingAdapter


class Polar(GrowingAdapter):
    is_ours = True
    params = ("nprobe", "ef_search", "k_factor", "exactness")

    def __init__(self, what, dim, threads):
        super().__init__(what, dim, threads)
        self._index = polarquant.Index(what, dim, "ip")
        self._params = {}

    def library(self):
        return f"polarquant {polarquant.__version__}"

    def build(self, base):
        self._index.train(base)
        self._size_without_rows = self.stored_bytes()
        self._index.add(base)

    def stored_bytes(self):
        return len(pickle.dumps(self._index))

    def bytes_per_vector(self, base):
        try:
            plain = not self.what.startswith(("IVF", "IMI", "HNSW", "NSG"))
            if plain:
                return float(self._index.code_size), "code_size: code and factors of a row"
        except polarquant.UnsupportedError:
            pass
        return super().bytes_per_vector(base)

    def set_params(self, **params):
        self._params = params

    def search(self, queries, k):
        return self._index.search(queries, k, num_threads=self.threads, **self._params)[1]
