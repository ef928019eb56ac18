# SPDX-License-Identifier: MIT
"""PyTorch, the package faiss and this one in a process: each has threads of its own for its loops, and they
take turns, as when embeddings are made between searches."""

import importlib.util
import subprocess
import sys
import unittest

from support import needs_indexes

# Of importing them: whose libraries are loaded first.
_ORDERS = (("torch", "faiss", "polarquant"), ("polarquant", "faiss", "torch"))

_CODES = """
import {0}
import {1}
import {2}
import numpy, torch, polarquant
torch.manual_seed(1)
x = numpy.random.default_rng(1).standard_normal((2000, 64), dtype=numpy.float32)
weights = torch.randn(64, 64)
weights, _ = torch.linalg.qr(weights)
codec = polarquant.Codec("Polar8", 64, "l2", num_threads=2)
for turn in range(20):
    rows = (torch.from_numpy(x) @ weights @ weights.T).numpy()
    assert numpy.abs(rows - x).max() < 1e-3
    codes = codec.encode(x)
    found = codec.search(x[:50], codes, 1, num_threads=2)[1][:, 0].tolist()
    assert found == list(range(50)), found
"""

_INDEXES = """
import faiss
theirs = faiss.index_factory(64, "IVF8,Flat", faiss.METRIC_L2)
ours = polarquant.Index("IVF8,Polar8", 64, "l2")
for index in (theirs, ours):
    index.train(x)
    index.add(x)
for turn in range(20):
    torch.from_numpy(x) @ weights
    for index in (theirs, ours):
        found = index.search(x[:50], 1)[1][:, 0].tolist()
        assert found == list(range(50)), (index, found)
"""


@unittest.skipUnless(
    all(importlib.util.find_spec(name) for name in ("torch", "faiss")),
    "torch and faiss are not both installed",
)
class BesideTorchTest(unittest.TestCase):
    def run_program(self, program):
        ran = subprocess.run(
            [sys.executable, "-c", program + "print('all work')\n"],
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertEqual((ran.returncode, ran.stdout), (0, "all work\n"), ran.stderr)

    def test_codes_and_matrix_products_in_turns(self):
        for names in _ORDERS:
            with self.subTest(names):
                self.run_program(_CODES.format(*names))

    @needs_indexes
    def test_indexes_and_matrix_products_in_turns(self):
        for names in _ORDERS:
            with self.subTest(names):
                self.run_program(_CODES.format(*names) + _INDEXES)


if __name__ == "__main__":
    unittest.main()
