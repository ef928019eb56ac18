# SPDX-License-Identifier: MIT
"""FAISS: any string of its factory."""

import faiss
import numpy as np

from adapters.adapter import GrowingAdapter

# Our names of search parameters, and those of faiss.ParameterSpace.
PARAMS = {"nprobe": "nprobe", "ef_search": "efSearch", "k_factor": "k_factor_rf"}


class Faiss(GrowingAdapter):
    params = tuple(PARAMS)

    def __init__(self, what, dim, threads):
        super().__init__(what, dim, threads)
        faiss.omp_set_num_threads(threads)
        self._index = faiss.index_factory(dim, what, faiss.METRIC_INNER_PRODUCT)
        self._with_ids = isinstance(self._index, faiss.IndexIDMap)

    def library(self):
        return f"faiss-cpu {faiss.__version__} ({faiss.get_compile_options().strip()})"

    def build(self, base):
        self._index.train(self.training_rows(base))
        self._size_without_rows = self.stored_bytes()
        if self._with_ids:
            self._index.add_with_ids(base, np.arange(len(base)))
        else:
            self._index.add(base)

    def prepare_changes(self):
        inverted_file = faiss.try_extract_index_ivf(self._index)
        if inverted_file is not None:
            # Without it a removal goes through all lists.
            inverted_file.set_direct_map_type(faiss.DirectMap.Hashtable)
        elif not self._with_ids:
            self.refuse("with changes: IVF… or IDMap…")
        self._with_ids = True  # a direct map does not know the ids that `add` gives

    def upsert(self, ids, x):
        self._index.remove_ids(ids)
        self._index.add_with_ids(x, ids)

    def remove(self, ids):
        self._index.remove_ids(ids)

    def stored_bytes(self):
        return faiss.serialize_index(self._index).size

    def set_params(self, **params):
        space = faiss.ParameterSpace()
        for name, value in params.items():
            space.set_index_parameter(self._index, PARAMS[name], value)

    def search(self, queries, k, filter=None):
        if filter is None:
            return self._index.search(queries, k)[1]
        return self._index.search(queries, k, params=parameters_of(self._index, filter))[1]

    def make_filter(self, allowed):
        return faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))


def parameters_of(index, selector):
    """FAISS has a class of parameters for each class of index, which begin with its defaults."""
    index = faiss.downcast_index(index)
    if isinstance(index, faiss.IndexPreTransform):
        return faiss.SearchParametersPreTransform(index_params=parameters_of(index.index, selector))
    if isinstance(index, faiss.IndexRefine):
        inner = parameters_of(index.base_index, selector)
        return faiss.IndexRefineSearchParameters(base_index_params=inner, k_factor=index.k_factor)
    if isinstance(index, faiss.IndexIDMap):
        return parameters_of(index.index, selector)
    if isinstance(index, faiss.IndexIVF):
        return faiss.SearchParametersIVF(sel=selector, nprobe=index.nprobe)
    if isinstance(index, faiss.IndexHNSW):
        return faiss.SearchParametersHNSW(sel=selector, efSearch=index.hnsw.efSearch)
    return faiss.SearchParameters(sel=selector)
