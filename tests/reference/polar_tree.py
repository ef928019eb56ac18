# SPDX-License-Identifier: MIT
"""Reference of PolarTreeB1.B2…BL: the recursive polar transform, one codebook of angles a level.

Source: Han, Kacham, Karbasi, Mirrokni, Zandieh, PolarQuant: Quantizing KV Caches with Polar
Transformation, arXiv 2502.02617: Definition 1 and Algorithm 1 (Polar, Quant, DeQuant), Lemma 2
(the density of the angles), equation 4 (the codebooks), section 4.1 (L levels, radii of 16 bits,
k-means++ for codebooks of observed angles). Vectors are padded with zeros to whole blocks of 2^L
coordinates.
"""

import functools
import math

import numpy as np

import line_quantizer
import wide_floats

GRID = 1 << 17


def polar(x, levels):
    """Procedure Polar. x: (n, d), d a multiple of 2^levels.

    Returns the radii left, (n, d/2^levels), and a list of angles, (n, d/2^l) for l = 1 … levels: in
    [0, 2π) at level 1, in [0, π/2] above. Two zeros have the angle 0.
    """
    radius = np.asarray(x, dtype=np.float64)
    angles = []
    for level in range(1, levels + 1):
        first, second = radius[:, 0::2], radius[:, 1::2]
        angle = np.arctan2(second, first)
        if level == 1:
            # −0 has no side: an angle of −π or −0 is π or 0.
            angle = np.where(second == 0, np.where(first < 0, np.pi, 0.0), angle)
            angle = np.where(angle < 0, angle + 2 * np.pi, angle)
        angles.append(angle)
        radius = np.hypot(first, second)
    return radius, angles


def inverse_polar(radius, angles):
    """Procedure DeQuant without the rotation: the radii and angles of polar() back to (n, d)."""
    for angle in reversed(angles):
        out = np.empty((radius.shape[0], 2 * radius.shape[1]))
        out[:, 0::2] = radius * np.cos(angle)
        out[:, 1::2] = radius * np.sin(angle)
        radius = out
    return radius


def angle_density(level, theta):
    """Lemma 2: f(ψ) = Γ(2^(l−1)) / (2^(2^(l−1) − 2) Γ(2^(l−2))²) · sin^(2^(l−1) − 1)(2ψ), l ≥ 2."""
    half = 2.0 ** (level - 1)
    log_factor = math.lgamma(half) - (half - 2) * math.log(2) - 2 * math.lgamma(half / 2)
    sine = np.maximum(np.sin(2 * np.asarray(theta, dtype=np.float64)), 0)
    with np.errstate(divide="ignore"):
        return np.exp(log_factor + (half - 1) * np.log(sine))


@functools.lru_cache(maxsize=None)
def angle_integrals(level):
    """Grid over [0, π/2] and integrals of f and ψf from 0 to each grid point (midpoint rule)."""
    grid = np.linspace(0, np.pi / 2, GRID + 1)
    middle = (grid[:-1] + grid[1:]) / 2
    weight = angle_density(level, middle) * (grid[1] - grid[0])
    mass = np.concatenate(([0.0], np.cumsum(weight)))
    moment = np.concatenate(([0.0], np.cumsum(weight * middle)))
    return grid, mass, moment


@functools.lru_cache(maxsize=None)
def offline_codebook(level, bits):
    """Equation 4 for the density of a level: 2^bits angles, ascending."""
    count = 1 << bits
    if level == 1:  # uniform on [0, 2π): cells of equal width
        return (np.arange(count) + 0.5) * 2 * np.pi / count
    grid, mass, moment = angle_integrals(level)

    def between(table):
        return lambda a, b: np.interp(b, grid, table) - np.interp(a, grid, table)

    # First guess: equal shares of mass.
    start = np.interp((np.arange(count) + 0.5) / count * mass[-1], mass, grid)
    centroids = line_quantizer.solve(between(mass), between(moment),
                                lambda t: angle_density(level, t), 0.0, np.pi / 2, start)
    return (centroids + (np.pi / 2 - centroids[::-1])) / 2  # the density is symmetric about π/4


def online_codebook(samples, bits, rng, starts=4):
    """1-D k-means++ with Lloyd's iterations on observed angles, the best of a few; ascending."""
    values = np.sort(np.asarray(samples, dtype=np.float64).ravel())
    prefix = np.concatenate(([0.0], np.cumsum(values)))
    count = 1 << bits
    best, best_error = None, np.inf
    for _ in range(starts):
        centroids = seed_plus_plus(values, count, rng)
        for _ in range(200):
            ends = np.searchsorted(values, (centroids[:-1] + centroids[1:]) / 2, side="right")
            ends = np.concatenate(([0], ends, [len(values)]))
            size = np.diff(ends)
            means = np.where(size > 0, np.diff(prefix[ends]) / np.maximum(size, 1), centroids)
            shift = np.max(np.abs(means - centroids))
            centroids = np.sort(means)
            if shift < 1e-10:
                break
        error = np.sum(np.square(values - centroids[line_quantizer.nearest(values, centroids)]))
        if error < best_error:
            best, best_error = centroids, error
    return best


def seed_plus_plus(values, count, rng):
    """k-means++: each next centre is drawn by its squared distance to the nearest one."""
    centres = [values[rng.integers(len(values))]]
    distance = np.square(values - centres[0])
    while len(centres) < count:
        total = np.cumsum(distance)
        if total[-1] > 0:
            pick = np.searchsorted(total, rng.random() * total[-1], side="right")
            centres.append(values[min(pick, len(values) - 1)])
        else:
            centres.append(values[-1])
        distance = np.minimum(distance, np.square(values - centres[-1]))
    return np.sort(np.array(centres))


def offline_codebooks(bits):
    return [offline_codebook(level, b) for level, b in enumerate(bits, start=1)]


def observed(x, levels):
    """Which angles of each level count in training: those of pairs that are not two zeros."""
    radius = pad(x, levels)
    masks = []
    for _ in range(levels):
        radius = np.hypot(radius[:, 0::2], radius[:, 1::2])
        masks.append(radius > 0)
    return masks


def online_codebooks(x, bits, seed=0):
    """One codebook a level, from the angles of all rows and places of that level."""
    rng = np.random.default_rng(seed)
    _, angles = polar(pad(x, len(bits)), len(bits))
    return [online_codebook(angle[mask], b, rng)
            for angle, mask, b in zip(angles, observed(x, len(bits)), bits)]


def pad(x, levels):
    """Zeros up to whole blocks of 2^levels coordinates."""
    n, d = x.shape
    block = 1 << levels
    out = np.zeros((n, -(-d // block) * block))
    out[:, :d] = x
    return out


def encode(x, codebooks):
    """Bits of 16-bit radii, (n, blocks), and angle numbers per level, (n, padded/2^l); procedure Quant."""
    radius, angles = polar(pad(x, len(codebooks)), len(codebooks))
    indices = [line_quantizer.nearest(angle, codebook, tie="higher")
               for angle, codebook in zip(angles, codebooks)]
    return wide_floats.nearest(radius), indices


def decode(radius, indices, codebooks, d):
    angles = [codebook[index] for index, codebook in zip(indices, codebooks)]
    return inverse_polar(wide_floats.numbers(radius), angles)[:, :d]


def reconstruct(x, codebooks):
    radius, indices = encode(x, codebooks)
    return decode(radius, indices, codebooks, x.shape[1])
