#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times inverted files on a GPU beside our flat copy there and beside FAISS's GpuIndexIVFPQ.

    faiss_gpu_lists.py [--rows 10000000] [--dim 96] [--lists 4096] [--nprobe 8,16,32,64]

Rows are those of bench/peers/clustered_gaussians.py; --cluster-rows says how many are alike, which
decides how many lists hold a query's neighbors. FAISS trains the centroids and finds the lists of
rows, so that both inverted files have the same lists; its rows take --pq-bytes bytes, by default a
half a dimension, with float16 tables. A figure is the median of three turns, in which all are timed one after the other, each the
median of five calls from host memory to host memory, with other queries every time, for inner
products and k = 10. Recall is the share of the exact nearest rows (GpuIndexFlat, float16) that is
found.

Needs what faiss_gpu.py needs. Memory on the device: 2 bytes for each number of the rows and three
copies of the codes; on the host two copies.
"""

import argparse
import functools
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import faiss
import numpy as np

import polarquant
import polarquant.cuda

from faiss_gpu import CALLS, K, TURNS, Mixture, in_batches, make_rows, time_in_turns

ROWS_AT_ONCE = 1 << 20
TRAINING_ROWS_PER_LIST = 40
SEED = 1
QUERY_STREAM, TRAINING_STREAM, FIRST_ROW_STREAM = 1, 2, 3
CODE_TRAINING_ROWS = 100_000


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--dim", type=int, default=96)
    parser.add_argument("--lists", type=int, default=4096)
    parser.add_argument("--spec", default="Polar4", help="our codec")
    parser.add_argument("--pq-bytes", type=int, help="FAISS's bytes a row, by default DIM/2")
    parser.add_argument("--cluster-rows", type=int, default=200, help="rows that are alike")
    parser.add_argument("--nprobe", default="8,16,32,64", help="lists looked through, with commas")
    parser.add_argument("--batch", default="1,128,1024", help="numbers of queries, with commas")
    options = parser.parse_args()
    options.nprobe = [int(n) for n in options.nprobe.split(",")]
    options.batch = [int(n) for n in options.batch.split(",")]
    if options.pq_bytes is None:
        options.pq_bytes = options.dim // 2
    counts = (options.rows, options.dim, options.lists, options.pq_bytes, options.cluster_rows)
    if min(*counts, *options.nprobe, *options.batch) < 1:
        parser.error("every number must be 1 or more")
    return options


class Exact:
    """FAISS's exact search of float16 vectors: the neighbors that there are."""

    def __init__(self, resources, options):
        config = faiss.GpuIndexFlatConfig()
        config.useFloat16 = True
        self.index = faiss.GpuIndexFlatIP(resources, options.dim, config)

    def add(self, x, first, lists):
        self.index.add(x)


class Theirs:
    def __init__(self, resources, options):
        config = faiss.GpuIndexIVFPQConfig()
        config.useFloat16LookupTables = True
        sizes = (options.dim, options.lists, options.pq_bytes, 8)
        self.index = faiss.GpuIndexIVFPQ(resources, *sizes, faiss.METRIC_INNER_PRODUCT, config)
        self.index.reserveMemory(options.rows)

    def train(self, x):
        self.index.train(x)
        self.coarse = faiss.downcast_index(self.index.quantizer)
        self.centroids = self.coarse.reconstruct_n(0, self.index.nlist)

    def find_lists(self, x):
        return self.coarse.search(x, 1)[1][:, 0]

    def add(self, x, first, lists):
        self.index.add(x)

    def search(self, queries, k, nprobe):
        parameters = faiss.SearchParametersIVF(nprobe=nprobe)
        return self.index.search(queries, k, params=parameters)


class Flat:
    """Our codes without lists."""

    def __init__(self, options, x):
        self.codec = polarquant.Codec(options.spec, options.dim)
        self.codec.train(x)
        self.encoder = polarquant.cuda.CudaEncoder(self.codec)
        self.codes = np.empty((options.rows, self.codec.code_size), np.uint8)

    def add(self, x, first, lists):
        self.encoder.encode(x, out=self.codes[first : first + len(x)])

    def on_device(self):
        return polarquant.cuda.CudaIndex.from_codes(self.codec, self.codes)


class Ours:
    def __init__(self, options, centroids, x):
        self.index = polarquant.Index(f"IVF{options.lists},{options.spec}", options.dim)
        self.index.train_with_centroids(centroids, x)

    def add(self, x, first, lists):
        self.index.add_to_lists(x, np.arange(first, first + len(x)), lists)

    def on_device(self):
        return self.index.to_cuda()


