# SPDX-License-Identifier: MIT
"""turbovec: bits, then as one wishes +calibrated, and +ids for its index with a map of ids, whose filter is a
list of ids; that of the other is a mask."""

import numpy as np
import turbovec

from adapters.adapter import Adapter

CALIBRATION_ROWS = 1024  # what its documentation calls enough
CALIBRATION_SEED = 1


class Turbovec(Adapter):
    def __init__(self, what, dim, threads):
        super().__init__(what, dim, threads)
        bits, *extras = what.split("+")
        if not set(extras) <= {"calibrated", "ids"} or not bits.isdecimal():
            self.refuse("BITS, with +calibrated, +ids or both")
        if threads != 1:
            raise ValueError(f"threads {threads} (allowed: 1; turbovec reads RAYON_NUM_THREADS)")
        self._calibrate = "calibrated" in extras
        self._with_ids = "ids" in extras
        self._bits = int(bits)

    def prepare_changes(self):
        self._with_ids = True

    def upsert(self, ids, x):
        self.remove(ids)
        self._index.add_with_ids(x, ids.astype(np.uint64))

    def remove(self, ids):
        for id in ids.tolist():
            self._index.remove(id)  # False where it is not there

    def library(self):
        return f"turbovec {turbovec.__version__}"

    def build(self, base):
        kind = turbovec.IdMapIndex if self._with_ids else turbovec.TurboQuantIndex
        self._index = kind(dim=self.dim, bit_width=self._bits)
        if self._calibrate:
            order = np.random.default_rng(CALIBRATION_SEED).permutation(len(base))
            self._index.calibrate(base[order[:CALIBRATION_ROWS]])
        if self._with_ids:
            self._index.add_with_ids(base, np.arange(len(base), dtype=np.uint64))
        else:
            self._index.add(base)
        self._index.prepare()

    def stored_bytes(self):
        return len(self._index.to_bytes())

    def search(self, queries, k, filter=None):
        options = {} if filter is None else {"allowlist" if self._with_ids else "mask": filter}
        return self._index.search(queries, k, **options)[1].astype(np.int64)

    def make_filter(self, allowed):
        return np.flatnonzero(allowed).astype(np.uint64) if self._with_ids else allowed
