# SPDX-License-Identifier: MIT
"""Rows with ids are added, searched, removed, saved and loaded."""

import pathlib
import tempfile

import numpy as np

import polarquant

rows = np.sin(np.outer(np.arange(1, 1001), np.arange(1, 65))).astype(np.float32)
index = polarquant.Index("Polar4", 64, "cosine")
index.add_with_ids(rows, range(100, 1100))

for score, id in zip(*index.search(rows[42], 3)):
    print(id, f"{score:.3f}")
index.remove_ids([142])
for score, id in zip(*index.search(rows[42], 1)):
    print(id, f"{score:.3f}")

path = pathlib.Path(tempfile.gettempdir()) / "first.polar"
index.save(path)
print("rows", len(polarquant.Index.load(path)))