def build(options, mixture, resources):
    """All indexes with all rows. Seconds are printed."""
    sample = max(CODE_TRAINING_ROWS, TRAINING_ROWS_PER_LIST * options.lists)
    x = make_rows(mixture, min(options.rows, sample), TRAINING_STREAM)
    begin = time.perf_counter()
    theirs = Theirs(resources, options)
    theirs.train(x)
    print(f"trained in {time.perf_counter() - begin:.0f} s", flush=True)
    x = x[:CODE_TRAINING_ROWS]
    indexes = {
        "exact": Exact(resources, options),
        "FAISS": theirs,
        "flat": Flat(options, x),
        "ours": Ours(options, theirs.centroids, x),
    }
    seconds = dict.fromkeys(["rows", "lists", *indexes], 0.0)

    def timed(name, function, *arguments):
        begin = time.perf_counter()
        made = function(*arguments)
        seconds[name] += time.perf_counter() - begin
        return made

    # Ours are added by the host, FAISS's by the device, side by side.
    with ThreadPoolExecutor(2) as pool:
        for stream, first in enumerate(range(0, options.rows, ROWS_AT_ONCE)):
            count = min(ROWS_AT_ONCE, options.rows - first)
            x = timed("rows", make_rows, mixture, count, FIRST_ROW_STREAM + stream)
            lists = timed("lists", theirs.find_lists, x)
            added = pool.submit(timed, "ours", indexes["ours"].add, x, first, lists)
            for name in ("exact", "FAISS", "flat"):
                timed(name, indexes[name].add, x, first, lists)
            added.result()
            if sys.stderr.isatty():
                print(f"\r{first + count:,} of {options.rows:,} rows", end="", file=sys.stderr)
    print("made in", ", ".join(f"{name} {s:.0f} s" for name, s in seconds.items()), flush=True)
    return indexes


def share(found, exact):
    return np.mean([len(np.intersect1d(a, b)) / K for a, b in zip(found, exact)])


def main():
    options = parse_arguments()
    print(f"{polarquant.cuda.devices()[0].name}; FAISS {faiss.__version__}", flush=True)
    mixture = Mixture(options.rows, options.dim, SEED, options.cluster_rows)
    queries = make_rows(mixture, 2 * max(options.batch) + TURNS * CALLS, QUERY_STREAM)
    resources = faiss.StandardGpuResources()
    indexes = build(options, mixture, resources)
    exact, theirs = indexes["exact"].index, indexes["FAISS"]
    lists, flat = indexes["ours"].on_device(), indexes["flat"].on_device()

    code_size = indexes["flat"].codec.code_size
    nearest = exact.search(queries[: max(options.batch)], K)[1]
    print(
        f"\n{options.rows:,} rows of {options.dim}, {options.cluster_rows:,} alike; "
        f"IVF{options.lists},{options.spec} of {code_size} bytes, "
        f"FAISS's IVFPQ of {options.pq_bytes}; milliseconds and recall@{K}"
    )
    print(
        f"{'queries':>8} {'nprobe':>6} {'flat':>8} {'recall':>6} {'lists':>8} {'recall':>6} "
        f"{'FAISS':>8} {'recall':>6} {'flat/lists':>10} {'FAISS/lists':>11}"
    )
    for nq in options.batch:
        for nprobe in options.nprobe:
            searches = [
                functools.partial(flat.search, k=K),
                functools.partial(lists.search, k=K, nprobe=nprobe),
                functools.partial(theirs.search, k=K, nprobe=nprobe),
            ]
            times = time_in_turns(searches, in_batches(queries, nq))
            # Of all queries, so that one query's recall is not one row's luck.
            found = [share(search(queries[: len(nearest)])[1], nearest) for search in searches]
            print(
                f"{nq:8} {nprobe:6} {times[0]:8.3f} {found[0]:6.3f} {times[1]:8.3f} {found[1]:6.3f} "
                f"{times[2]:8.3f} {found[2]:6.3f} {times[0] / times[1]:10.2f} "
                f"{times[2] / times[1]:11.2f}",
                flush=True,
            )
    few = queries[:8]
    same = all(
        np.array_equal(a, b)
        for a, b in zip(
            lists.search(few, k=K, nprobe=8), indexes["ours"].index.search(few, k=K, nprobe=8)
        )
    )
    print(f"device and CPU give {'the same to the bit' if same else 'DIFFERENT results'}")


if __name__ == "__main__":
    main()
