# SPDX-License-Identifier: MIT
"""16-bit floats of 7 exponent bits, from docs/format.md ("Floats of 16 bits")."""

import numpy as np

LEAST = 2.0**-63


def mantissa_bits(signed):
    return 8 if signed else 9


def numbers(bits, signed=False):
    """float64 of stored bits, uint16."""
    bits = np.asarray(bits).astype(np.int64)
    width = mantissa_bits(signed)
    sign = np.where(bits >> 15, -1.0, 1.0) if signed else 1.0
    exponent = bits >> width & 127
    mantissa = (bits & ((1 << width) - 1)) / 2.0**width
    # Exponent 0 is 0: no encoder writes another mantissa there.
    return np.where(exponent > 0, sign * (1 + mantissa) * 2.0 ** (exponent - 64.0), 0.0)


def spacing(values, signed=False):
    """From a number to the next."""
    size = np.maximum(np.abs(np.asarray(values, np.float64)), LEAST)
    return 2.0 ** (np.floor(np.log2(size)) - mantissa_bits(signed))


def nearest(values):
    """The nearest number without a sign, ties to even, as stored bits."""
    values = np.asarray(values, np.float64)
    step = spacing(values)
    rounded = np.where(values < LEAST / 2, 0, np.maximum(np.rint(values / step) * step, LEAST))
    safe = np.maximum(rounded, LEAST)
    exponent = np.floor(np.log2(safe))
    mantissa = np.rint((safe / 2.0**exponent - 1) * 512).astype(np.int64)
    return np.where(values < LEAST / 2, 0, (exponent.astype(np.int64) + 64 << 9) + mantissa).astype(
        np.uint16)
