# SPDX-License-Identifier: MIT
"""Intel's Scalable Vector Search: Flat,CODE and Vamanam,CODE with a degree of m; CODE is float32 or
LVQb or LVQbxr (b bits, and r for the error). LVQ works on Intel's processors only."""

import os
import re
import tempfile

import svs

from adapters.adapter import Adapter

ALPHA = 0.95  # its documentation's, for inner product
BUILD_WINDOW = 128


def is_intel():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            return "GenuineIntel" in info.read()
    except OSError:
        return True


class Svs(Adapter):
    params = ("ef_search",)

    def __init__(self, what, dim, threads):
        super().__init__(what, dim, threads)
        match = re.fullmatch(
            r"(?:Flat|Vamana(?P<m>\d+)),(?:float32|LVQ(?P<b>\d)(?:x(?P<r>\d))?)", what
        )
        if not match:
            self.refuse(
                "Flat,CODE or Vamanam,CODE with CODE of float32, LVQ4, LVQ8, LVQ4x4, LVQ4x8"
            )
        self._degree = int(match["m"] or 0)
        self._bits = [int(match[name] or 0) for name in "br"]

    def library(self):
        return f"scalable-vs {svs.library_version()}"

    def build(self, base):
        if self._bits[0] and not is_intel():
            # SVS itself would end the process.
            raise RuntimeError("LVQ refuses processors that are not Intel's")
        with tempfile.TemporaryDirectory() as folder:
            data = base
            if self._bits[0] or not self._degree:
                path = os.path.join(folder, "base.fvecs")
                svs.common.write_vecs(base, path)
                data = svs.VectorDataLoader(path, svs.DataType.float32, self.dim)
            if self._bits[0]:
                data = svs.LVQLoader(data, *self._bits)
            if self._degree:
                parameters = svs.VamanaBuildParameters(
                    alpha=ALPHA, graph_max_degree=self._degree, window_size=BUILD_WINDOW
                )
                self._index = svs.Vamana.build(
                    parameters, data, svs.DistanceType.MIP, num_threads=self.threads
                )
            else:
                self._index = svs.Flat(data, svs.DistanceType.MIP, num_threads=self.threads)

    def bytes_per_vector(self, base):
        primary, residual = self._bits
        # LVQ keeps a scale and an offset of 16 bits for each vector.
        code = self.dim * (primary + residual) / 8 + 4 if primary else 4.0 * self.dim
        links = 4 * (self._degree + 1) if self._degree else 0
        return code + links, "computed: code, scale and offset, links"

    def set_params(self, **params):
        if "ef_search" in params:
            self._index.search_window_size = params["ef_search"]

    def search(self, queries, k):
        return self._index.search(queries, k)[0]
