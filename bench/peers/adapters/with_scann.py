# SPDX-License-Identifier: MIT
"""ScaNN: AHn (anisotropic hashing, 4 bits for n dimensions) or int8, after Treen, as one wishes
(n leaves), with the floats after Reorder: "AH2", "Tree1024,AH2,Reorder"."""

import importlib.metadata
import re

import numpy as np
import scann

from adapters.adapter import Adapter

ANISOTROPIC_THRESHOLD = 0.2  # its documentation's, for inner product


class Scann(Adapter):
    params = ("leaves_to_search", "pre_reorder_num_neighbors")

    def __init__(self, what, dim, threads):
        super().__init__(what, dim, threads)
        match = re.fullmatch(
            r"(?:Tree(?P<leaves>\d+),)?(?:AH(?P<block>\d+)|int8)(?P<again>,Reorder)?", what
        )
        if not match or threads != 1:
            self.refuse("[Treen,]AHn[,Reorder] or [Treen,]int8, with one thread")
        self._leaves = int(match["leaves"] or 0)
        self._block = int(match["block"] or 0)
        self._reorder = bool(match["again"])
        self._params = {}

    def library(self):
        return f"scann {importlib.metadata.version('scann')}"

    def build(self, base):
        builder = scann.scann_ops_pybind.builder(base, 10, "dot_product").set_n_training_threads(1)
        if self._leaves:
            builder = builder.tree(self._leaves, self._leaves // 10, training_sample_size=len(base))
        if self._block:
            builder = builder.score_ah(
                self._block, anisotropic_quantization_threshold=ANISOTROPIC_THRESHOLD
            )
        else:
            builder = builder.score_brute_force(True)
        if self._reorder:
            builder = builder.reorder(100)
        self._index = builder.build()

    def bytes_per_vector(self, base):
        code = -(-self.dim // self._block) / 2 if self._block else self.dim
        row = code + (4 if self._leaves else 0) + (4 * self.dim if self._reorder else 0)
        return float(row), (
            "computed: packed codes, ids of leaves, floats to reorder; its file and its memory hold "
            "the codes unpacked besides, which is not counted"
        )

    def set_params(self, **params):
        self._params = params

    def search(self, queries, k):
        if len(queries) == 1:
            # Fewer than k where its leaves have no more.
            ids = self._index.search(queries[0], final_num_neighbors=k, **self._params)[0]
            return np.pad(ids.astype(np.int64), (0, k - len(ids)), constant_values=-1)[None]
        return self._index.search_batched(queries, final_num_neighbors=k, **self._params)[0]
