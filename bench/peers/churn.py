# SPDX-License-Identifier: MIT
"""Searches one at a time while rows change: nine searches, then an upsert or a removal by id, and so on.

A part of the base is kept back. Changes take turns: a new vector for an id that is there, a removal, a row
under a new id; so the number of rows stays what it was, or one less. Before that the same index is searched
without changes. Nothing here grows, so that what the process gains in memory is the library's.
"""

import math
import os
import time

import numpy as np

import measure
import peer_data

SPARE_SHARE = 0.1  # of the rows, kept back
CHANGE_EVERY = 10  # operations
QUIET_SHARE = 1 / 6  # of the time with changes, that is searched before without
WINDOWS = 30
RECALL_QUERIES = 200
SEED = 1
CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}


class Latencies:
    """Counts of times by their logarithm: percentiles to 1 %, in the same memory however many there are."""

    BINS_PER_OCTAVE = 64
    OCTAVES = 44  # of nanoseconds: up to hours

    def __init__(self):
        self._counts = np.zeros(self.BINS_PER_OCTAVE * self.OCTAVES, np.int64)
        self.total_ns = 0

    def add(self, ns):
        self.total_ns += ns
        place = int(math.log2(max(ns, 1)) * self.BINS_PER_OCTAVE)
        self._counts[min(place, len(self._counts) - 1)] += 1

    def merge(self, other):
        self.total_ns += other.total_ns
        self._counts += other._counts

    @property
    def count(self):
        return int(self._counts.sum())

    def percentile(self, share):
        """In microseconds: the middle of the bin that holds it."""
        place = int(np.searchsorted(np.cumsum(self._counts), share * self.count))
        return 2 ** ((place + 0.5) / self.BINS_PER_OCTAVE) / 1000

    def summary(self):
        if not self.count:
            return None
        return {
            "mean_us": self.total_ns / self.count / 1000,
            "p50_us": self.percentile(0.5),
            "p99_us": self.percentile(0.99),
        }


class Timer:
    """Times of one kind of operation, by both clocks."""

    def __init__(self):
        self._latencies = {name: Latencies() for name in CLOCKS}

    def call(self, function, *arguments):
        starts = [clock() for clock in CLOCKS.values()]
        found = function(*arguments)
        for latencies, clock, start in zip(self._latencies.values(), CLOCKS.values(), starts):
            latencies.add(clock() - start)
        return found

    def merge(self, other):
        for name, latencies in self._latencies.items():
            latencies.merge(other._latencies[name])

    def summary(self):
        count = self._latencies["wall"].count
        return {"count": count, **{name: each.summary() for name, each in self._latencies.items()}}


class LiveRows:
    """Which rows of the base are in the index under which ids, and the changes to come."""

    def __init__(self, base):
        self.base = base
        spare = max(1, round(SPARE_SHARE * len(base)))
        self.ids = np.arange(len(base) - spare)
        self.rows = self.ids.copy()
        self._spare_rows = np.arange(len(base) - spare, len(base))
        self._spare_ids = np.arange(len(self.ids), 2 * len(self.ids))
        self._is_live = np.zeros(2 * len(self.ids), bool)
        self._is_live[self.ids] = True
        self._random = np.random.default_rng(SEED)
        self._changes = 0
        self._removed = None  # the place whose row is not in the index now

    def change(self, adapter, timers):
        """The next change, and its time."""
        kind = ("update", "remove", "insert")[self._changes % 3]
        place = self._removed
        if kind != "insert":
            place = int(self._random.integers(len(self.ids)))
        if kind == "remove":
            timers[kind].call(adapter.remove, self.ids[place : place + 1])
            self._is_live[self.ids[place]] = False
            self._removed = place
        else:
            if kind == "insert":
                self._swap(self._spare_ids, self.ids, place)
                self._is_live[self.ids[place]] = True
                self._removed = None
            self._swap(self._spare_rows, self.rows, place)
            row = self.rows[place]
            arguments = (self.ids[place : place + 1], self.base[row : row + 1])
            timers[kind].call(adapter.upsert, *arguments)
        self._changes += 1

    def _swap(self, spare, used, place):
        """The next one that is spare goes into use; what was used becomes spare."""
        number = self._changes % len(spare)
        spare[number], used[place] = used[place], spare[number]

    def dead(self, found):
        """How many of these ids are of rows that are not in the index."""
        ids = found[found >= 0]
        return len(ids) - int(self._is_live[ids].sum())

    def recall(self, adapter, queries, k):
        """Recall among the rows that are in the index now."""
        live = self._is_live[self.ids]
        ids, rows = self.ids[live], self.rows[live]
        truth = ids[peer_data.exact(self.base[rows], queries, k)]
        found = np.concatenate([adapter.search(query[None], k) for query in queries])
        return peer_data.recall(found, truth)


