# SPDX-License-Identifier: MIT
"""Keeps 2,000 documents with vectors in an SQLite database, and searches those of some years."""

import pathlib
import sqlite3
import tempfile

import numpy as np
import polarquant.sqlite

# Stands in for your embeddings.
x = np.random.default_rng(1).standard_normal((2000, 384), dtype=np.float32)

folder = tempfile.TemporaryDirectory()
connection = sqlite3.connect(pathlib.Path(folder.name) / "docs.db")
polarquant.sqlite.load(connection)
connection.execute(
    "CREATE VIRTUAL TABLE docs USING polar(embedding float[384], code=Polar4, year INTEGER, +text)"
)
with connection:  # one transaction
    connection.executemany(
        "INSERT INTO docs(rowid, embedding, year, text) VALUES (?, ?, ?, ?)",
        ((i, x[i].tobytes(), 2000 + i % 25, f"document {i}") for i in range(len(x))),
    )

for rowid, distance, text in connection.execute(
    "SELECT rowid, distance, text FROM docs"
    " WHERE embedding MATCH ? AND k = 3 AND year >= 2005 ORDER BY distance",
    (x[7].tobytes(),),
):
    print(f"row {rowid}, cosine about {1 - distance:.2f}")
    print(f"  {text}")
connection.close()
folder.cleanup()
