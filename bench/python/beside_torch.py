#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What PyTorch in the same process costs searches, and searches cost PyTorch: both have threads of their own
for their loops, and threads that wait by spinning take the processor from those that work.

Times, in turns: searches alone; matrix products alone; a search after each product, as where a query is
embedded and then looked up, each by itself. Printed are medians, and how much longer each takes beside the
other. Times are of the clock: nothing else should run.

usage: beside_torch.py [ROUNDS]; needs torch and the package, or PYTHONPATH and POLARQUANT_LIBRARY
"""

import statistics
import sys
import time

import numpy as np
import torch

import polarquant

DIM, ROWS, K = 384, 40_000, 10
CALLS = 100


def main(arguments):
    rounds = int(arguments[0]) if arguments else 15
    x = np.random.default_rng(1).standard_normal((ROWS, DIM), dtype=np.float32)
    codec = polarquant.Codec("Polar4", DIM)
    codec.train(x)
    blocks = polarquant.CodeBlocks(codec, codec.encode(x))
    layer = torch.randn(DIM, 4 * DIM)
    tokens = torch.from_numpy(x[:64])
    batch = x[:16]
    tasks = {
        "one query": lambda: blocks.search(x[0], K),
        "16 queries": lambda: blocks.search(batch, K),
        "product": lambda: torch.relu(tokens @ layer) @ layer.T,
    }

    def milliseconds(*names):
        """Of each, called in turns."""
        times = {name: [] for name in names}
        for _ in range(CALLS):
            for name in names:
                begin = time.perf_counter()
                tasks[name]()
                times[name].append((time.perf_counter() - begin) * 1e3)
        return {name: statistics.median(times[name]) for name in names}

    searches = ("one query", "16 queries")
    alone = {name: [] for name in tasks}
    beside = {name: [] for name in (*searches, *(f"product, {name}" for name in searches))}
    for _ in range(rounds):
        for name in tasks:
            alone[name].append(milliseconds(name)[name])
        for name in searches:
            both = milliseconds("product", name)
            beside[name].append(both[name])
            beside[f"product, {name}"].append(both["product"])
    print(
        f"{ROWS} rows of {DIM}; torch {torch.__version__} with {torch.get_num_threads()} threads; "
        f"median of {rounds} rounds of {CALLS} calls, in ms\n"
    )
    print(f"{'':<24} {'alone':>8} {'in turns':>9} {'longer by':>10}")
    for name, measured in beside.items():
        before = alone[name.split(",")[0]]
        longer = statistics.median(now / then - 1 for now, then in zip(measured, before))
        print(
            f"{name:<24} {statistics.median(before):8.3f} {statistics.median(measured):9.3f} "
            f"{100 * longer:+9.1f}%"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
