# SPDX-License-Identifier: MIT
"""Checks the library's published codecs against references written from the sources alone.

Usage: check_published_codecs.py <path to libpolarquant.so>.

For every codec, dimension and kind of input:
- codes: the indices read from the library's bytes against the reference's. They may differ by one
  cell, only where the value lies on a border between two cells (a tie), and on the inputs that are
  random only in a share of SHARE_BOUND;
- decode: the library's reconstruction against the reference's from the same bytes, and against the
  reference's own reconstruction; the ratio of both mean squared errors;
- scores against the library's own reconstruction, combine against the sum of its decodes.
"""

import sys

import numpy as np

import fast_rotation
import library
import line_quantizer
import polar_pair
import polar_scalar
import polar_tree
import published_layout
import wide_floats
from check_support import DIMS, INPUTS, Report, gaussian, norms
from polar_tree_cases import check_tree, check_tree_online
from published_cases import (ROTATED, ROTATED_BORDER, BORDER_BOUND, ROWS, Ties, check_scores, compare,
                             half_float_steps, options, wide_steps)


# ---- Rotation -----------------------------------------------------------------------------------


def library_rotation(lib, d, seed, suffix):
    """R, (d, d), found from decoded rows of Polar8, which are linear in the rows' levels."""
    codec = lib.codec("Polar8" + suffix, d, seed=seed, **options())
    rows = np.zeros((d + 1, d + 8), dtype=np.uint8)
    rows[:, :d] = 127
    rows[np.arange(d), np.arange(d)] = 255
    rows[:, d : d + 4] = np.frombuffer(np.float32(1).tobytes(), dtype=np.uint8)
    decoded = codec.decode(rows.ravel(), d + 1, library.UNBIASED).astype(np.float64)
    levels = polar_scalar.codebook(8)
    scale = 2.0 ** -((d.bit_length() - 1) // 2)
    return (decoded[:d] - decoded[d]) / (scale * (levels[255] - levels[127]))


def check_rotation(report, lib):
    for d in DIMS:
        for suffix, make in (("-hadamard", fast_rotation.hadamard),
                             ("-dense", fast_rotation.dense)):
            for seed in (1, (1 << 64) - 12345):
                mine = make(d, seed)
                off = np.max(np.abs(library_rotation(lib, d, seed, suffix) - mine))
                square = np.max(np.abs(mine @ mine.T - np.eye(d)))
                report.case(f"rotation{suffix} d={d} seed={seed}", off <= 1e-6 and square <= 1e-5,
                            f"largest difference {off:.1e}, of R·Rᵀ from 1 {square:.1e}")
    for name, suffix in (("PolarTree4", "-hadamard"), ("PolarPair4x4", "-norot"),
                         ("PolarPair4x4g128", "-norot"), ("PolarScalar4", "-norot")):
        x = gaussian(np.random.default_rng(3), 128, 16)
        codes = []
        for spec in (name, name + suffix):
            codec = lib.codec(spec, 16, **options())
            if name == "PolarPair4x4":
                codec.train(x)
            codes.append(codec.encode(x))
        report.case(f"{name} is {name}{suffix}", np.array_equal(*codes), "same bytes")


# ---- PolarPair ----------------------------------------------------------------------------------


def check_pair_case(report, lib, m, n_bits, d, kind, suffix, matrix):
    spec = f"PolarPair{m}x{n_bits}{suffix}"
    rng = np.random.default_rng(d)
    train = INPUTS[kind](rng, 200, d)
    # Half of the rows are not of the training set: their radii are clamped.
    x = np.concatenate((train[: ROWS // 2], INPUTS[kind](rng, ROWS // 2, d) * np.float32(1.5)))
    codec = lib.codec(spec, d, **options())
    codec.train(train)
    codes = codec.encode(x)
    decoded = codec.decode(codes, ROWS).astype(np.float64) @ matrix.T
    rotated = x.astype(np.float64) @ matrix.T
    scales = polar_pair.train_scales(train.astype(np.float64) @ matrix.T, n_bits)
    scales = scales.astype(np.float32).astype(np.float64)  # kept as float32
    angle, radius = polar_pair.encode(rotated, scales, m, n_bits)
    their_angle, their_radius = published_layout.read_pair(codes, ROWS, d, m, n_bits)
    their_paper_angle = (their_angle + (1 << m) // 2) % (1 << m)
    values = polar_pair.pair_values(rotated, scales, m)
    bound = ROTATED_BORDER if suffix == ROTATED else BORDER_BOUND
    ties = Ties(bound * 10 if suffix == ROTATED else bound)
    zero = values[1] == 0
    distance = np.abs(values[0] % 1 - 0.5)
    noise = np.hypot(*polar_pair.to_pairs(rotated)) <= 1e-5 * norms(rotated)[:, None]
    skip = zero | noise
    ties.add(np.where(skip, 0, angle), np.where(skip, 0, their_paper_angle), distance, 1 << m)
    # 1e-6 of the value besides: radii are float32 numbers of up to 2^8 cells.
    distance = np.maximum(np.abs(values[1] % 1 - 0.5) - 1e-6 * values[1], 0)
    ties.add(radius, np.where(scales > 0, their_radius, radius), distance)
    from_bytes = polar_pair.decode(their_paper_angle, their_radius, scales, m, d)
    own = polar_pair.decode(angle, radius, scales, m, d)
    size = np.maximum(norms(rotated), norms(own))
    ok, text = compare(kind, rotated, decoded, from_bytes, own, size)
    ok &= ties.allowed(kind)
    # The sign, which the paper's formulas lose.
    same_way = np.sum(decoded * rotated) >= 0
    scores_ok, scores = check_scores(lib, spec, d, options(), train, x, rng)
    report.case(f"{spec} d={d} {kind}", ok and scores_ok and same_way,
                f"{ties.text()}; {text}; {scores}")


def check_pair(report, lib):
    for d in DIMS:
        for m, n_bits in ((4, 4), (4, 2), (3, 2), (1, 8), (8, 1)):
            for kind in INPUTS:
                check_pair_case(report, lib, m, n_bits, d, kind, "-norot", np.eye(d))
        matrix = fast_rotation.hadamard(d, 1)
        for kind in ("gaussian", "heavy"):
            check_pair_case(report, lib, 4, 4, d, kind, ROTATED, matrix)


# ---- PolarPair…g128 -----------------------------------------------------------------------------


def check_group_case(report, lib, m, n_bits, d, rows, kind, suffix, matrix):
    spec = f"PolarPair{m}x{n_bits}g128{suffix}"
    rng = np.random.default_rng(1000 * d + rows)
    x = INPUTS[kind](rng, rows, d) if rows else np.zeros((0, d), np.float32)
    codec = lib.codec(spec, d, **options())
    codes = codec.encode(x)
    decoded = codec.decode(codes, rows).astype(np.float64) @ matrix.T
    rotated = x.astype(np.float64) @ matrix.T
    groups, tail = published_layout.read_groups(codes, rows, d, m, n_bits)
    ties = Ties(1e-4 if suffix == ROTATED else 2e-5)  # angles near 2π over cells of any width
    from_bytes, own = rotated.copy(), rotated.copy()
    parameter_steps = 0
    for g, (parameters, their_angle, their_radius) in enumerate(groups):
        span = slice(128 * g, 128 * g + 128)
        theta, rho, angle_parameters, radius_parameters = polar_pair.encode_group(
            rotated[span], m, n_bits)
        mine = np.stack(angle_parameters + radius_parameters, axis=1)
        parameter_steps = max(
            parameter_steps,
            half_float_steps(mine[:, :2].astype(np.float16),
                             parameters[:, :2].astype(np.float16)).max(),
            wide_steps(wide_floats.nearest(mine[:, 2:]),
                       wide_floats.nearest(parameters[:, 2:])).max())
        own[span] = polar_pair.decode_group(theta, rho, angle_parameters, radius_parameters, d)
        angle, radius = polar_pair.polar_of_group(rotated[span])
        for values, low, step, theirs, bits in ((angle, 0, 1, their_angle, m),
                                                (radius, 2, 3, their_radius, n_bits)):
            real = polar_pair.group_values(values, parameters[:, low], parameters[:, step])
            index = np.clip(np.floor(real), 0, (1 << bits) - 1).astype(np.int64)
            distance = np.abs(real - np.round(real))
            # A step much finer than the value's float32 spacing makes any border a tie.
            fine = np.abs(values) * 1e-6 / np.maximum(parameters[:, step], 1e-30)
            ties.add(index, theirs, np.maximum(distance - fine, 0))
        from_bytes[span] = polar_pair.decode_group(
            their_angle, their_radius, (parameters[:, 0], parameters[:, 1]),
            (parameters[:, 2], parameters[:, 3]), d)
    whole = 128 * len(groups)
    tail_exact = len(tail) == (rows - whole) * 4 * d and (
        suffix == ROTATED or np.array_equal(decoded[whole:], rotated[whole:]))
    size = np.maximum(norms(rotated), norms(from_bytes))
    ok, text = compare(kind, rotated, decoded, from_bytes, own, size)
    ok &= ties.allowed(kind) and parameter_steps <= 1 and tail_exact
    scores_ok, scores = check_scores(lib, spec, d, options(), None, x, rng)
    report.case(f"{spec} d={d} n={rows} {kind}", ok and scores_ok,
                f"{ties.text()}; parameters apart {parameter_steps} steps; {text}; "
                f"tail {'exact' if tail_exact else 'WRONG'}; {scores}")


def check_groups(report, lib):
    for d in DIMS:
        for rows in (0, 1, 127, 128, 129, 300):
            for kind in INPUTS:
                check_group_case(report, lib, 4, 4, d, rows, kind, "-norot", np.eye(d))
        check_group_case(report, lib, 5, 3, d, 128, "heavy", "-norot", np.eye(d))
        matrix = fast_rotation.hadamard(d, 1)
        check_group_case(report, lib, 4, 4, d, 300, "gaussian", ROTATED, matrix)


# ---- PolarScalar --------------------------------------------------------------------------------


def check_scalar_case(report, lib, bits, d, kind, suffix, matrix):
    spec = f"PolarScalar{bits}{suffix}"
    x = INPUTS[kind](np.random.default_rng(d), ROWS, d)
    codec = lib.codec(spec, d, **options())
    codes = codec.encode(x)
    decoded = codec.decode(codes, ROWS).astype(np.float64) @ matrix.T
    rotated = x.astype(np.float64) @ matrix.T
    block_norms, levels = polar_scalar.encode(rotated, bits)
    their_norms, their_levels = published_layout.read_scalar(codes, ROWS, d, bits)
    _, z = polar_scalar.normalized(rotated)
    distance = line_quantizer.border_distance(z, polar_scalar.codebook(bits))
    noise = (norms(polar_scalar.to_blocks(rotated)) <= 1e-5 * norms(rotated)[:, None])[..., None]
    ties = Ties(5 * ROTATED_BORDER if suffix == ROTATED else 5 * BORDER_BOUND)  # z is up to √128
    ties.add(np.where(noise, 0, levels), np.where(noise, 0, their_levels), distance)
    steps = wide_steps(block_norms, their_norms)
    from_bytes = polar_scalar.decode(their_norms, their_levels, bits, d)
    own = polar_scalar.decode(block_norms, levels, bits, d)
    ok, text = compare(kind, rotated, decoded, from_bytes, own, norms(rotated))
    ok &= ties.allowed(kind) and steps.max() <= 1
    scores_ok, scores = check_scores(lib, spec, d, options(), None, x, np.random.default_rng(d))
    report.case(f"{spec} d={d} {kind}", ok and scores_ok,
                f"{ties.text()}; norms apart {np.sum(steps > 0)}/{steps.size}; {text}; {scores}")


def check_scalar(report, lib):
    for bits in range(2, 9):
        for d in DIMS:
            for kind in INPUTS:
                check_scalar_case(report, lib, bits, d, kind, "-norot", np.eye(d))
    for d in DIMS:
        check_scalar_case(report, lib, 4, d, "gaussian", ROTATED, fast_rotation.hadamard(d, 1))


# ---- Figures the sources publish ----------------------------------------------------------------


def check_references(report):
    for bits, published in polar_scalar.PUBLISHED_CENTROIDS.items():
        own = polar_scalar.codebook(bits)[1 << (bits - 1) :]
        off = np.max(np.abs(own - published))
        report.case(f"reference PolarScalar{bits} centroids", off <= 2e-4, f"off by {off:.1e}")
    for bits, published in polar_scalar.PUBLISHED_MSE.items():
        own = polar_scalar.codebook_mse(polar_scalar.codebook(bits))
        report.case(f"reference PolarScalar{bits} error", abs(own / published - 1) <= 3e-3,
                    f"{own:.6f}, published {published}")
    x = gaussian(np.random.default_rng(0), 100, 1024)
    own = polar_tree.reconstruct(x, polar_tree.offline_codebooks((4, 2, 2, 2)))
    error = np.mean(np.square(own - x))
    report.case("reference PolarTree4.2.2.2 error", error <= 0.0330,
                f"{error:.4f} a dimension, at most .0330")


def main():
    lib = library.Library(sys.argv[1])
    report = Report()
    check_references(report)
    check_rotation(report, lib)
    check_tree(report, lib)
    check_tree_online(report, lib)
    check_pair(report, lib)
    check_groups(report, lib)
    check_scalar(report, lib)
    report.finish()


if __name__ == "__main__":
    main()
