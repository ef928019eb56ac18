# SPDX-License-Identifier: MIT
"""The rows that the golden files were made of: those of tests/faiss/clustered_rows.h, from
docs/format.md, "Random numbers"."""

import numpy as np

from fast_rotation import SplitMix64

CENTRES, SEED_OF_CENTRES = 20, 99


class Random(SplitMix64):
    """Of a seed alone, without streams."""

    def __init__(self, seed):
        super().__init__(0, 0)
        self.state = seed

    def below(self, bound):
        """Unbiased: multiply and reject."""
        while True:
            product = self.next() * bound
            if product % 2**64 >= 2**64 % bound:
                return product >> 64


def clustered_rows(count, dim, seed):
    """(count, dim), float32. dim is even: normals come in pairs."""
    assert dim % 2 == 0
    centres = Random(SEED_OF_CENTRES).normals(CENTRES * dim).reshape(CENTRES, dim) + 0.5
    random = Random(seed)
    rows = [centres[random.below(CENTRES)] + 0.6 * random.normals(dim) for _ in range(count)]
    return np.array(rows).reshape(count, dim).astype(np.float32)
