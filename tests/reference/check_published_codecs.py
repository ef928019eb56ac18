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

import math
import struct
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
from check_support import DIMS, INPUTS, Report, gaussian, heavy_tailed, norms

ROWS = 60
SHARE_BOUND = 1e-3    # share of ties, random inputs
APART_BOUND = 1e-2    # share of coordinates they move, random inputs: a tie moves its whole block
MSE_BOUND = 1e-3      # of the ratio of both errors
BORDER_BOUND = 2e-6   # a value this near a border is on it: radians, or shares of a cell
ROTATED_BORDER = 2e-5  # the same, where the library rotates in float32
DECODE_BOUND = 4e-6   # of the vector's norm
SCORE_BOUND = 1e-4    # of ‖q‖‖x‖
COMBINE_BOUND = 1e-5  # of Σ|w||x̂|
ROTATED = "-hadamard"


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


# ---- Parts of a case ----------------------------------------------------------------------------


class Ties:
    """Counts indices that differ from the reference's, and those that no tie explains."""

    def __init__(self, bound=BORDER_BOUND):
        self.bound = bound
        self.total = self.differ = self.wrong = 0

    def add(self, mine, theirs, distance, circle=0):
        """distance: of each reference value to its nearest border. circle: cells of a circle."""
        differ = mine != theirs
        step = np.abs(mine - theirs)
        if circle:
            step = np.minimum(step, circle - step)
        self.total += differ.size
        self.differ += int(differ.sum())
        self.wrong += int(np.sum(differ & ((step > 1) | (distance > self.bound))))

    def share(self):
        return self.differ / max(self.total, 1)

    def allowed(self, kind):
        return self.wrong == 0 and (kind == "awkward" or self.share() <= SHARE_BOUND)

    def text(self):
        return f"ties {self.differ}/{self.total}" + (f", wrong {self.wrong}" if self.wrong else "")


def half_float_steps(mine, theirs):
    """Steps of float16 between two arrays of non-negative float16."""
    return np.abs(mine.view(np.int16).astype(int) - theirs.view(np.int16).astype(int))


def wide_steps(mine, theirs):
    """Steps between the bits of two arrays of wide floats; the smallest is one above 0."""
    first = wide_floats.nearest(wide_floats.LEAST).astype(int) - 1
    return np.abs(np.maximum(mine.astype(int), first) - np.maximum(theirs.astype(int), first))


def compare(kind, x, decoded, from_bytes, own, scale):
    """Reconstructions in rotated coordinates, all (n, d); scale: (n), size of the rows.

    Returns ok and the figures: the worst of decoded − from_bytes, the share of elements where the
    library's and the reference's own reconstruction differ by more than a step of the
    radius, and the ratio of the mean squared errors.
    """
    size = np.maximum(scale, 1e-30)[:, None]
    worst = np.max(np.abs(decoded - from_bytes) / size, initial=0)
    apart = np.abs(decoded - own) > DECODE_BOUND * size + 2.0**-9 * np.abs(own)
    share = apart.mean() if apart.size else 0
    mse, own_mse = np.sum(np.square(decoded - x)), np.sum(np.square(own - x))
    ratio = mse / own_mse if own_mse > 0 else 1 + mse
    ok = worst <= DECODE_BOUND and abs(ratio - 1) <= MSE_BOUND
    ok &= kind == "awkward" or share <= APART_BOUND
    return ok, f"decode {worst:.1e}, elements apart {share:.1e}, mse ratio {ratio:.6f}"


def check_scores(lib, spec, d, options, train, x, rng):
    """Scores, search and combine against the library's own decode. Returns ok and the figures."""
    ok, figures, n = True, [], len(x)
    for metric in (library.INNER_PRODUCT, library.L2):
        codec = lib.codec(spec, d, metric, **options)
        if train is not None:
            codec.train(train)
        codes = codec.encode(x)
        decoded = codec.decode(codes, n).astype(np.float64)
        queries = np.concatenate((gaussian(rng, 2, d), x[-1:]))
        worst = 0
        for q in queries.astype(np.float64):
            if metric == library.INNER_PRODUCT:
                exact = decoded @ q
                size = norms(q) * np.maximum(norms(x), norms(decoded))
            else:
                exact = np.sum(np.square(decoded - q), axis=1)
                size = norms(q) * norms(x) + 0.01 * (norms(q) ** 2 + norms(decoded) ** 2)
            scores = codec.score(q, codes, n)
            worst = max(worst, np.max(np.abs(scores - exact) / np.maximum(size, 1e-30), initial=0))
        ok &= worst <= SCORE_BOUND
        figures.append(f"{'l2' if metric else 'ip'} score {worst:.1e}")
        k = 5
        found, ids = codec.search(queries, codes, n, k)
        for q, row, row_ids in zip(queries, found, ids):
            scores = codec.score(q, codes, n)
            order = np.argsort(scores if metric else -scores, kind="stable")[:k]
            count = len(order)
            ok &= np.array_equal(order, row_ids[:count]) and bool(np.all(row_ids[count:] == -1))
            ok &= np.array_equal(scores[order], row[:count])
        if metric == library.INNER_PRODUCT:
            weights = rng.standard_normal((3, n)).astype(np.float32)
            combined = codec.combine(codes, n, weights)
            size = np.abs(weights.astype(np.float64)) @ np.abs(decoded)
            worst = np.max(np.abs(combined - weights.astype(np.float64) @ decoded)
                           / np.maximum(size, 1e-30), initial=0)
            ok &= worst <= COMBINE_BOUND
            figures.append(f"combine {worst:.1e}")
    return ok, ", ".join(figures)


def options():
    return {"norm_unit": 1.0, "learn_centre": 0}


# ---- PolarTree ----------------------------------------------------------------------------------


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
