# SPDX-License-Identifier: MIT
"""Vectors, and the true neighbours by inner product, computed once and kept."""

import hashlib
import pathlib

import numpy as np

import clustered_gaussians

BLOCK_ROWS = 16384
BLOCK_QUERIES = 1000
# Found in float32 and scored again in float64: so many beyond k that rounding cannot hide one.
EXTRA_CANDIDATES = 22
GROUND_TRUTH_NAMES = ("gt.npy", "gt_ip.npy")


class DataError(Exception):
    pass


def load_vectors(path, rows):
    x = np.load(path, mmap_mode="r")
    if x.ndim != 2 or x.dtype not in (np.float32, np.float16) or 0 in x.shape:
        raise DataError(
            f"{path}: {x.dtype} {x.shape} (allowed: float32 or float16, two dimensions)"
        )
    x = np.ascontiguousarray(x[:rows], dtype=np.float32)
    if not np.isfinite(x).all():
        raise DataError(f"{path}: holds values that are not finite")
    return x


def folder_files(folder):
    """base.npy, query.npy and, where there is one, the file of true neighbours."""
    folder = pathlib.Path(folder)
    truth = [folder / name for name in GROUND_TRUTH_NAMES if (folder / name).exists()]
    return folder / "base.npy", folder / "query.npy", truth[0] if truth else None


def generated_files(rows, dim, queries, seed, cache):
    """The files of this size and seed, made when they are not there."""
    folder = cache / "data" / f"clustered-{rows}x{dim}-q{queries}-s{seed}"
    if not (folder / "base.npy").exists():
        folder.mkdir(parents=True, exist_ok=True)
        # The base gets its name last: a run that was stopped leaves none.
        unfinished = folder / "unfinished.npy"
        clustered_gaussians.generate(rows, dim, queries, unfinished, folder / "query.npy", seed)
        unfinished.rename(folder / "base.npy")
    return folder_files(folder)


def array_hash(x):
    digest = hashlib.blake2b(str(x.shape).encode(), digest_size=16)
    digest.update(x.data)
    return digest.hexdigest()


def load_neighbours(path, nq, nb, k):
    """The first k of a list made for the whole base; ids, (queries, k or more)."""
    ids = np.load(path)
    if ids.ndim != 2 or ids.dtype.kind not in "iu" or ids.shape[0] < nq or ids.shape[1] < k:
        raise DataError(f"{path}: {ids.dtype} {ids.shape} (allowed: integers, at least {(nq, k)})")
    ids = ids[:nq, :k].astype(np.int64)
    if ids.min() < 0 or ids.max() >= nb:
        raise DataError(f"{path}: names rows outside the {nb} of the base")
    return ids


def cached_neighbours(hashes, k, cache):
    """The file that holds, or will hold, the k nearest of the queries among the rows of these hashes."""
    return cache / "neighbours" / f"{hashes[0]}-{hashes[1]}-k{k}.npy"


def save_neighbours(path, ids):
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished.npy")
    np.save(unfinished, ids)
    unfinished.rename(path)


def neighbours(base, queries, k, path, say):
    """The k nearest by inner product, ties by lower id, from the file `path` when it is there."""
    if path.exists():
        return np.load(path)
    say(f"computing the {k} nearest rows of {len(queries)} queries")
    blocks = [
        exact(base, queries[start : start + BLOCK_QUERIES], k)
        for start in range(0, len(queries), BLOCK_QUERIES)
    ]
    save_neighbours(path, np.concatenate(blocks))
    return np.load(path)


def exact(base, queries, k):
    """The k nearest by inner product, ties by lower id; k is at most the rows."""
    wanted = min(len(base), k + EXTRA_CANDIDATES)
    scores = np.empty((len(queries), 0), np.float32)
    ids = np.empty((len(queries), 0), np.int64)
    for start in range(0, len(base), BLOCK_ROWS):
        block = queries @ base[start : start + BLOCK_ROWS].T
        columns = np.broadcast_to(np.arange(start, start + block.shape[1]), block.shape)
        scores, ids = _best(np.hstack([scores, block]), np.hstack([ids, columns]), wanted)
    found = np.empty((len(queries), k), np.int64)
    for row, (query, candidates) in enumerate(zip(queries, ids)):
        candidates = np.sort(candidates)
        exact = base[candidates].astype(np.float64) @ query.astype(np.float64)
        found[row] = candidates[np.argsort(-exact, kind="stable")[:k]]
    return found


def _best(scores, ids, count):
    if scores.shape[1] <= count:
        return scores, ids
    places = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    return np.take_along_axis(scores, places, 1), np.take_along_axis(ids, places, 1)


def recall(found, truth):
    matches = sum(len(np.intersect1d(f, t)) for f, t in zip(found, truth))
    return matches / truth.size
