# SPDX-License-Identifier: MIT
"""Reference of the "-hadamard" and "-dense" rotations.

Source: docs/codec.md, "Rotation", and docs/format.md, "Random numbers".
"""

import math

import numpy as np

import polar_scalar

MASK = (1 << 64) - 1


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class SplitMix64:
    """Stream n of a seed."""

    def __init__(self, seed, stream):
        self.state = (seed ^ mix(stream + 1)) & MASK

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        return mix(self.state)

    def signs(self, count):
        return np.array([-1.0 if self.next() >> 63 else 1.0 for _ in range(count)])

    def uniform(self):
        """In [−1, 1)."""
        return (self.next() >> 11) * 2.0**-53 * 2 - 1

    def normals(self, count):
        """Marsaglia's polar method."""
        out = []
        while len(out) < count:
            x, y = self.uniform(), self.uniform()
            s = x * x + y * y
            if 0 < s < 1:
                factor = math.sqrt(-2 * math.log(s) / s)
                out.extend((x * factor, y * factor))
        return np.array(out[:count])


def hadamard(d, seed):
    """R, (d, d)."""
    random = SplitMix64(seed, 0)
    layers = [random.signs(d) for _ in range(9)]
    size = 1 << (d.bit_length() - 1)
    half = d // 2
    rows = np.eye(d)  # row j becomes R e_j
    for r in range(3):
        rows = rows * layers[3 * r]
        rows[:, :size] = polar_scalar.walsh_hadamard(rows[:, :size])
        rows = rows * layers[3 * r + 1]
        start = 0 if r % 2 == 0 else d - 2 * half
        first = rows[:, start : start + half].copy()
        second = rows[:, start + half : start + 2 * half].copy()
        rows[:, start : start + half] = (first + second) / math.sqrt(2)
        rows[:, start + half : start + 2 * half] = (first - second) / math.sqrt(2)
        rows = rows * layers[3 * r + 2]
        rows[:, d - size :] = polar_scalar.walsh_hadamard(rows[:, d - size :])
    return rows.T


def dense(d, seed):
    """R, (d, d): signs, then Householder reflections from the shortest to the longest."""
    matrix = np.diag(SplitMix64(seed, 0).signs(d))
    random = SplitMix64(seed, 1)
    reflectors = []
    normals = random.normals(sum(range(2, d + 1)))
    start = 0
    for size in range(d, 1, -1):
        v = normals[start : start + size].copy()
        start += size
        v[0] += math.copysign(math.sqrt(v @ v), v[0])
        reflectors.append((v * math.sqrt(2 / (v @ v))).astype(np.float32).astype(np.float64))
    for i, v in reversed(list(enumerate(reflectors))):
        matrix[i:] -= np.outer(v, v @ matrix[i:])
    return matrix
