# SPDX-License-Identifier: MIT
"""Parts of a case of check_published_codecs.py: ties at borders, errors of both sides, scores."""

import numpy as np

import library
import wide_floats
from check_support import gaussian, norms

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
