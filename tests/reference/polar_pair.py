# SPDX-License-Identifier: MIT
"""References of PolarPairMxN and PolarPairMxNg128: pairs of coordinates in polar form, no rotation.

Sources:
- PolarPairMxN: Wu, Lv, Feng, Zhang, Zhang, Yin, Lin, Yan, PolarQuant: Leveraging Polar
  Transformation for Efficient Key Cache Quantization and Decoding Acceleration, arXiv 2502.00527,
  section 3.2 (m bits of angle, n bits of radius, one scale a pair of channels) and 3.3 (decoding by
  a table).
- PolarPairMxNg128: a description of a public implementation of polar key caches: step 2 (minimum
  and step of angle and radius per group of 128 rows, in 16 bits; floor), step 3 (midpoints) and
  "Cache Architecture" (the unfinished group stays in full precision).

Section 3.2 defines θ = atan2(y, x) + π and section 3.3 decodes with cos(θ̂), sin(θ̂): taken
literally that is −x̂. Decoding here takes π off again.
"""

import numpy as np

import wide_floats

GROUP = 128


def to_pairs(x):
    """(n, d) → x and y, each (n, ⌈d/2⌉): coordinates 2j and 2j + 1; an odd d gets a zero."""
    n, d = x.shape
    padded = np.zeros((n, d + d % 2))
    padded[:, :d] = x
    return padded[:, 0::2], padded[:, 1::2]


def from_pairs(first, second, d):
    out = np.empty((first.shape[0], 2 * first.shape[1]))
    out[:, 0::2] = first
    out[:, 1::2] = second
    return out[:, :d]


def positive_zero(x):
    """−0 becomes 0, so that it does not turn an angle by π."""
    return np.asarray(x, dtype=np.float64) + 0.0


# ---- PolarPairMxN -------------------------------------------------------------------------------


def typical(x):
    """Which rows the library learns from: docs/codec.md, "What training learns"."""
    distances = np.sum(np.square(x), axis=1)
    most = 64 * np.sort(distances)[int(0.9 * (len(x) - 1))]
    return distances <= most if most > 0 else np.full(len(x), True)


def train_scales(x, radius_bits):
    """s_j = max over the rows of r[j] / (2^n − 1), (⌈d/2⌉)."""
    first, second = to_pairs(positive_zero(x))
    return np.max(np.hypot(first, second)[typical(x)], axis=0) / ((1 << radius_bits) - 1)


def pair_values(x, scales, angle_bits):
    """The numbers that are rounded: 2^(m−1)θ/π and r/s, each (n, ⌈d/2⌉). s = 0 gives r/s = 0."""
    first, second = to_pairs(positive_zero(x))
    theta = np.arctan2(second, first) + np.pi
    radius = np.hypot(first, second)
    safe = np.where(scales > 0, scales, 1)
    return (1 << angle_bits) / 2 * theta / np.pi, np.where(scales > 0, radius / safe, 0)


def encode(x, scales, angle_bits, radius_bits):
    """Q(θ) = ⌊2^(m−1) θ/π⌉ mod 2^m and Q(r) = clamp(⌊r/s⌉, 0, 2^n − 1), each (n, ⌈d/2⌉)."""
    angle, radius = pair_values(x, scales, angle_bits)
    q_angle = np.floor(angle + 0.5).astype(np.int64) % (1 << angle_bits)
    q_radius = np.clip(np.floor(radius + 0.5), 0, (1 << radius_bits) - 1).astype(np.int64)
    return q_angle, q_radius


def decode(q_angle, q_radius, scales, angle_bits, d):
    theta = np.pi * q_angle / ((1 << angle_bits) / 2) - np.pi
    radius = q_radius * scales
    return from_pairs(radius * np.cos(theta), radius * np.sin(theta), d)


def reconstruct(x, scales, angle_bits, radius_bits):
    q_angle, q_radius = encode(x, scales, angle_bits, radius_bits)
    return decode(q_angle, q_radius, scales, angle_bits, x.shape[1])


# ---- PolarPairMxNg128 ---------------------------------------------------------------------------


def polar_of_group(rows):
    """Angle in [0, 2π) and radius, each (128, ⌈d/2⌉)."""
    first, second = to_pairs(positive_zero(rows))
    angle = np.arctan2(second, first)
    return np.where(angle < 0, angle + 2 * np.pi, angle), np.hypot(first, second)


def as_float16(values):
    return values.astype(np.float16).astype(np.float64)


def as_wide(values):
    return wide_floats.numbers(wide_floats.nearest(values))


def group_parameters(values, bits, stored):
    """Minimum and step, (max − min)/2^bits, per column, as numbers that can be stored."""
    low, high = values.min(axis=0), values.max(axis=0)
    return stored(low), stored((high - low) / (1 << bits))


def group_values(values, low, step):
    """The real number whose floor is the code; a column of step 0 has the code 0."""
    safe = np.where(step > 0, step, 1)
    return np.where(step > 0, (values - low) / safe, 0)


def encode_group(rows, angle_bits, radius_bits):
    """rows: (128, d). Codes (128, ⌈d/2⌉) of angle and radius and their parameters."""
    angle, radius = polar_of_group(rows)
    angle_low, angle_step = group_parameters(angle, angle_bits, as_float16)
    radius_low, radius_step = group_parameters(radius, radius_bits, as_wide)
    theta = np.floor(group_values(angle, angle_low, angle_step)).astype(np.int64)
    rho = np.floor(group_values(radius, radius_low, radius_step)).astype(np.int64)
    return (np.clip(theta, 0, (1 << angle_bits) - 1), np.clip(rho, 0, (1 << radius_bits) - 1),
            (angle_low, angle_step), (radius_low, radius_step))


def decode_group(theta, rho, angle_parameters, radius_parameters, d):
    """Midpoints: φ̂ = step·(θ + ½) + min, r̂ = step·(ρ + ½) + min."""
    angle = angle_parameters[1] * (theta + 0.5) + angle_parameters[0]
    radius = radius_parameters[1] * (rho + 0.5) + radius_parameters[0]
    return from_pairs(radius * np.cos(angle), radius * np.sin(angle), d)


def reconstruct_groups(x, angle_bits, radius_bits):
    """All rows; those after the last whole group come back as they are."""
    x = np.asarray(x, dtype=np.float64)
    out = x.copy()
    for start in range(0, len(x) - GROUP + 1, GROUP):
        rows = x[start : start + GROUP]
        codes = encode_group(rows, angle_bits, radius_bits)
        out[start : start + GROUP] = decode_group(*codes, x.shape[1])
    return out
