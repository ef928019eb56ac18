# SPDX-License-Identifier: MIT
"""Builds contenders and measures them: recall over seeds in a process of its own, speed in turns."""

import ctypes
import gc
import math
import os
import re
import time

import numpy as np

import peer_data

SINGLE_QUERIES = 1000
WARM_UP_QUERIES = 16
AGREEMENT_QUERIES = 50  # searched in both modes, to see whether both find the same


def signed_permutation(dim, seed):
    """(order, signs): seed 0 leaves vectors as they are. Inner products stay what they are, to the
    last bit of each product; every code that rotates meets vectors that it rotates otherwise."""
    if seed == 0:
        return np.arange(dim), np.ones(dim, np.float32)
    random = np.random.default_rng(seed)
    signs = random.choice(np.array([-1, 1], np.float32), dim)
    return random.permutation(dim), signs


def permuted(x, transform):
    order, signs = transform
    return np.ascontiguousarray(x[:, order] * signs)


def resident_bytes():
    """Of this process, without what it has freed."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def empty_row(contender):
    return {"contender": contender.name, "series": contender.series}


def error_text(error):
    lines = str(error).strip().splitlines() or ["no message"]
    # FAISS puts the signature and place of its function in front.
    text = re.sub(r"^Error in .* at \S+:\d+: ", "", lines[-1])
    # SVS puts the place in its build after.
    return f"{type(error).__name__}: " + re.sub(r" \(line \d+ in .*\)$", "", text)


def build(contender, base, threads):
    """(adapter, how long it took by both clocks)."""
    import adapters

    adapter = adapters.make(contender.name, base.shape[1], threads)
    unknown = {name for point in contender.points for name in point} - set(adapter.params)
    if unknown:
        raise ValueError(f"{contender.name}@{sorted(unknown)} (allowed: {adapter.params})")
    wall, cpu = time.perf_counter(), time.process_time()
    adapter.build(base)
    seconds = {"wall_seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    return adapter, seconds


def describe(row, adapter, base):
    row["is_ours"] = adapter.is_ours
    row["library"] = adapter.library()
    row["bytes_per_vector"], row["bytes_found_by"] = adapter.bytes_per_vector(base)


def recall_of(contender, paths, rows, seeds, k, threads):
    """A row of the result: recall of each point and seed. Runs in a process that has nothing else."""
    row = empty_row(contender)
    try:
        base = peer_data.load_vectors(paths["base"], rows["base"])
        queries = peer_data.load_vectors(paths["query"], rows["query"])
        truth = np.load(paths["truth"])
        points = [{"params": point, "recall": [], "recall_at_1": []} for point in contender.points]
        row["builds"] = []
        for seed in range(min(seeds, contender.max_seeds)):
            transform = signed_permutation(base.shape[1], seed)
            seed_base, seed_queries = permuted(base, transform), permuted(queries, transform)
            before = resident_bytes()
            adapter, seconds = build(contender, seed_base, threads)
            row["builds"].append(seconds)
            if seed == 0:
                row["resident_bytes_per_vector"] = (resident_bytes() - before) / len(base)
                describe(row, adapter, seed_base)
            for point in points:
                adapter.set_params(**point["params"])
                found = adapter.search(seed_queries, k)
                point["recall"].append(peer_data.recall(found, truth))
                point["recall_at_1"].append(float(np.mean(found[:, 0] == truth[:, 0])))
        row["points"] = points
    except Exception as error:  # a library may raise what it likes
        row["error"] = error_text(error)
    return row


def build_for_speed(contender, base, queries, truth, k, threads):
    """(adapter or None, row): built in this process, its recall measured in both modes."""
    row = empty_row(contender)
    try:
        adapter, seconds = build(contender, base, threads)
        row["builds"] = [seconds]
        describe(row, adapter, base)
        row["points"] = []
        for params in contender.points:
            adapter.set_params(**params)
            found = adapter.search(queries, k)
            some = queries[:AGREEMENT_QUERIES]
            singles = np.concatenate([adapter.search(q[None], k) for q in some])
            difference = peer_data.recall(singles, truth[: len(some)]) - peer_data.recall(
                found[: len(some)], truth[: len(some)]
            )
            row["points"].append(
                {
                    "params": params,
                    "recall": [peer_data.recall(found, truth)],
                    "recall_at_1": [float(np.mean(found[:, 0] == truth[:, 0]))],
                    "recall_one_difference": difference,
                    "runs": {"one": [], "batch": []},
                }
            )
    except Exception as error:
        row["error"] = error_text(error)
        return None, row
    return adapter, row


def timed(function, blocks, min_seconds, max_seconds):
    """Calls function on all `blocks` in turn, again until `min_seconds` are full; none after
    `max_seconds`."""
    done = 0
    wall, cpu = time.perf_counter(), time.process_time()
    end = wall
    while end - wall < min_seconds:
        for block in blocks:
            function(block)
            done += len(block)
            end = time.perf_counter()
            if end - wall > max_seconds:
                break
    cpu_seconds = time.process_time() - cpu
    return {"queries": done, "wall_seconds": end - wall, "cpu_seconds": cpu_seconds}


def time_point(adapter, point, queries, k, min_seconds, one_limit):
    """One run of each mode, added to the point."""
    adapter.set_params(**point["params"])
    singles = [queries[i : i + 1] for i in range(min(len(queries), SINGLE_QUERIES))]
    search = lambda block: adapter.search(block, k)
    for block in singles[:WARM_UP_QUERIES]:
        search(block)
    runs = point["runs"]
    runs["one"].append(timed(search, singles, min(min_seconds, one_limit), one_limit))
    runs["batch"].append(timed(search, [queries], min_seconds, math.inf))


def time_in_turns(running, queries, options, say):
    """Rounds over all points of all contenders: a slow minute of the machine then meets all."""
    loads = []
    gc.disable()
    for number in range(options.rounds):
        say(f"timing, round {number + 1} of {options.rounds}")
        loads.append(os.getloadavg()[0])
        for adapter, row in running:
            for point in row["points"]:
                limits = options.min_seconds, options.one_limit
                time_point(adapter, point, queries, options.k, *limits)
    gc.enable()
    return loads
