#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times inverted files on a GPU beside our flat copy there and beside FAISS's GpuIndexIVFPQ.

    faiss_gpu_lists.py [--rows 10000000] [--dim 96] [--lists 4096] [--nprobe 8,16,32,64]

Rows are those of bench/peers/clustered_gaussians.py; --cluster-rows says how many are alike, which
decides how many lists hold a query's neighbors. Both inverted files are trained on the same rows and
have as many lists; FAISS's rows take --pq-bytes bytes, by default a half a dimension, with float16
tables. A figure is the median of three turns, in which all are timed one after the other, each the
median of five calls from host memory to host memory, with other queries every time, for inner
products and k = 10. Recall is the share of the exact nearest rows (GpuIndexFlat, float16) that is
found.

Needs what faiss_gpu.py needs. Memory on the device: 2 bytes for each number of the rows and three
copies of the codes; on the host two copies.
"""

import argparse
import functools
import os
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import faiss
import numpy as np

import polarquant
import polarquant.cuda

from faiss_gpu import CALLS, K, TURNS, Mixture, in_batches, make_rows, time_in_turns

ROWS_AT_ONCE = 1 << 20
TRAINING_ROWS_PER_LIST = 40
SEED = 1
QUERY_STREAM = 1
FIRST_ROW_STREAM = 2


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

    def __init__(self, resources, dim):
        config = faiss.GpuIndexFlatConfig()
        config.useFloat16 = True
        self.index = faiss.GpuIndexFlatIP(resources, dim, config)
        self.add = self.index.add


class Theirs:
    def __init__(self, resources, options):
        config = faiss.GpuIndexIVFPQConfig()
        config.useFloat16LookupTables = True
        self.index = faiss.GpuIndexIVFPQ(
            resources,
            options.dim,
            options.lists,
            options.pq_bytes,
            8,
            faiss.METRIC_INNER_PRODUCT,
            config,
        )
        self.train = self.index.train
        self.add = self.index.add

    def search(self, queries, k, nprobe):
        return self.index.search(queries, k, params=faiss.SearchParametersIVF(nprobe=nprobe))


class Flat:
    """Our codes without lists."""

    def __init__(self, options):
        self.codec = polarquant.Codec(options.spec, options.dim)
        self.codes = np.empty((options.rows, self.codec.code_size), np.uint8)
        self.ntotal = 0

    def train(self, x):
        self.codec.train(x)
        self.encoder = polarquant.cuda.CudaEncoder(self.codec)

    def add(self, x):
        self.encoder.encode(x, out=self.codes[self.ntotal : self.ntotal + len(x)])
        self.ntotal += len(x)

    def on_device(self):
        return polarquant.cuda.CudaIndex.from_codes(self.codec, self.codes)


def build(options, mixture, indexes):
    """Trains those that are to be trained and adds all rows to each. Seconds are printed."""
    sample = max(ROWS_AT_ONCE, TRAINING_ROWS_PER_LIST * options.lists)
    x = make_rows(mixture, min(options.rows, sample), FIRST_ROW_STREAM)
    seconds = dict.fromkeys(indexes, 0.0)
    for name, index in indexes.items():
        if hasattr(index, "train"):
            begin = time.perf_counter()
            index.train(x)
            print(f"{name} trained in {time.perf_counter() - begin:.0f} s", flush=True)
    for i, first in enumerate(range(0, options.rows, ROWS_AT_ONCE)):
        x = make_rows(mixture, min(ROWS_AT_ONCE, options.rows - first), FIRST_ROW_STREAM + i)
        for name, index in indexes.items():
            begin = time.perf_counter()
            index.add(x)
            seconds[name] += time.perf_counter() - begin
    print("added in", ", ".join(f"{name} {s:.0f} s" for name, s in seconds.items()), flush=True)


def share(found, exact):
    return np.mean([len(np.intersect1d(a, b)) / K for a, b in zip(found, exact)])


def main():
    options = parse_arguments()
    print(f"{polarquant.cuda.devices()[0].name}; FAISS {faiss.__version__}", flush=True)
    mixture = Mixture(options.rows, options.dim, SEED, options.cluster_rows)
    queries = make_rows(mixture, 2 * max(options.batch) + TURNS * CALLS, QUERY_STREAM)
    resources = faiss.StandardGpuResources()
    exact = Exact(resources, options.dim)
    theirs = Theirs(resources, options)
    codes = Flat(options)
    ours = polarquant.Index(f"IVF{options.lists},{options.spec}", options.dim)
    build(options, mixture, {"exact": exact, "FAISS": theirs, "flat": codes, "ours": ours})
    lists, flat = ours.to_cuda(), codes.on_device()

    nearest = exact.index.search(queries[: max(options.batch)], K)[1]
    print(
        f"\n{options.rows:,} rows of {options.dim}, {options.cluster_rows:,} alike; "
        f"IVF{options.lists},{options.spec} of {codes.codec.code_size} bytes, "
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
        for a, b in zip(lists.search(few, k=K, nprobe=8), ours.search(few, k=K, nprobe=8))
    )
    print(f"device and CPU give {'the same to the bit' if same else 'DIFFERENT results'}")


if __name__ == "__main__":
    main()
