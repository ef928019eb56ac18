# SPDX-License-Identifier: MIT
"""Stores 1000 vectors at 2 bits a dimension in an index, and searches it."""

import numpy as np
import polarquant

# Stands in for your embeddings.
x = np.random.default_rng(1).standard_normal((1000, 384), dtype=np.float32)

index = polarquant.Index("Polar2", 384, "cosine")
index.train(x)  # optional: learns the mean
index.add(x)

# The nearest to row 7 is row 7.
scores, ids = index.search(x[7], k=3)
for score, id in zip(scores, ids):
    print(f"row {id}, cosine about {score:.2f}")

# The same among rows 100 to 199, each of them scored.
scores, ids = index.search(x[7], k=1, filter=range(100, 200), exactness=np.inf)
print(f"of rows 100 to 199: row {ids[0]}")
