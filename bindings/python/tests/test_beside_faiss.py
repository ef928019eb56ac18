# SPDX-License-Identifier: MIT
"""The FAISS inside the library and another one in the same process leave each other alone."""

import importlib.util
import subprocess
import sys
import unittest

from support import needs_indexes

_PROGRAM = """
import {first}
import {second}
import faiss, numpy, polarquant
x = numpy.random.default_rng(1).standard_normal((2000, 32), dtype=numpy.float32)
for round in range(2):
    theirs = faiss.index_factory(32, "IVF8,Flat", faiss.METRIC_L2)
    ours = polarquant.Index("IVF8,Flat", 32, "l2")
    codes = polarquant.Index("Polar8", 32, "l2")
    for index in (theirs, ours, codes):
        index.train(x)
        index.add(x)
        assert index.search(x[:50], 1)[1][:, 0].tolist() == list(range(50))
    try:
        theirs.add(x[:, :5])
    except AssertionError:
        pass
    try:
        polarquant.Index("IVF8,Flaat", 32)
    except ValueError:
        pass
    try:
        faiss.index_factory(32, "IVF8,Flaat")
    except RuntimeError:
        pass
print("both work")
"""


@needs_indexes
@unittest.skipUnless(importlib.util.find_spec("faiss"), "faiss is not installed")
class BesideFaissTest(unittest.TestCase):
    def test_both_work_in_either_order(self):
        for names in [("faiss", "polarquant"), ("polarquant", "faiss")]:
            with self.subTest(names):
                program = _PROGRAM.format(first=names[0], second=names[1])
                ran = subprocess.run(
                    [sys.executable, "-c", program],
                    capture_output=True,
                    text=True,
                    timeout=120,
                )
                self.assertEqual((ran.returncode, ran.stdout), (0, "both work\n"), ran.stderr)


if __name__ == "__main__":
    unittest.main()
