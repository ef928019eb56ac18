# SPDX-License-Identifier: MIT
"""What the two checks share: the list of results, and the inputs."""

import sys

import numpy as np

DIMS = (1, 2, 3, 7, 16, 100, 128, 129, 384)


class Report:
    """Prints a line per case; a case passes when its worst figure is within its limit."""

    def __init__(self):
        self.passed = self.failed = 0

    def case(self, name, ok, figures):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
        print(f"{'ok  ' if ok else 'FAIL'} {name}: {figures}", flush=True)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)


def gaussian(rng, n, d):
    return rng.standard_normal((n, d)).astype(np.float32)


def heavy_tailed(rng, n, d):
    """Student's t with 2 degrees of freedom, cut so that no norm passes 2^14."""
    return np.clip(rng.standard_t(2, (n, d)), -500, 500).astype(np.float32)


def awkward(rng, n, d):
    """Zeros, −0, one coordinate alone, equal coordinates, diagonals, tiny, huge, sparse rows."""
    rows = [np.zeros(d), np.full(d, -0.0), np.ones(d), -np.ones(d),
            np.where(np.arange(d) % 2, -1.0, 1.0), np.arange(d) + 1.0, -0.5 * np.arange(d) - 1,
            np.full(d, 1e-3), np.full(d, -500.0)]
    for place in sorted({0, d // 2, d - 1}):
        for value in (1.0, -1.0, 5e3, 2e-3):
            row = np.zeros(d)
            row[place] = value
            rows.append(row)
        row = rng.standard_normal(d) * 0.01
        row[place] = 5e3
        rows.append(row)
    rows.extend(np.abs(rng.standard_normal((4, d))) * 1e-3 + 1e-3)
    rows.extend(rng.standard_normal((4, d)) * 300)
    rows.extend(rng.integers(-2, 3, (8, d)).astype(float))
    rows.extend(rng.standard_normal((8, d)) * (rng.random((8, d)) < 0.1))
    rows = np.array(rows)
    return rows[np.arange(n) % len(rows)].astype(np.float32)


INPUTS = {"gaussian": gaussian, "heavy": heavy_tailed, "awkward": awkward}


def norms(x):
    return np.sqrt(np.sum(np.square(np.asarray(x, dtype=np.float64)), axis=-1))
