#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a search call from Python costs beside the same call of the C library.

Searches an index of a few rows, so that the search itself is short, in turns: the C function with
arguments made before; Index.search; Index.search with options. Prints the median of each and of the
differences, in the calling thread's processor time, since others may use the machine. The C function
is called by ctypes, whose own time the row "empty C call" tells.

usage: search_overhead.py [ROUNDS]; needs the package, or PYTHONPATH and POLARQUANT_LIBRARY
"""

import os
import statistics
import sys
import time

# Before the library is loaded: one thread, so that its time is all of the search's.
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

import polarquant
from polarquant._library import lib

DIM, ROWS, K = 384, 64, 10
CALLS = 1000


def microseconds(function):
    begin = time.thread_time()
    for _ in range(CALLS):
        function()
    return (time.thread_time() - begin) / CALLS * 1e6


def main(arguments):
    rounds = int(arguments[0]) if arguments else 15
    x = np.random.default_rng(1).standard_normal((ROWS, DIM), dtype=np.float32)
    index = polarquant.Index("Polar2", DIM)
    index.add(x)
    query = x[:1]
    scores, ids = np.empty((1, K), np.float32), np.empty((1, K), np.int64)
    handle = index._use.handle
    prepared = (
        handle,
        1,
        query.ctypes.data,
        K,
        None,
        scores.ctypes.data,
        ids.ctypes.data,
    )
    calls = {
        "empty C call": lambda: lib.polar_index_ntotal(handle),
        "C search": lambda: lib.polar_index_search(*prepared),
        "Index.search": lambda: index.search(query, K),
        "… with a thread count": lambda: index.search(query, K, num_threads=1),
        "… with a range filter": lambda: index.search(query, K, filter=range(ROWS)),
    }
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(microseconds(call))
    print(f"median of {rounds} rounds of {CALLS} calls, in µs\n")
    print(f"{'':<24} {'a call':>8} {'more than the C search':>24}")
    for name, measured in times.items():
        more = statistics.median(a - b for a, b in zip(measured, times["C search"]))
        shown = f"{more:24.1f}" if name not in ("empty C call", "C search") else ""
        print(f"{name:<24} {statistics.median(measured):8.1f} {shown}")


if __name__ == "__main__":
    main(sys.argv[1:])
