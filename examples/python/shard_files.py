# SPDX-License-Identifier: MIT
"""Builds an index in shards, as several machines might, and searches them as one index."""

import os
import tempfile

import numpy as np
import polarquant
from polarquant import shards

# Stands in for your embeddings, in four parts.
x = np.random.default_rng(1).standard_normal((8000, 384), dtype=np.float32)
parts = np.split(x, 4)

temporary = tempfile.TemporaryDirectory()
folder = temporary.name

index = polarquant.Index("IVF16,Polar4", 384, "cosine")
index.train(x[:2000])  # once, anywhere
state = shards.write_state(index, os.path.join(folder, "state.polar"))

entries = []
for number, rows in enumerate(parts):  # each on a machine of its own
    entries.append(shards.build_shard([rows], state, os.path.join(folder, f"{number}.polar")))

manifest = os.path.join(folder, "manifest.json")
shards.write_manifest(manifest, state, entries)  # last

with polarquant.ShardedIndex.open(manifest) as sharded:
    scores, ids = sharded.search(x[7], k=3, nprobe=4)
temporary.cleanup()
print(f"row {ids[0]}, cosine about {scores[0]:.2f}")
