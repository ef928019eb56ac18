#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares two builds of the library where products of matrices take the time: one over a BLAS, one over
products of its own (POLARQUANT_STATIC=ON), in turns, at 1 and 2 threads, of the BLAS too.

How times are taken and told is thread_pools.py's. Trained centroids and bases may differ in their last
digits between products, and so may what is searched.

usage: own_products.py LIBRARY OTHER_LIBRARY [ROUNDS]
"""

import pathlib
import sys

from thread_pools import ROOT, Worker, compare, run_worker

DIM, ROWS, QUERIES, K = 384, 20_000, 500, 10
TASKS = (
    "train Polar4-pca",
    "train IVF256,Polar4",
    "add PCA128,Polar4",
    "batch IVF256",
    "batch Flat",
)


def tasks_of(threads):
    """{name: (function whose results are arrays, items of a call)}."""
    sys.path.insert(0, str(ROOT / "bindings" / "python" / "src"))
    import numpy as np

    import polarquant

    random = np.random.default_rng(1)
    rows = random.standard_normal((ROWS, DIM), dtype=np.float32)
    queries = random.standard_normal((QUERIES, DIM), dtype=np.float32)

    def trained(description):
        index = polarquant.Index(description, DIM)
        index.train(rows, num_threads=threads)
        return index

    def filled(description):
        index = trained(description)
        index.add(rows)
        return index

    def searched(index, **options):
        return index.search(queries, K, num_threads=threads, **options)

    lists, flat, reduced = filled("IVF256,Polar4"), filled("Flat"), trained("PCA128,Polar4")

    def add():
        reduced.add(rows, num_threads=threads)  # to ever more rows, which an add does not see
        return ()

    def train(description):
        trained(description)
        return ()

    functions = (
        (lambda: train("Polar4-pca"), ROWS),
        (lambda: train("IVF256,Polar4"), ROWS),
        (add, ROWS),
        (lambda: searched(lists, nprobe=16), QUERIES),
        (lambda: searched(flat), QUERIES),
    )
    return dict(zip(TASKS, functions))


def main(arguments):
    if arguments[:1] == ["--worker"]:
        run_worker(tasks_of(int(arguments[1])))
        return
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    rounds = int(arguments[2]) if len(arguments) == 3 else 9
    print(f"{ROWS} rows of {DIM}, {rounds} rounds; µs a row or query")
    script = pathlib.Path(__file__).resolve()
    for threads in (1, 2):
        workers = [Worker(script, library, threads, threads) for library in arguments[:2]]
        print(f"\n{threads} threads{'':15} {'first':>10} {'second':>10}   speed second/first")
        for name in TASKS:
            compare(name, workers, rounds)
        for worker in workers:
            worker.close()


if __name__ == "__main__":
    main(sys.argv[1:])
