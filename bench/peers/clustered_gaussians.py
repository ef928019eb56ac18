#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes vectors that resemble text embeddings, for sizes that no bundled data has.

    clustered_gaussians.py ROWS DIM QUERIES BASE.npy QUERY.npy [--seed S]

A row is  x = m + sqrt(1 - w)*c[z] + sqrt(w)*e,  then scaled to length 1:

- z: one of about ROWS/200 clusters, all equally likely;
- c (the centres) and e (the row's own part): Gaussian with the same covariance R diag(l) R', where
  l[i] ~ (i + 1)^-0.8 sums to 1 and R is a random rotation: few strong directions, a long tail, and
  no coordinate that stands out;
- w = 0.5: half of the variance is within clusters;
- m: a mean of length 0.25, as embeddings have one.

Queries are further rows of the same mixture, so a query has near neighbours (its cluster) and far
ones. What this lacks: clusters of unequal size and shape, heavy tails, and near-duplicates. Recall
on it ranks codes of a kind; it is no forecast for your data.

The seed decides the numbers, up to the rounding of the matrix products of the NumPy at hand.
"""

import argparse

import numpy as np

DECAY = 0.8
WITHIN_SHARE = 0.5
MEAN_LENGTH = 0.25
CLUSTER_ROWS = 200
BLOCK_ROWS = 16384


class Mixture:
    def __init__(self, rows, dim, seed, cluster_rows=CLUSTER_ROWS):
        self.dim = dim
        self.random = np.random.default_rng(seed)
        spectrum = np.arange(1, dim + 1) ** -DECAY
        scale = np.sqrt(spectrum / spectrum.sum())
        rotation, _ = np.linalg.qr(self.random.standard_normal((dim, dim)))
        # Gaussian rows times this have the covariance above.
        self.colour = (scale[:, None] * rotation.T).astype(np.float32)
        mean = self.random.standard_normal(dim)
        self.mean = (MEAN_LENGTH * mean / np.linalg.norm(mean)).astype(np.float32)
        self.centres = self._gaussian(max(1, round(rows / cluster_rows)))

    def _gaussian(self, rows):
        return self.random.standard_normal((rows, self.dim), dtype=np.float32) @ self.colour

    def draw(self, rows):
        cluster = self.random.integers(len(self.centres), size=rows)
        x = np.float32(np.sqrt(WITHIN_SHARE)) * self._gaussian(rows)
        x += np.float32(np.sqrt(1 - WITHIN_SHARE)) * self.centres[cluster]
        x += self.mean
        return x / np.linalg.norm(x, axis=1, keepdims=True)


def write(path, mixture, rows):
    """Block by block: the file may be larger than memory."""
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, mixture.dim))
    for start in range(0, rows, BLOCK_ROWS):
        stop = min(rows, start + BLOCK_ROWS)
        out[start:stop] = mixture.draw(stop - start)
    out.flush()


def generate(rows, dim, queries, base_path, query_path, seed):
    mixture = Mixture(rows, dim, seed)
    # Queries first, so that --nb of a longer file keeps them.
    write(query_path, mixture, queries)
    write(base_path, mixture, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("rows", "dim", "queries"):
        parser.add_argument(name, type=int)
    parser.add_argument("base", help="file to write, .npy")
    parser.add_argument("query", help="file to write, .npy")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if min(options.rows, options.dim, options.queries) < 1:
        parser.error("ROWS, DIM and QUERIES must be 1 or more")
    generate(options.rows, options.dim, options.queries, options.base, options.query, options.seed)


if __name__ == "__main__":
    main()