def resident_bytes():
    """Without tidying first, as measure.resident_bytes does: what the process has while it works."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Churn:
    def __init__(self, adapter, rows, queries, k):
        self._adapter = adapter
        self._rows = rows
        self._queries = queries
        self._k = k
        self._next_query = 0
        self.dead_ids = 0

    def search(self, timer):
        query = self._queries[self._next_query : self._next_query + 1]
        self._next_query = (self._next_query + 1) % len(self._queries)
        self.dead_ids += self._rows.dead(timer.call(self._adapter.search, query, self._k))

    def quiet(self, seconds):
        """Searches alone."""
        timer = Timer()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            self.search(timer)
        return {"search": timer.summary()}

    def changing(self, seconds):
        """Searches and changes, as a whole and by windows of the time."""
        timers = {name: Timer() for name in ("search", "update", "remove", "insert")}
        windows = []
        before = resident_bytes()
        start = time.perf_counter()
        for number in range(1, WINDOWS + 1):
            window = Timer()
            end = start + seconds * number / WINDOWS
            while time.perf_counter() < end:
                for _ in range(CHANGE_EVERY - 1):
                    self.search(window)
                self._rows.change(self._adapter, timers)
            timers["search"].merge(window)
            growth = resident_bytes() - before
            passed = time.perf_counter() - start
            windows.append(
                {"end_seconds": passed, "search": window.summary(), "growth_bytes": growth}
            )
        summaries = {name: timer.summary() for name, timer in timers.items()}
        return {**summaries, "windows": windows}


def churn_of(contender, paths, rows, options):
    """A row of the result. Runs in a process that has nothing else."""
    row = measure.empty_row(contender)
    try:
        base = peer_data.load_vectors(paths["base"], rows["base"])
        queries = peer_data.load_vectors(paths["query"], rows["query"])
        live = LiveRows(base)
        first = base[: len(live.ids)]
        adapter, seconds = measure.build(
            contender, first, options.threads, options.train_rows, for_changes=True
        )
        row["builds"] = [seconds]
        measure.describe(row, adapter, first)
        row["points"] = []
        for params in contender.points:
            adapter.set_params(**params)
            row["points"].append({"params": params, **measured(adapter, live, queries, options)})
    except Exception as error:  # a library may raise what it likes
        row["error"] = measure.error_text(error)
    return row


def measured(adapter, live, queries, options):
    """Recall before and after, and the times without changes and with them."""
    some = queries[:RECALL_QUERIES]
    point = {"recall": [live.recall(adapter, some, options.k)]}
    churn = Churn(adapter, live, queries, options.k)
    measure.resident_bytes()  # gives back what building and recall needed
    point["quiet"] = churn.quiet(options.seconds * QUIET_SHARE)
    point["changing"] = churn.changing(options.seconds)
    point["recall_after"] = live.recall(adapter, some, options.k)
    point["removed_ids_found"] = churn.dead_ids
    return point
