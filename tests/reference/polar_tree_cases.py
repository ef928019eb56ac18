# SPDX-License-Identifier: MIT
"""PolarTree, with analytic and with learned angles, against the reference of its paper."""

import math
import struct

import numpy as np

import fast_rotation
import library
import line_quantizer
import polar_tree
import published_layout
from check_support import DIMS, INPUTS, gaussian, heavy_tailed, norms
from published_cases import (BORDER_BOUND, DECODE_BOUND, ROTATED, ROTATED_BORDER, ROWS, Ties, check_scores, compare,
                             options, wide_steps)



def tree_spec(level_bits):
    return "PolarTree" + ".".join(str(b) for b in level_bits)


def max_levels(d):
    return max(1, math.ceil(math.log2(d)))


def check_tree_case(report, lib, level_bits, d, kind, suffix, matrix):
    x = INPUTS[kind](np.random.default_rng(d), ROWS, d)
    codec = lib.codec(tree_spec(level_bits) + suffix, d, **options())
    codes = codec.encode(x)
    decoded = codec.decode(codes, ROWS).astype(np.float64) @ matrix.T
    rotated = x.astype(np.float64) @ matrix.T

    codebooks = polar_tree.offline_codebooks(level_bits)
    radius, indices = polar_tree.encode(rotated, codebooks)
    their_radius, their_indices = published_layout.read_tree(codes, ROWS, d, level_bits)
    _, angles = polar_tree.polar(polar_tree.pad(rotated, len(level_bits)), len(level_bits))
    ties = Ties(ROTATED_BORDER if suffix == ROTATED else BORDER_BOUND)
    for level, (mine, theirs) in enumerate(zip(indices, their_indices)):
        distance = line_quantizer.border_distance(angles[level], codebooks[level])
        if level == 0:  # the border at 0 = 2π
            distance = np.minimum(distance, np.minimum(angles[0], 2 * np.pi - angles[0]))
        if suffix == ROTATED and kind == "awkward":
            # A pair that is 0 in exact arithmetic has no angle once rotated in floats.
            distance = np.where(polar_angle_is_noise(rotated, level, len(level_bits)), 0, distance)
            theirs = np.where(distance == 0, mine, theirs)
        ties.add(mine, theirs, distance, len(codebooks[level]) if level == 0 else 0)
    steps = wide_steps(radius, their_radius)
    from_bytes = polar_tree.decode(their_radius, their_indices, codebooks, d)
    own = polar_tree.decode(radius, indices, codebooks, d)
    ok, text = compare(kind, rotated, decoded, from_bytes, own, norms(rotated))
    ok &= ties.allowed(kind) and steps.max() <= 1
    scores_ok, scores = check_scores(lib, tree_spec(level_bits) + suffix, d, options(), None, x,
                                     np.random.default_rng(d))
    report.case(f"{tree_spec(level_bits)}{suffix} d={d} {kind}", ok and scores_ok,
                f"{ties.text()}; radii apart {np.sum(steps > 0)}/{steps.size}; {text}; {scores}")


def polar_angle_is_noise(rotated, level, depth):
    """Pairs whose radius is below float32 noise of the whole row, (n, pairs of that level)."""
    padded = polar_tree.pad(rotated, depth)
    parts = padded.reshape(len(rotated), -1, 2 << level)
    return norms(parts) <= 1e-5 * norms(rotated)[:, None]


def check_tree(report, lib):
    for d in DIMS:
        depth = max_levels(d)
        lists = [(4, 2, 2, 2)[:depth], (4, 2)[:depth], (3,) * depth]
        if d >= 100:
            lists.append((3, 3, 3, 3, 3, 3, 3))
        lists.append((1, 5, 8, 4)[:depth])
        for level_bits in dict.fromkeys(lists):
            for kind in INPUTS:
                check_tree_case(report, lib, level_bits, d, kind, "-norot", np.eye(d))
        matrix = fast_rotation.hadamard(d, 1)
        for kind in INPUTS:
            check_tree_case(report, lib, (4, 2, 2, 2)[:depth], d, kind, ROTATED, matrix)
        try:
            lib.codec(tree_spec((2,) * (depth + 1)), d)
            refused = False
        except library.Error as error:
            refused = error.status == 10
        report.case(f"PolarTree d={d} of {depth + 1} levels", refused,
                    "refused" if refused else "taken")


