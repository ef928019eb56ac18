# SPDX-License-Identifier: MIT
"""Reads the bytes of the published codecs: the "Bytes" paragraphs of docs/published_codecs.md."""

import numpy as np

import wide_floats


def fields(bits, start, count, width):
    """count unsigned numbers of `width` bits from bit `start` on; bits: (n, bits of a row)."""
    used = bits[:, start : start + count * width].reshape(len(bits), count, width).astype(np.int64)
    return used @ (1 << np.arange(width))


def bits_of(rows):
    return np.unpackbits(np.ascontiguousarray(rows), axis=1, bitorder="little")


def wide_bits(rows):
    return np.ascontiguousarray(rows).view("<u2")


def padding_is_zero(bits, used):
    return not np.any(bits[:, used:])


def read_tree(codes, n, d, level_bits):
    """Bits of radii (n, B) and a list of indices per level."""
    depth = len(level_bits)
    blocks = -(-d // (1 << depth))
    total = sum(blocks * (1 << (depth - level)) * b for level, b in enumerate(level_bits, start=1))
    row_bytes = 2 * blocks + -(-total // 8)
    rows = codes.reshape(n, row_bytes)
    bits = bits_of(rows[:, 2 * blocks :])
    indices, start = [], 0
    for level, b in enumerate(level_bits, start=1):
        count = blocks * (1 << (depth - level))
        indices.append(fields(bits, start, count, b))
        start += count * b
    assert padding_is_zero(bits, start)
    return wide_bits(rows[:, : 2 * blocks]), indices


def read_pair(codes, n, d, angle_bits, radius_bits):
    """Indices of angle, 0 at the positive first axis, and of radius, each (n, ⌈d/2⌉)."""
    pairs, width = -(-d // 2), angle_bits + radius_bits
    bits = bits_of(codes.reshape(n, -(-pairs * width // 8)))
    both = fields(bits, 0, pairs, width)
    assert padding_is_zero(bits, pairs * width)
    return both & ((1 << angle_bits) - 1), both >> angle_bits


def read_groups(codes, n, d, angle_bits, radius_bits):
    """A list of (parameters (P, 4), angle (128, P), radius (128, P)) and the tail's bytes."""
    pairs, width = -(-d // 2), angle_bits + radius_bits
    row_bytes = -(-pairs * width // 8)
    group_bytes = 8 * pairs + 128 * row_bytes
    groups = []
    for g in range(n // 128):
        group = codes[g * group_bytes : (g + 1) * group_bytes]
        stored = np.ascontiguousarray(group[: 8 * pairs]).reshape(pairs, 8)
        angle_grid = np.ascontiguousarray(stored[:, :4]).view("<f2").astype(np.float64)
        radius_grid = wide_floats.numbers(np.ascontiguousarray(stored[:, 4:]).view("<u2"))
        parameters = np.concatenate((angle_grid, radius_grid), axis=1)
        angle, radius = read_pair(group[8 * pairs :], 128, d, angle_bits, radius_bits)
        groups.append((parameters, angle, radius))
    return groups, codes[n // 128 * group_bytes :]


def read_scalar(codes, n, d, level_bits):
    """Bits of norms (n, B) and level numbers (n, B, 128)."""
    blocks = -(-d // 128)
    rows = codes.reshape(n, 2 * blocks + 16 * blocks * level_bits)
    bits = bits_of(rows[:, 2 * blocks :])
    levels = fields(bits, 0, blocks * 128, level_bits).reshape(n, blocks, 128)
    return wide_bits(rows[:, : 2 * blocks]), levels
