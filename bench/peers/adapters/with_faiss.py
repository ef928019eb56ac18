# SPDX-License-Identifier: MIT
"""FAISS: any string of its factory."""

import faiss

from adapters.adapter import GrowingAdapter

# Our names of search parameters, and those of faiss.ParameterSpace.
PARAMS = {"nprobe": "nprobe", "ef_search": "efSearch", "k_factor": "k_factor_rf"}


class Faiss(GrowingAdapter):
    params = tuple(PARAMS)

    def __init__(self, what, dim, threads):
        super().__init__(what, dim, threads)
        faiss.omp_set_num_threads(threads)
        self._index = faiss.index_factory(dim, what, faiss.METRIC_INNER_PRODUCT)

    def library(self):
        return f"faiss-cpu {faiss.__version__} ({faiss.get_compile_options().strip()})"

    def build(self, base):
        self._index.train(base)
        self._size_without_rows = self.stored_bytes()
        self._index.add(base)

    def stored_bytes(self):
        return faiss.serialize_index(self._index).size

    def set_params(self, **params):
        space = faiss.ParameterSpace()
        for name, value in params.items():
            space.set_index_parameter(self._index, PARAMS[name], value)

    def search(self, queries, k):
        return self._index.search(queries, k)[1]
