# SPDX-License-Identifier: MIT
"""Fills two indexes of one trained state, as two programs might, and makes one of them."""

import numpy as np
import polarquant

# Stands in for your embeddings.
x = np.random.default_rng(1).standard_normal((1000, 384), dtype=np.float32)

index = polarquant.Index("Polar2", 384, "cosine")
index.train(x)  # before the copies, so that their codes mix
shard = index.clone()
index.add_with_ids(x[:500], np.arange(500))
shard.add_with_ids(x[500:], np.arange(500, 1000))

index.merge_from(shard)  # which is empty afterwards
index.remove_ids(range(990, 1000))

scores, ids = index.search(x[7], k=3)
print(f"row {ids[0]}, cosine about {scores[0]:.2f}")
