#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times searches on a GPU beside FAISS's there: exact search of float16 vectors (GpuIndexFlat).

    faiss_gpu.py [--rows 10000000] [--dim 768] [--spec Polar2,Polar4] [--batch 1,16,128,1024]

Rows are those of bench/peers/clustered_gaussians.py, which resemble text embeddings. A figure is the
median of three turns, in which ours and FAISS's are timed one after the other, each the median of five
calls from host memory to host memory, with other queries every time, for inner products and k = 10.
"found" is the share of FAISS's rows that ours finds.

Needs this package with its CUDA library (docs/python.md) and FAISS for GPUs (pip install faiss-gpu).
Memory: 2 bytes for each number of the rows on the device, 4 on the host.
"""

import argparse
import copy
import functools
import math
import os
import pathlib
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

# Before NumPy is loaded: blocks of rows are made by a thread each.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import faiss
import numpy as np

import polarquant
import polarquant.cuda

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "peers"))
from clustered_gaussians import BLOCK_ROWS, Mixture

K = 10
TURNS = 3
CALLS = 5
TRAINING_ROWS = 100_000
ROWS_AT_ONCE = 1 << 19
SEED = 1
EXACTNESS = {"default": {}, "every row": {"exactness": math.inf}}


def make_rows(mixture, n, stream):
    """The same for equal arguments, however many threads there are."""
    x = np.empty((n, mixture.dim), np.float32)

    def fill(first):
        own = copy.copy(mixture)
        own.random = np.random.default_rng([SEED, stream, first])
        block = x[first : first + BLOCK_ROWS]
        block[:] = own.draw(len(block))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, range(0, n, BLOCK_ROWS)))
    return x


def make_faiss(x):
    resources = faiss.StandardGpuResources()
    config = faiss.GpuIndexFlatConfig()
    config.useFloat16 = True
    index = faiss.GpuIndexFlatIP(resources, x.shape[1], config)
    for first in range(0, len(x), ROWS_AT_ONCE):
        index.add(x[first : first + ROWS_AT_ONCE])
    return resources, index


def make_ours(spec, x):
    codec = polarquant.Codec(spec, x.shape[1])
    codec.train(x[:TRAINING_ROWS])
    encoder = polarquant.cuda.CudaEncoder(codec)
    codes = np.empty((len(x), codec.code_size), np.uint8)
    for first in range(0, len(x), ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        encoder.encode(x[part], out=codes[part])
    return polarquant.cuda.CudaIndex.from_codes(codec, codes)


def milliseconds(search, batches):
    times = []
    for batch in batches:
        begin = time.perf_counter()
        search(batch)
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3


def time_in_turns(searches, batches):
    """Each of TURNS·CALLS batches is searched once by each, after one more."""
    for search in searches:
        search(batches[-1])
    turns = [batches[turn * CALLS : (turn + 1) * CALLS] for turn in range(TURNS)]
    times = [[milliseconds(search, turn) for search in searches] for turn in turns]
    return [statistics.median(column) for column in zip(*times)]


def in_batches(queries, nq):
    """TURNS·CALLS + 1 of them, which share queries where there are not enough."""
    step = min(nq, (len(queries) - nq) // (TURNS * CALLS))
    return [queries[i * step : i * step + nq] for i in range(TURNS * CALLS + 1)]


def compare(spec, ours, theirs, queries, batches):
    print(f"\n{spec}: {ours.ntotal:,} rows of {ours.dim}, inner product, k = {K}")
    print(f"{'queries':>8} {'exactness':>10} {'ours ms':>9} {'FAISS ms':>9} {'ratio':>6} {'found':>6}")
    for nq in batches:
        for name, options in EXACTNESS.items():
            searches = [
                functools.partial(ours.search, k=K, **options),
                functools.partial(theirs.search, k=K),
            ]
            mine, other = time_in_turns(searches, in_batches(queries, nq))
            found, exact = (search(queries[:nq])[1] for search in searches)
            share = np.mean([len(np.intersect1d(a, b)) / K for a, b in zip(found, exact)])
            print(
                f"{nq:8} {name:>10} {mine:9.3f} {other:9.3f} {other / mine:6.2f} {share:6.3f}",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--dim", type=int, default=768)
    parser.add_argument("--spec", default="Polar2,Polar4", help="codecs, with commas")
    parser.add_argument("--batch", default="1,16,128,1024", help="numbers of queries, with commas")
    options = parser.parse_args()
    batches = [int(nq) for nq in options.batch.split(",")]
    if min(options.rows, options.dim, *batches) < 1:
        parser.error("--rows, --dim and --batch must be 1 or more")

    print(f"{polarquant.cuda.devices()[0].name}; FAISS {faiss.__version__}", flush=True)
    mixture = Mixture(options.rows, options.dim, SEED)
    queries = make_rows(mixture, 2 * max(batches) + TURNS * CALLS, 1)
    x = make_rows(mixture, options.rows, 2)
    resources, theirs = make_faiss(x)
    for spec in options.spec.split(","):
        compare(spec, make_ours(spec, x), theirs, queries, batches)


if __name__ == "__main__":
    main()
