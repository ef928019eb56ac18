#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HNSW graphs over our codes beside FAISS's over its scalar quantizer: time a query at equal recall.

    graphs.py --library build/lib/libpolarquant.so --base base.npy --queries query.npy

Both graphs are searched in turns, one thread; times are medians of CPU time, so that what else runs
on the machine counts less. Our C library has no efSearch yet: a search keeps as many nodes as it
returns, so that k stands for it, and the scoring of all k rows by floats is in our times.
"""
import argparse
import statistics
import time

import faiss
import numpy as np

from polar_index import PolarLibrary

K = 10


def recall(found, truth):
    return float(np.mean([len(set(row[:K]) & set(right)) / K for row, right in zip(found, truth)]))


def timed(function):
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


class Ours:
    def __init__(self, library, description, base):
        self.name = description
        self._index = PolarLibrary(library).index(description, base.shape[1])
        self._index.train(base)
        self.build_s, _ = timed(lambda: self._index.add(base))

    def search(self, queries, ef):
        scores = np.empty((len(queries), ef), np.float32)
        ids = np.empty((len(queries), ef), np.int64)
        function, arguments = self._index.search_call(queries, ef, scores, ids)
        function(*arguments)
        return ids


class Faiss:
    def __init__(self, description, base):
        self.name = f"FAISS {faiss.__version__} {description}"
        self._index = faiss.index_factory(base.shape[1], description, faiss.METRIC_INNER_PRODUCT)
        self._index.train(base)
        self.build_s, _ = timed(lambda: self._index.add(base))

    def search(self, queries, ef):
        self._index.hnsw.efSearch = ef
        return self._index.search(queries, K)[1]


def seconds_at(points, wanted):
    """Seconds at a recall, between the two measured points around it; None outside."""
    for (low, less), (high, more) in zip(points, points[1:]):
        if low <= wanted <= high and high > low:
            return less + (more - less) * (wanted - low) / (high - low)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", required=True, help="libpolarquant.so")
    parser.add_argument("--base", required=True, help=".npy, (n, dim)")
    parser.add_argument("--queries", required=True, help=".npy, (nq, dim)")
    parser.add_argument("--ours", default="HNSW32,Polar4")
    parser.add_argument("--rival", default="HNSW32,SQ8")
    parser.add_argument("--rows", type=int, help="rows of the base; all by default")
    parser.add_argument("--ef", type=int, nargs="+", default=[16, 24, 32, 48, 64, 96, 128])
    parser.add_argument("--recalls", type=float, nargs="+", default=[.90, .94])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    faiss.omp_set_num_threads(1)
    base = np.ascontiguousarray(np.load(options.base)[:options.rows], np.float32)
    queries = np.ascontiguousarray(np.load(options.queries), np.float32)
    exact = faiss.IndexFlatIP(base.shape[1])
    exact.add(base)
    truth = exact.search(queries, K)[1]
    graphs = [Ours(options.library, options.ours, base), Faiss(options.rival, base)]
    for graph in graphs:
        print(f"{graph.name}: {graph.build_s:.1f} s of CPU time to build", flush=True)
    points = [[], []]
    for ef in options.ef:
        times = [[], []]
        recalls = [0.0, 0.0]
        for _ in range(options.rounds):
            for i, graph in enumerate(graphs):
                seconds, found = timed(lambda g=graph: g.search(queries, ef))
                times[i].append(seconds / len(queries))
                recalls[i] = recall(found, truth)
        for i, graph in enumerate(graphs):
            points[i].append((recalls[i], statistics.median(times[i])))
        print(f"ef {ef:4d}: " + ", ".join(f"{g.name} recall@10 {p[-1][0]:.4f} {1e6 * p[-1][1]:.0f} us"
                                          for g, p in zip(graphs, points)), flush=True)
    for wanted in options.recalls:
        ours, rival = (seconds_at(p, wanted) for p in points)
        told = f"{rival / ours:.2f} times as fast" if ours and rival else "not within what was measured"
        print(f"recall@10 {wanted}: ours {told}")


if __name__ == "__main__":
    main()
