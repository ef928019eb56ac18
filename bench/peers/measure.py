# SPDX-License-Identifier: MIT
"""Builds contenders and measures them: recall over seeds in a process of its own, speed in turns."""

import ctypes
import dataclasses
import gc
import math
import os
import re
import time

import numpy as np

import peer_data
import row_filters

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


def training_rows_of(contender, train_rows, base):
    """How many rows it trains on: as many as were asked for, fewer where suites.py says so; None for all."""
    limits = [n for n in (train_rows, contender.max_train_rows) if n is not None]
    return min(limits + [len(base)]) if limits else None


def build(contender, base, threads, train_rows=None, for_changes=False):
    """(adapter, how long it took by both clocks)."""
    import adapters

    adapter = adapters.make(contender.name, base.shape[1], threads)
    unknown = {name for point in contender.points for name in point} - set(adapter.params)
    if unknown:
        raise ValueError(f"{contender.name}@{sorted(unknown)} (allowed: {adapter.params})")
    rows = training_rows_of(contender, train_rows, base)
    if rows is not None:
        adapter.limit_training(rows)
    if for_changes:
        adapter.prepare_changes()
    wall, cpu = time.perf_counter(), time.process_time()
    adapter.build(base)
    seconds = {"wall_seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    return adapter, seconds


def describe(row, adapter, base):
    row["is_ours"] = adapter.is_ours
    row["library"] = adapter.library()
    row["bytes_per_vector"], row["bytes_found_by"] = adapter.bytes_per_vector(base)


def recall_of(contender, paths, rows, seeds, k, threads, train_rows):
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
            adapter, seconds = build(contender, seed_base, threads, train_rows)
            row["builds"].append(seconds)
            if seed == 0:
                row["resident_bytes_per_vector"] = (resident_bytes() - before) / len(base)
                describe(row, adapter, seed_base)
                if contender.max_train_rows is not None:
                    row["train_rows"] = training_rows_of(contender, train_rows, seed_base)
            for point in points:
                adapter.set_params(**point["params"])
                found = adapter.search(seed_queries, k)
                point["recall"].append(peer_data.recall(found, truth))
                point["recall_at_1"].append(float(np.mean(found[:, 0] == truth[:, 0])))
        row["points"] = points
    except Exception as error:  # a library may raise what it likes
        row["error"] = error_text(error)
    return row


@dataclasses.dataclass(frozen=True)
class Timed:
    """A point of a contender, as it is timed."""

    adapter: object
    point: dict  # of the result
    k: int
    allowed: np.ndarray | None  # (n,) bool, of a filter
    kept_filter: object  # of `allowed`, as the adapter made it

    def search(self, queries):
        if self.kept_filter is None:
            return self.adapter.search(queries, self.k)
        return self.adapter.search(queries, self.k, self.kept_filter)

    def search_new_filter(self, queries):
        return self.adapter.search(queries, self.k, self.adapter.make_filter(self.allowed))


def build_for_speed(contender, base, queries, cases, options):
    """(points to time, row): built in this process, its recall measured in both modes."""
    row = empty_row(contender)
    points = []
    try:
        adapter, seconds = build(contender, base, options.threads, options.train_rows)
        row["builds"] = [seconds]
        describe(row, adapter, base)
        for case in cases:
            kept = None if case.allowed is None else adapter.keep_filter(case.allowed)
            for params in contender.points:
                adapter.set_params(**params)
                timed_point = Timed(adapter, {"params": params}, options.k, case.allowed, kept)
                measure_recall(timed_point, queries, case)
                points.append(timed_point)
        row["points"] = [each.point for each in points]
    except Exception as error:
        row["error"] = error_text(error)
        return [], row
    return points, row


def measure_recall(timed_point, queries, case):
    found = timed_point.search(queries)
    some = queries[:AGREEMENT_QUERIES]
    singles = np.concatenate([timed_point.search(query[None]) for query in some])
    difference = peer_data.recall(singles, case.truth[: len(some)]) - peer_data.recall(
        found[: len(some)], case.truth[: len(some)]
    )
    point = timed_point.point
    point["recall"] = [peer_data.recall(found, case.truth)]
    point["recall_at_1"] = [float(np.mean(found[:, 0] == case.truth[:, 0]))]
    point["recall_one_difference"] = difference
    point["runs"] = {"one": [], "batch": []}
    if case.allowed is not None:
        row_filters.check_allowed(found, case.allowed)
        point["filter"] = case.description
        point["empty_share"] = row_filters.empty_share(found, case.truth)
        point["runs"]["new_filter"] = []


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


def time_point(each, queries, min_seconds, one_limit):
    """One run of each mode, added to the point."""
    each.adapter.set_params(**each.point["params"])
    singles = [queries[i : i + 1] for i in range(min(len(queries), SINGLE_QUERIES))]
    for block in singles[:WARM_UP_QUERIES]:
        each.search(block)
    runs = each.point["runs"]
    limits = min(min_seconds, one_limit), one_limit
    runs["one"].append(timed(each.search, singles, *limits))
    if "new_filter" in runs:
        runs["new_filter"].append(timed(each.search_new_filter, singles, *limits))
    runs["batch"].append(timed(each.search, [queries], min_seconds, math.inf))


def time_in_turns(points, queries, options, say):
    """Rounds over all points of all contenders: a slow minute of the machine then meets all."""
    loads = []
    gc.disable()
    for number in range(options.rounds):
        say(f"timing, round {number + 1} of {options.rounds}")
        loads.append(os.getloadavg()[0])
        for each in points:
            time_point(each, queries, options.min_seconds, options.one_limit)
    gc.enable()
    return loads
