# SPDX-License-Identifier: MIT
"""Codes an inverted file of FAISS's at 4 bits a dimension, its lists and ids unchanged."""

import faiss
import numpy as np
import polarquant

# Stands in for your index.
x = np.random.default_rng(1).standard_normal((2000, 64), dtype=np.float32)
theirs = faiss.index_factory(64, "IVF16,Flat")
theirs.train(x)
theirs.add(x)
theirs.nprobe = 4

index = polarquant.Index.from_faiss(theirs, "Polar4")
distances, ids = index.search(x[7], k=3)
print(f"row {ids[0]}, {index.description}, nprobe {index.nprobe}")
