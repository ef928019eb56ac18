# SPDX-License-Identifier: MIT
"""Builds an index file in parts, from rows that come in batches: memory holds a part at a time."""

import os
import tempfile

import numpy as np
import polarquant

# Stands in for your embeddings.
x = np.random.default_rng(1).standard_normal((5000, 384), dtype=np.float32)
batches = np.split(x, 10)

index = polarquant.Index("IVF16,Polar4", 384, "cosine")
index.train(x[:2000])

folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "rows.polar")

# index: trained, without rows.
builder = polarquant.IndexBuilder(path, index, memory_bytes=1 << 20)
for rows in batches:
    builder.add(rows)
builder.finish()

with polarquant.Index.load(path, memory_map=True) as built:
    scores, ids = built.search(x[7], k=3, nprobe=4)
folder.cleanup()
print(f"row {ids[0]}, cosine about {scores[0]:.2f}")
