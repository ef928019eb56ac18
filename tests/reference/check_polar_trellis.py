# SPDX-License-Identifier: MIT
"""Checks the library's own codecs, Polar0.5 … Polar5, Polar8, PolarA+B, against polar_trellis.py.

Usage: check_polar_trellis.py <path to libpolarquant.so>. The cells are read from the source file
that holds them; everything else is computed here from the rows' bytes.
"""

import sys

import numpy as np

import fast_rotation
import library
import polar_trellis
from check_support import DIMS, INPUTS, Report, gaussian, norms

SINGLE = ("Polar0.5", "Polar1", "Polar1.5", "Polar2", "Polar2.5", "Polar3", "Polar3.5", "Polar4",
          "Polar4.5", "Polar5", "Polar8")
DOUBLE = ("Polar1+1", "Polar2+2", "Polar1+3", "Polar3+1", "Polar4+2", "Polar4+4")
SMALL_DIMS = (1, 2, 3, 7, 16, 17, 24, 64)
ROWS = 45
METRIC_NAMES = {library.INNER_PRODUCT: "ip", library.L2: "l2"}
OPTIONS = {"norm_unit": 1.0, "learn_centre": 0}
# The library computes in float32.
DECODE_BOUND = 2e-6   # of the row's norm
SCORE_BOUND = 1e-4    # of ‖q‖‖x‖
COMBINE_BOUND = 1e-5  # of Σ|w||x̂|
HALF_STEP = 0.51      # rounding to 16 bits, in its steps; float32 sums make it a little more than ½
FLOAT_STEPS = 8       # rounding errors of float32 sums, in its steps
EXCESS_BOUND = 1.005  # squared error over the least possible


def check_rows(lib, codebooks, name, d, x, centre, metric, matrix, suffix):
    """Bytes, decoder, factors, scores, combine on one set of rows. Returns ok and the figures."""
    n = len(x)
    rng = np.random.default_rng(d)
    codec = lib.codec(name + suffix, d, metric, centre=centre, **OPTIONS)
    info = codec.info()
    layout = polar_trellis.Layout(name, d, codebooks)
    codes = codec.encode(x)
    is_l2 = metric == library.L2
    c = (np.zeros(d) if centre is None else centre.astype(np.float64)) @ matrix.T
    rotated = x.astype(np.float64) @ matrix.T
    distance = norms(rotated - c)
    figures = []

    ok = layout.row_bytes == info.code_bytes
    ok &= 2 * layout.factor_type.itemsize == info.factor_bytes
    ok &= layout.padding_bits(codes, n) == 0
    ok &= abs(info.mse / layout.error - 1) <= 1e-3

    directions = layout.directions(codes, n)
    stored = layout.factors(codes, n, is_l2)
    units = polar_trellis.factor_units(layout, info.norm_unit, c, is_l2)
    factors = stored * units

    worst = 0
    for kind, shrink in ((library.LEAST_ERROR, 1 - layout.error), (library.UNBIASED, 1)):
        decoded = codec.decode(codes, n, kind).astype(np.float64) @ matrix.T
        mine = polar_trellis.reconstruct(c, directions, factors, shrink)
        size = np.maximum(norms(mine), norms(c))[:, None]
        worst = max(worst, np.max(np.abs(decoded - mine) / np.maximum(size, 1e-30)))
    ok &= worst <= DECODE_BOUND
    figures.append(f"decode {worst:.1e}")

    # Rows at the centre, but for rounding, are all zero bytes; others have s and b as documented.
    at_centre = distance <= 2.0**-22 * norms(c)
    ok &= not np.any(codes.reshape(n, -1)[at_centre])
    away = ~at_centre
    exact, floored = polar_trellis.scale_factor(rotated[away], c, directions[away], layout.error)
    exact = exact / units[0]
    spacing = layout.factor_spacing(exact, False)
    scale_steps = np.max(np.abs(stored[away, 0] - exact) / spacing, initial=0)
    bias = polar_trellis.second_factor(rotated[away], c, is_l2) / units[1]
    # The products of ⟨c, x−c⟩ may cancel: their own rounding counts too.
    error_bound = 0 if is_l2 else 1e-6 * norms(c) * distance[away] / units[1]
    spacing = layout.factor_spacing(bias, not is_l2)
    bias_steps = np.max((np.abs(stored[away, 1] - bias) - error_bound) / spacing, initial=0)
    limit = HALF_STEP if layout.wide_factors else FLOAT_STEPS
    ok &= scale_steps <= limit and bias_steps <= limit
    figures.append(f"s {scale_steps:.2f} b {bias_steps:.2f} steps, {int(floored.sum())} floored")

    worst = 0
    for q in np.concatenate((gaussian(rng, 3, d), x[-1:])).astype(np.float64):
        turned = matrix @ q
        scores = codec.score(q, codes, n)
        mine = polar_trellis.scores(turned, c, directions, factors, is_l2)
        size = norms(q) * norms(x)
        if is_l2:  # terms of ‖q−c‖² + b² that cancel, in float32
            size = size + 0.01 * (norms(turned - c) ** 2 + distance**2)
        size = size + norms(q) * norms(c)
        worst = max(worst, np.max(np.abs(scores - mine) / np.maximum(size, 1e-30)))
    ok &= worst <= SCORE_BOUND
    figures.append(f"score {worst:.1e}")

    if not is_l2:
        weights = gaussian(rng, 3, n)
        decoded = codec.decode(codes, n).astype(np.float64)
        combined = codec.combine(codes, n, weights)
        weights = weights.astype(np.float64)
        size = np.max(np.abs(weights) @ np.abs(decoded))
        worst = np.max(np.abs(combined - weights @ decoded)) / max(size, 1e-30)
        ok &= worst <= COMBINE_BOUND
        figures.append(f"combine {worst:.1e}")
    return ok, "; ".join(figures)


