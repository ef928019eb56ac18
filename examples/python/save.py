# SPDX-License-Identifier: MIT
"""Saves an index, and searches it in its file."""

import pathlib
import tempfile

import numpy as np
import polarquant

# Stands in for your embeddings.
x = np.random.default_rng(1).standard_normal((1000, 384), dtype=np.float32)
index = polarquant.Index("Polar2", 384, "cosine")
index.add(x)

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "rows.polar"
    index.save(path)
    again = polarquant.Index.load(path, memory_map=True)
    scores, ids = again.search(x[7], k=3)
    print(f"row {ids[0]}, cosine about {scores[0]:.2f}")
