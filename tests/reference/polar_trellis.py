# SPDX-License-Identifier: MIT
"""Reference of PolarB, PolarA+B and Polar8: decoder, factors, scores, encoders to measure against.

Source: docs/codec.md ("The trellis code", "Factors", "Scores") and docs/format.md ("Row codes").
The encoders are for measuring only: an exact one, which tries every start of the tail-biting
trellis and so knows the least error any code can have, and a greedy one.
"""

import os
import re

import numpy as np

import line_quantizer
import polar_scalar
import wide_floats

SEGMENT = 64
WINDOW = 8
CODEBOOK_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "codec",
                             "trellis_codebooks.cc")


# ---- Constants of the source --------------------------------------------------------------------


class Codebooks:
    """first: {bits: (cells (256, 2), error)}; second: {(first, own bits): (gain, cells, error)}."""

    def __init__(self, path=CODEBOOK_FILE):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        middle = text.index("kResidualCodebooks[]")
        self.first, self.second = {}, {}
        entry = (r"\{(\d+), (?:true|false), \d+, \d+, ([0-9.e+-]+),\s*"
                 r"\{\{([^{}]*)\},\s*\{([^{}]*)\}\}\}")
        for found in re.finditer(entry, text[text.index("kTrellisCodebooks[]") : middle]):
            self.first[int(found[1]) / 2] = (self.cells(found[3], found[4]), float(found[2]))
        pair = r"\{(\d+), (-?0x[0-9a-fA-F.]+p[+-]?\d+)F, ([0-9.e+-]+),\s*" + entry
        for found in re.finditer(pair, text[middle:]):
            key = (int(found[1]) / 2, int(found[4]) / 2)
            cells = self.cells(found[6], found[7])
            self.second[key] = (float.fromhex(found[2]), cells, float(found[3]))

    @staticmethod
    def cells(first, second):
        columns = [[float.fromhex(v) for v in re.findall(r"-?0x[0-9a-fA-F.]+p[+-]?\d+", part)]
                   for part in (first, second)]
        assert len(columns[0]) == len(columns[1]) == 256
        return np.array(columns).T


# ---- Bytes --------------------------------------------------------------------------------------


