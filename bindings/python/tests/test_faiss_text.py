# SPDX-License-Identifier: MIT
"""Errors of the package faiss, told plainly."""

import unittest

from polarquant._faiss_text import plain_faiss_text

_PLACE = (
    "Error in void faiss::Clustering::train(idx_t, const float*) at /project/Clustering.cpp:277: "
)


class FaissTextTest(unittest.TestCase):
    def test_reasons_are_told_without_places(self):
        for raised, told in (
            (
                "Error: 'nx >= k' failed: Number of training points (1)",
                "Number of training points (1)",
            ),
            ("Error: 'd % M == 0' failed", "FAISS requires d % M == 0"),
            ("Error: 'd % M == 0' failed: ", "FAISS requires d % M == 0"),
            ("could not parse\n  it", "could not parse it"),
        ):
            self.assertEqual(plain_faiss_text(RuntimeError(_PLACE + raised)), told)
        self.assertEqual(plain_faiss_text(ValueError("of another")), "of another")
        self.assertEqual(plain_faiss_text(MemoryError()), "MemoryError")


if __name__ == "__main__":
    unittest.main()
