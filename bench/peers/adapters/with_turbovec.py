# SPDX-License-Identifier: MIT
"""turbovec: bits, or bits with +calibrated."""

import numpy as np
import turbovec

from adapters.adapter import Adapter

CALIBRATION_ROWS = 1024  # what its documentation calls enough
CALIBRATION_SEED = 1


class Turbovec(Adapter):
    def __init__(self, what, dim, threads):
        super().__init__(what, dim, threads)
        bits, _, extra = what.partition("+")
        if extra not in ("", "calibrated") or not bits.isdecimal():
            self.refuse("BITS or BITS+calibrated")
        if threads != 1:
            raise ValueError(f"threads {threads} (allowed: 1; turbovec reads RAYON_NUM_THREADS)")
        self._calibrate = bool(extra)
        self._index = turbovec.TurboQuantIndex(dim=dim, bit_width=int(bits))

    def library(self):
        return f"turbovec {turbovec.__version__}"

    def build(self, base):
        if self._calibrate:
            order = np.random.default_rng(CALIBRATION_SEED).permutation(len(base))
            self._index.calibrate(base[order[:CALIBRATION_ROWS]])
        self._index.add(base)
        self._index.prepare()

    def stored_bytes(self):
        return len(self._index.to_bytes())

    def search(self, queries, k):
        return self._index.search(queries, k)[1]
