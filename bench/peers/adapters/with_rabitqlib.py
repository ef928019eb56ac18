# SPDX-License-Identifier: MIT
"""RaBitQ-Library, by RaBitQ's authors: FlatB is its inverted file with one list, IVFn,B with n lists
(B of 1 to 9 bits), SymQGm its SymphonyQG graph of degree m."""

import importlib.metadata
import os
import re
import tempfile

import numpy as np
import rabitqlib

from adapters.adapter import Adapter

EF_CONSTRUCTION = 200


class RaBitQLibrary(Adapter):
    params = ("nprobe", "ef_search")

    def __init__(self, what, dim, threads):
        super().__init__(what, dim, threads)
        match = re.fullmatch(
            r"Flat(?P<flat>[1-9])|IVF(?P<lists>\d+),(?P<bits>[1-9])|SymQG(?P<m>\d+)", what
        )
        if not match:
            self.refuse("FlatB, IVFn,B with B from 1 to 9, SymQGm")
        self._degree = int(match["m"] or 0)
        self._bits = int(match["flat"] or match["bits"] or 0)
        self._lists = int(match["lists"] or 1)
        self._param = 1  # nprobe, or ef of a graph

    def library(self):
        return f"rabitqlib {importlib.metadata.version('rabitqlib')}"

    def build(self, base):
        if self._degree:
            self._index = rabitqlib.SymqgIndex(self.dim, self._degree, "ip")
            self._index.build(base, EF_CONSTRUCTION, num_threads=self.threads)
            return
        if self._lists == 1:
            centroids = base.mean(axis=0, keepdims=True)
            lists = np.zeros(len(base), np.uint32)
        else:
            k_means = rabitqlib.RaBitQKMeans(self.dim, self._lists)
            k_means.train(base)
            centroids, lists = k_means.centroids, k_means.assignments
        self._index = rabitqlib.IvfIndex(self.dim, len(base), self._lists, self._bits, "ip")
        self._index.build(base, centroids, lists, num_threads=self.threads)

    def stored_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "index")
            self._index.save(path)
            return os.path.getsize(path)

    def set_params(self, **params):
        (self._param,) = params.values() or (1,)

    def search(self, queries, k):
        # Positional: the third is nprobe of inverted files and ef of graphs.
        found = self._index.search(queries, k, self._param, num_threads=self.threads)
        return next(part for part in found if np.asarray(part).dtype.kind in "iu").astype(np.int64)
