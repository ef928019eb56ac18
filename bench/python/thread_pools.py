#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares two builds of the library by what their threads cost: one on OpenMP's, one on its own
(POLARQUANT_OPENMP=OFF), in turns, at 1 and 2 threads.

Each build is a process of its own. In each round both do the same work, by turns the one first and the
other, and the round's two times are compared: the speed of the second library as a multiple of the first
one's. Times are of the clock, since threads that wait take processor time too: nothing else should run.
Printed are the medians of the times and of the ratios, and the ratios' quartiles; "answers differ" where
codes or results are not the same bytes.

usage: thread_pools.py LIBRARY OTHER_LIBRARY [ROUNDS]
"""

import hashlib
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIM, ROWS, QUERIES, ENCODED, K = 384, 40_000, 500, 2_000, 10
#: A worker's answer to one request takes this long at least.
SECONDS = 0.1


def digest_of(arrays):
    hashed = hashlib.sha256()
    for array in arrays:
        hashed.update(array.tobytes())
    return hashed.hexdigest()


def tasks_of(threads):
    """{name: (function whose results are arrays, items of a call)}."""
    sys.path.insert(0, str(ROOT / "bindings" / "python" / "src"))
    import numpy as np

    import polarquant

    random = np.random.default_rng(1)
    rows = random.standard_normal((ROWS, DIM), dtype=np.float32)
    queries = random.standard_normal((QUERIES, DIM), dtype=np.float32)
    codec = polarquant.Codec("Polar4", DIM, num_threads=threads)
    codec.train(rows)
    blocks = polarquant.CodeBlocks(codec, codec.encode(rows))
    turn = iter(range(1_000_000_000))

    def one():
        return blocks.search(queries[next(turn) % QUERIES], K)

    def build():
        made = polarquant.Codec("Polar2-pca", DIM, num_threads=threads)
        made.train(rows[:ENCODED])
        return (polarquant.CodeBlocks(made, made.encode(rows[:ENCODED])).get(),)

    return {
        "one query": (one, 1),
        "batch": (lambda: blocks.search(queries, K), QUERIES),
        "encode": (lambda: (codec.encode(rows[:ENCODED]),), ENCODED),
        "train, encode, blocks": (build, ENCODED),
    }


def run_worker(tasks):
    """Answers names of tasks, one a line, with seconds an item and a digest of the first results."""
    digests = {name: digest_of(function()) for name, (function, _) in tasks.items()}
    print(" ready", flush=True)
    for line in sys.stdin:
        name = line.rstrip("\n")
        function, items = tasks[name]
        begin = time.perf_counter()
        calls = 0
        while time.perf_counter() - begin < SECONDS:
            function()
            calls += 1
        seconds = (time.perf_counter() - begin) / (calls * items)
        print(seconds, digests[name], flush=True)


class Worker:
    """`script --worker THREADS` as a process of its own, with one of the libraries."""

    def __init__(self, script, library, threads, blas_threads=1):
        environment = dict(os.environ, POLARQUANT_LIBRARY=str(pathlib.Path(library).resolve()))
        environment.update(OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(blas_threads))
        self._process = subprocess.Popen(
            [sys.executable, script, "--worker", str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self._process.stdout.readline()

    def ask(self, name):
        """(seconds an item, digest)."""
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        seconds, digest = self._process.stdout.readline().split()
        return float(seconds), digest

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def compare(name, workers, rounds):
    times = ([], [])
    digests = [set(), set()]
    for turn in range(-1, rounds):  # the first warms up
        for side in (0, 1) if turn % 2 else (1, 0):
            seconds, digest = workers[side].ask(name)
            digests[side].add(digest)
            if turn >= 0:
                times[side].append(seconds)
    ratios = [first / second for first, second in zip(*times)]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    shown = " ".join(f"{statistics.median(side) * 1e6:10.2f}" for side in times)
    differ = "" if digests[0] == digests[1] else "  answers differ"
    print(f"{name:24} {shown}   {middle:6.3f}  ({low:.3f}..{high:.3f}){differ}", flush=True)


def main(arguments):
    if arguments[:1] == ["--worker"]:
        run_worker(tasks_of(int(arguments[1])))
        return
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    libraries = arguments[:2]
    rounds = int(arguments[2]) if len(arguments) == 3 else 25
    print(f"{ROWS} rows of {DIM}, {rounds} rounds; µs a row or query")
    for threads in (1, 2):
        workers = [Worker(__file__, library, threads) for library in libraries]
        print(f"\n{threads} threads{'':15} {'first':>10} {'second':>10}   speed second/first")
        for name in ("one query", "batch", "encode", "train, encode, blocks"):
            compare(name, workers, rounds)
        for worker in workers:
            worker.close()


if __name__ == "__main__":
    main(sys.argv[1:])
