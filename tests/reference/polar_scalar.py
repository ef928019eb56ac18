# SPDX-License-Identifier: MIT
"""Reference of PolarScalarB: norm, Walsh-Hadamard transform and Lloyd-Max levels in blocks of 128.

Source: Caio Vicentino, PolarQuant: Optimal Gaussian Weight Quantization via Hadamard Rotation for
LLM Compression, 2026, stages 1 to 4 and "Dequantization". A last block that is not full is padded
with zeros.
"""

import functools
import math

import numpy as np

import line_quantizer
import wide_floats

BLOCK = 128

# Table "Lloyd-Max Centroid Values": mean squared error and non-negative centroids.
PUBLISHED_MSE = {2: 0.1175, 3: 0.03454, 4: 0.009497, 5: 0.002499}
PUBLISHED_CENTROIDS = {2: [0.4528, 1.5104], 3: [0.2451, 0.7560, 1.3440, 2.1520]}


def normal_pdf(t):
    return np.exp(-np.square(t) / 2) / math.sqrt(2 * math.pi)


def normal_mass(a, b):
    """Φ(b) − Φ(a), by the tail on the side of 0 that loses no digits."""
    out = np.empty(len(a))
    for i, (low, high) in enumerate(zip(a, b)):
        if low >= 0:
            out[i] = (math.erfc(low / math.sqrt(2)) - math.erfc(high / math.sqrt(2))) / 2
        elif high <= 0:
            out[i] = (math.erfc(-high / math.sqrt(2)) - math.erfc(-low / math.sqrt(2))) / 2
        else:
            out[i] = (math.erf(high / math.sqrt(2)) - math.erf(low / math.sqrt(2))) / 2
    return out


def normal_moment(a, b):
    """∫ t φ(t) dt = φ(a) − φ(b)."""
    return normal_pdf(a) - normal_pdf(b)


def normal_quantile(p):
    """Φ⁻¹ by bisection; only the first guess of the levels needs it."""
    low, high = -10.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        if math.erfc(-middle / math.sqrt(2)) / 2 < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@functools.lru_cache(maxsize=None)
def codebook(bits):
    """The 2^bits Lloyd-Max centroids of N(0,1), ascending and exactly symmetric."""
    count = 1 << bits
    # Levels at the quantiles of the density's cube root (Panter and Dite): near the solution.
    start = [math.sqrt(3) * normal_quantile((i + 0.5) / count) for i in range(count)]
    centroids = line_quantizer.solve(normal_mass, normal_moment, normal_pdf, -np.inf, np.inf, start)
    return (centroids - centroids[::-1]) / 2


def codebook_mse(centroids):
    """E[(z − c(z))²] = 1 − Σ mass·c² for centroids that are their cells' means."""
    borders = np.concatenate(([-np.inf], (centroids[:-1] + centroids[1:]) / 2, [np.inf]))
    return 1 - np.sum(normal_mass(borders[:-1], borders[1:]) * np.square(centroids))


def walsh_hadamard(x):
    """H x over the last axis, whose length is a power of two: H_2d = [[H, H], [H, −H]]/√2."""
    size = x.shape[-1]
    if size == 1:
        return np.array(x, dtype=np.float64)
    top = walsh_hadamard(x[..., : size // 2])
    bottom = walsh_hadamard(x[..., size // 2 :])
    return np.concatenate((top + bottom, top - bottom), axis=-1) / math.sqrt(2)


def to_blocks(x):
    """(n, d) → (n, blocks, 128), padded with zeros."""
    n, d = x.shape
    blocks = -(-d // BLOCK)
    padded = np.zeros((n, blocks * BLOCK))
    padded[:, :d] = x
    return padded.reshape(n, blocks, BLOCK)


def normalized(x):
    """Norms, (n, blocks), and z = √128·H·b/‖b‖, (n, blocks, 128); z of a zero block is 0."""
    blocks = to_blocks(np.asarray(x, dtype=np.float64))
    norms = np.sqrt(np.sum(np.square(blocks), axis=-1))
    safe = np.where(norms == 0, 1, norms)
    return norms, math.sqrt(BLOCK) * walsh_hadamard(blocks / safe[..., None])


def encode(x, bits):
    """Bits of 16-bit norms, (n, blocks), and level numbers, (n, blocks, 128)."""
    norms, z = normalized(x)
    return wide_floats.nearest(norms), line_quantizer.nearest(z, codebook(bits))


def decode(norms, levels, bits, d):
    z = codebook(bits)[levels]
    blocks = walsh_hadamard(z / math.sqrt(BLOCK)) * wide_floats.numbers(norms)[..., None]
    return blocks.reshape(len(norms), -1)[:, :d]


def reconstruct(x, bits):
    norms, levels = encode(x, bits)
    return decode(norms, levels, bits, x.shape[1])