def online_codebooks(codec, level_bits):
    """The trained centroids in the codec's state, at its end but for the checksum: per level a uint64
    count and as many doubles."""
    state = codec.save_state()
    place = len(state) - 8 - sum(8 + 8 * (1 << b) for b in level_bits)
    out = []
    for b in level_bits:
        count = struct.unpack_from("<Q", state, place)[0]
        assert count == 1 << b, (count, b)
        out.append(np.array(struct.unpack_from(f"<{count}d", state, place + 8)))
        place += 8 + 8 * count
    return out


def circle_nearest(angle, codebook):
    """Nearest centroid the shorter way round, where the paper compares along [0, 2π)."""
    distance = np.abs(angle[..., None] - codebook)
    return np.argmin(np.minimum(distance, 2 * np.pi - distance), axis=-1)


def circle_distance(angle, codebook, index):
    distance = np.abs(angle - codebook[index])
    return np.minimum(distance, 2 * np.pi - distance)


def check_tree_online(report, lib):
    """Codebooks of observed angles, on the rows they were made from.

    The sum of squared angle errors of a level is no more than offline codebooks', and near that of
    the reference's own k-means. Errors of vectors are printed, not judged: k-means minimizes those
    of angles, and a few large rows decide them.
    """
    rng = np.random.default_rng(5)
    centres = rng.standard_normal((12, 384)) * 2
    inputs = {
        "gaussian": lambda d: gaussian(rng, 300, d),
        "heavy": lambda d: heavy_tailed(rng, 300, d),
        "clusters": lambda d: (centres[rng.integers(0, 12, 300), :d]
                               + 0.3 * rng.standard_normal((300, d))).astype(np.float32),
    }
    for level_bits in ((4, 2, 2, 2), (4, 2), (3, 3, 3, 3, 3, 3, 3)):
        depth = len(level_bits)
        for d in (16, 100, 128, 384):
            if depth > max_levels(d):
                continue
            for kind, make in inputs.items():
                x = make(d)
                codec = lib.codec(tree_spec(level_bits) + "-online-norot", d, **options())
                codec.train(x)
                codes = codec.encode(x)
                codebooks = online_codebooks(codec, level_bits)
                decoded = codec.decode(codes, len(x)).astype(np.float64)
                radius, indices = published_layout.read_tree(codes, len(x), d, level_bits)
                from_bytes = polar_tree.decode(radius, indices, codebooks, d)
                ok = all(np.all(np.diff(codebook) >= 0) for codebook in codebooks)
                worst = np.max(np.abs(decoded - from_bytes) / norms(x)[:, None])
                ok &= worst <= DECODE_BOUND

                offline = polar_tree.offline_codebooks(level_bits)
                own = polar_tree.online_codebooks(x, level_bits)
                _, angles = polar_tree.polar(polar_tree.pad(x, depth), depth)
                ratios, own_ratios = [], []
                for level, (angle, used) in enumerate(zip(angles, polar_tree.observed(x, depth))):
                    errors = []
                    for book in (codebooks[level], offline[level], own[level]):
                        if level == 0:
                            errors.append(circle_distance(angle, book, circle_nearest(angle, book)))
                        else:
                            errors.append(np.abs(angle - book[line_quantizer.nearest(angle, book)]))
                    theirs = (circle_distance if level == 0 else lambda a, c, i: np.abs(a - c[i]))(
                        angle, codebooks[level], indices[level])
                    ok &= bool(np.all((theirs <= errors[0] + 1e-6)[used]))  # the nearest was taken
                    sums = [np.sum(np.square(error[used])) for error in errors]
                    ratios.append(sums[0] / sums[1])
                    own_ratios.append(sums[0] / sums[2])
                ok &= max(ratios) <= 1.002 and max(own_ratios) <= 1.1
                vectors = [np.mean(np.square(polar_tree.reconstruct(x, book) - x))
                           for book in (offline, own)]
                error = np.mean(np.square(decoded - x))
                report.case(f"{tree_spec(level_bits)}-online d={d} {kind}", ok,
                            f"decode {worst:.1e}; squared angle error over offline "
                            f"{max(ratios):.4f}, over own {max(own_ratios):.4f}; of vectors "
                            f"{error / vectors[0]:.4f}, {error / vectors[1]:.4f}")