class Stage:
    """Planes of one trellis stage over d coordinates."""

    def __init__(self, d, quadrant, step):
        self.d, self.quadrant, self.step = d, quadrant, step
        self.pairs = (d + 1) // 2
        self.quadrant_bytes = -(-d // 8) if quadrant else 0
        self.bytes = self.quadrant_bytes + -(-self.pairs * step // 8)
        first, second = [], []
        for start in range(0, d, SEGMENT):
            size = min(SEGMENT, d - start)
            half = (size + 1) // 2
            for t in range(half):
                first.append(start + t)
                second.append(start + t + half if t + half < size else -1)
        self.first, self.second = np.array(first), np.array(second)
        self.has_second = self.second >= 0

    def factors(self, codes, n, metric_is_l2):
        """Factors, (n, 2), in units."""
        stored = self.split(codes, n)[1]
        if not self.wide_factors:
            return stored.astype(np.float64)
        return np.stack((wide_floats.numbers(stored[:, 0]),
                         wide_floats.numbers(stored[:, 1], signed=not metric_is_l2)), axis=1)

    def factor_spacing(self, values, has_sign):
        """From a stored factor to the next."""
        if self.wide_factors:
            return wide_floats.spacing(values, has_sign)
        return np.spacing(np.abs(values).astype(np.float32)).astype(np.float64)

    def padding_bits(self, planes):
        """How many bits beyond the ends of the planes are 1."""
        quadrant = unpack(planes[:, : self.quadrant_bytes], 8 * self.quadrant_bytes)
        cells = unpack(planes[:, self.quadrant_bytes :], 8 * (self.bytes - self.quadrant_bytes))
        return int(quadrant[:, self.d :].sum() if self.quadrant else 0) + int(
            cells[:, self.pairs * self.step :].sum())

    def windows(self, planes):
        """Window byte of each pair, (n, pairs): ring bits tk+k−8 … tk+k−1, the first lowest."""
        total = self.pairs * self.step
        bits = unpack(planes[:, self.quadrant_bytes :], total).astype(np.int64)
        lowest = (np.arange(self.pairs) + 1) * self.step - WINDOW
        places = (lowest[:, None] + np.arange(WINDOW)) % total
        return bits[:, places] @ (1 << np.arange(WINDOW))

    def decode(self, planes, cells):
        """û, (n, d). planes: (n, bytes); cells: (256, 2)."""
        pairs = cells[self.windows(planes)]
        out = np.zeros((len(planes), self.d))
        out[:, self.first] = pairs[:, :, 0]
        out[:, self.second[self.has_second]] = pairs[:, self.has_second, 1]
        if self.quadrant:
            signs = unpack(planes[:, : self.quadrant_bytes], self.d)
            out = np.where(signs == 1, -out, out)
        return out


def unpack(plane, count):
    """The first count bits of each row of bytes, least significant first."""
    return np.unpackbits(np.ascontiguousarray(plane), axis=1, bitorder="little")[:, :count]


class Layout:
    """Rows of a codec: name "Polar2", "Polar4+2", "Polar8"; dim d."""

    def __init__(self, name, d, codebooks, state_format=4):
        bits = [float(b) for b in name[len("Polar") :].split("+")]
        self.d, self.stages, self.cells, self.gains = d, [], [], []
        if bits == [8.0]:
            self.error = polar_scalar.codebook_mse(polar_scalar.codebook(8))
            self.plane_bytes = d
        else:
            cells, self.error = codebooks.first[bits[0]]
            quadrant = bits[0] >= 2
            self.stages.append(Stage(d, quadrant, int(2 * bits[0]) - 2 * quadrant))
            self.cells.append(cells)
            self.gains.append(1.0)
            if len(bits) == 2:
                gain, cells, self.error = codebooks.second[tuple(bits)]
                quadrant = bits[1] >= 3
                self.stages.append(Stage(d, quadrant, int(2 * bits[1]) - 2 * quadrant))
                self.cells.append(cells)
                self.gains.append(gain)
            self.plane_bytes = sum(stage.bytes for stage in self.stages)
        self.wide_factors = sum(bits) <= 4 and state_format == 4
        short_type = "<u2" if self.wide_factors else "<f2"
        self.factor_type = np.dtype(short_type if sum(bits) <= 4 else "<f4")
        self.row_bytes = self.plane_bytes + 2 * self.factor_type.itemsize

    def split(self, codes, n):
        """Planes, (n, plane_bytes), and factors as stored, (n, 2); of 16 bits their bits."""
        rows = codes.reshape(n, self.row_bytes)
        factors = np.ascontiguousarray(rows[:, self.plane_bytes :]).view(self.factor_type)
        return rows[:, : self.plane_bytes], factors

    def factors(self, codes, n, metric_is_l2):
        """Factors, (n, 2), in units."""
        stored = self.split(codes, n)[1]
        if not self.wide_factors:
            return stored.astype(np.float64)
        return np.stack((wide_floats.numbers(stored[:, 0]),
                         wide_floats.numbers(stored[:, 1], signed=not metric_is_l2)), axis=1)

    def factor_spacing(self, values, has_sign):
        """From a stored factor to the next."""
        if self.wide_factors:
            return wide_floats.spacing(values, has_sign)
        return np.spacing(np.abs(values).astype(np.float32)).astype(np.float64)

    def padding_bits(self, codes, n):
        planes, start, count = self.split(codes, n)[0], 0, 0
        for stage in self.stages:
            count += stage.padding_bits(planes[:, start : start + stage.bytes])
            start += stage.bytes
        return count

    def directions(self, codes, n):
        """û, (n, d): what the planes say, before any factor."""
        planes = self.split(codes, n)[0]
        if not self.stages:
            return polar_scalar.codebook(8)[planes]
        out, start = np.zeros((n, self.d)), 0
        for stage, cells, gain in zip(self.stages, self.cells, self.gains):
            out += stage.decode(planes[:, start : start + stage.bytes], cells) / gain
            start += stage.bytes
        return out


# ---- Factors and scores -------------------------------------------------------------------------


def factor_units(layout, unit, centre, metric_is_l2):
    """What 1 stands for in the stored factors: powers of two, (2)."""
    scale = unit / 2.0 ** ((layout.d.bit_length() - 1) // 2)
    norm = np.sqrt(np.sum(np.square(centre)))
    if metric_is_l2 or norm == 0:
        return np.array([scale, unit])
    return np.array([scale, unit * 2.0 ** max(np.ceil(np.log2(norm)), -60)])


def scale_factor(x, centre, directions, error):
    """s = ‖x−c‖ / (√d · max(⟨u,û⟩/d, (1−D)/4)), (n), and where the floor decides. x: not at c."""
    u, norm = unit_vectors(x, centre)
    d = x.shape[1]
    product = np.sum(u * directions, axis=1) / d
    floor = (1 - error) / 4
    return norm / (np.sqrt(d) * np.maximum(product, floor)), product < floor


def second_factor(x, centre, metric_is_l2):
    """b: ‖x − c‖ for L2, ⟨c, x − c⟩ for the inner product."""
    difference = x - centre
    return np.sqrt(np.sum(np.square(difference), axis=1)) if metric_is_l2 else difference @ centre


def scores(q, centre, directions, factors, metric_is_l2):
    """L2: ‖q−c‖² + b² − 2s⟨q−c,û⟩. Inner product: ⟨q,c⟩ + βb + s⟨q−βc,û⟩, β = ⟨q,c⟩/‖c‖²."""
    if metric_is_l2:
        product = factors[:, 0] * (directions @ (q - centre))
        return np.sum(np.square(q - centre)) + np.square(factors[:, 1]) - 2 * product
    square = centre @ centre
    beta = (q @ centre) / square if square > 0 else 0
    return q @ centre + beta * factors[:, 1] + factors[:, 0] * (directions @ (q - beta * centre))


def reconstruct(centre, directions, factors, shrink):
    """c + s·shrink·û; shrink is 1 − D for the least error and 1 for unbiased inner products."""
    return centre + factors[:, :1] * shrink * directions


def unit_vectors(x, centre):
    """u = √d (x − c)/‖x − c‖ and ‖x − c‖; u of x = c is 0."""
    difference = x - centre
    norm = np.sqrt(np.sum(np.square(difference), axis=1))
    safe = np.where(norm > 0, norm, 1)
    return np.sqrt(x.shape[1]) * difference / safe[:, None], norm


# ---- Encoders to measure against ----------------------------------------------------------------


def cell_costs(u, stage, cells):
    """Squared error of each of the 256 cells at each pair, (n, pairs, 256)."""
    values = np.abs(u) if stage.quadrant else u
    cost = np.square(values[:, stage.first, None] - cells[:, 0])
    place = stage.has_second
    cost[:, place] += np.square(values[:, stage.second[place], None] - cells[:, 1])
    return cost


def least_error(u, stage, cells):
    """The least squared error of any code, (n): Viterbi from each start state, pinned to end there.

    State: the 8−k bits before a pair. The window w leads from state w mod 2^(8−k) to state w >> k.
    """
    step = stage.step
    states = 1 << (WINDOW - step)
    source = np.arange(256) % states
    costs = cell_costs(u, stage, cells)
    n = len(u)
    best = np.full((n, states, states), np.inf)  # [row, start, state]
    best[:, np.arange(states), np.arange(states)] = 0
    for t in range(stage.pairs):
        reached = best[:, :, source] + costs[:, None, t, :]
        best = reached.reshape(n, states, states, 1 << step).min(axis=-1)
    return np.min(best[:, np.arange(states), np.arange(states)], axis=1)


def greedy_error(u, stage, cells):
    """Squared error, (n), of the code that takes the best own bits pair by pair, two rounds."""
    step, pairs = stage.step, stage.pairs
    costs = cell_costs(u, stage, cells)
    rows = np.arange(len(u))
    own_choices = np.arange(1 << step) << (WINDOW - step)
    state = np.zeros(len(u), dtype=np.int64)
    bits = np.zeros((len(u), pairs * step), dtype=np.int64)
    for t in list(range(pairs)) * 2:
        candidates = own_choices[None, :] | state[:, None]
        pick = np.argmin(np.take_along_axis(costs[:, t, :], candidates, axis=1), axis=1)
        for i in range(step):
            bits[:, t * step + i] = (pick >> i) & 1
        state = candidates[rows, pick] >> step
    total = pairs * step
    error = np.zeros(len(u))
    for t in range(pairs):
        window = np.zeros(len(u), dtype=np.int64)
        for i in range(WINDOW):
            window |= bits[:, (t * step + step - WINDOW + i) % total] << i
        error += costs[rows, t, window]
    return error


def scalar_error(u):
    """Squared error, (n), of 256 Lloyd-Max levels a coordinate."""
    codebook = polar_scalar.codebook(8)
    return np.sum(np.square(u - codebook[line_quantizer.nearest(u, codebook)]), axis=1)