def check_spec(report, lib, codebooks, name):
    for d in DIMS:
        rng = np.random.default_rng(1000 + d)
        centre = (rng.standard_normal(d) * 2).astype(np.float32)
        identity = np.eye(d)
        for kind, make in INPUTS.items():
            x = make(rng, ROWS, d)
            for metric, given in ((library.INNER_PRODUCT, None), (library.L2, None),
                                  (library.INNER_PRODUCT, centre), (library.L2, centre)):
                if given is not None:
                    x[-1] = centre
                ok, figures = check_rows(lib, codebooks, name, d, x, given, metric, identity,
                                         "-norot")
                centred = "" if given is None else " centre"
                label = f"{name}-norot d={d} {kind} {METRIC_NAMES[metric]}{centred}"
                report.case(label, ok, figures)


def check_rotated(report, lib, codebooks):
    """The default and the dense rotation, with a centre."""
    for d in DIMS:
        rng = np.random.default_rng(d)
        centre = rng.standard_normal(d).astype(np.float32)
        x = gaussian(rng, ROWS, d)
        for suffix, matrix in (("", fast_rotation.hadamard(d, 1)),
                               ("-dense", fast_rotation.dense(d, 1))):
            for metric in (library.INNER_PRODUCT, library.L2):
                ok, figures = check_rows(lib, codebooks, "Polar4.5", d, x, centre, metric, matrix,
                                         suffix)
                report.case(f"Polar4.5{suffix} d={d} {METRIC_NAMES[metric]} centre", ok, figures)


def check_encoder(report, lib, codebooks, name):
    """Squared error of û against u: not above a greedy encoder's, and near the least possible."""
    for d in SMALL_DIMS:
        layout = polar_trellis.Layout(name, d, codebooks)
        x = gaussian(np.random.default_rng(d), 24, d)
        codec = lib.codec(name + "-norot", d, library.INNER_PRODUCT, **OPTIONS)
        directions = layout.directions(codec.encode(x), len(x))
        u, _ = polar_trellis.unit_vectors(x.astype(np.float64), 0)
        error = np.sum(np.square(u - directions), axis=1)
        if layout.stages:
            least = polar_trellis.least_error(u, layout.stages[0], layout.cells[0])
            greedy = polar_trellis.greedy_error(u, layout.stages[0], layout.cells[0])
        else:
            least = greedy = polar_trellis.scalar_error(u)
        below = np.max(least - error) / d
        excess = np.sum(error) / np.sum(least)
        rows_above = int(np.sum(error > least * (1 + 1e-5) + 1e-6 * d))
        beaten = int(np.sum(error > greedy * (1 + 1e-5) + 1e-6 * d))
        ok = below <= 1e-5 and excess <= EXCESS_BOUND and beaten == 0
        report.case(f"{name} d={d} encoder", ok,
                    f"error/least {excess:.5f}, {rows_above} of {len(x)} rows above the least, "
                    f"worst row {np.max(error / np.maximum(least, 1e-9)):.4f}; "
                    f"greedy better in {beaten}")


def check_errors(report, lib, codebooks):
    """The error stated in the source, on long Gaussian rows."""
    x = gaussian(np.random.default_rng(7), 300, 1024)
    u, _ = polar_trellis.unit_vectors(x.astype(np.float64), 0)
    for name in SINGLE + DOUBLE:
        layout = polar_trellis.Layout(name, 1024, codebooks)
        codec = lib.codec(name + "-norot", 1024, library.INNER_PRODUCT, **OPTIONS)
        errors = np.mean(np.square(u - layout.directions(codec.encode(x), len(x))), axis=1)
        error = np.mean(errors)
        # Above 7 bits a few coordinates far out make a tenth of the error: 300 rows see few such.
        spread = np.std(errors) / np.sqrt(len(errors)) / error
        report.case(f"{name} d=1024 error", abs(error / layout.error - 1) <= max(0.02, 4 * spread),
                    f"{error:.6f}, stated {layout.error:.6f}, standard error {100 * spread:.1f} %")


def main():
    lib = library.Library(sys.argv[1])
    codebooks = polar_trellis.Codebooks()
    report = Report()
    for name in SINGLE + DOUBLE:
        check_spec(report, lib, codebooks, name)
    check_rotated(report, lib, codebooks)
    for name in SINGLE:
        check_encoder(report, lib, codebooks, name)
    check_errors(report, lib, codebooks)
    report.finish()


if __name__ == "__main__":
    main()
