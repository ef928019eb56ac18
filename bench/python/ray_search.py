#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A RayIndex on a local cluster of several nodes: whether it answers as one index, what it costs
beside a ShardedIndex in the same process, and how it goes on when actors, nodes and files fail.

Queries come at a fixed rate, one a call, from several threads; a call's time counts from the moment
when it was to begin. Needs `pip install 'polarquant[ray]'`.

examples:
  ray_search.py
  ray_search.py --rows 100000 --groups 4 --replicas 2 --rate 100 --seconds 20
"""

import argparse
import os
import pathlib
import statistics
import tempfile
import threading
import time

import numpy as np
import ray
from ray.cluster_utils import Cluster

import polarquant
from polarquant.distributed import ray_actors
from polarquant.distributed.ray import RayIndex

K = 10
NPROBE = 8
#: Different queries, whose answers are known.
QUERIES = 500


def make_rows(count, dim, seed=1):
    """Gaussian clusters."""
    random = np.random.default_rng(seed)
    centers = np.random.default_rng(99).standard_normal((200, dim), dtype=np.float32)
    near = centers[random.integers(0, len(centers), count)]
    return near + 0.5 * random.standard_normal((count, dim), dtype=np.float32)


def build(folder, x, description, metric, shards, ids=None):
    """A manifest, and the index that it says, in memory."""
    folder.mkdir()
    index = polarquant.Index(description, x.shape[1], metric)
    index.train(x[:50_000])
    state = polarquant.shards.write_state(index, folder / "state.polar")
    made = []
    for number, rows in enumerate(np.array_split(np.arange(len(x)), shards)):
        batch = x[rows] if ids is None else (x[rows], ids[rows])
        path = folder / f"{number}.polar"
        made.append(polarquant.shards.build_shard([batch], state, path))
    manifest = folder / "manifest.json"
    polarquant.shards.write_manifest(manifest, state, made)
    if ids is None:
        index.add(x)
    else:
        index.add_with_ids(x, ids)
    return manifest, index


class SlowActor(ray_actors.Actor):
    """Takes two seconds more for a call where a file names its node."""

    def answer(self, *arguments):
        node = ray.get_runtime_context().get_node_id()
        if os.path.exists(os.path.join(os.environ["RAY_SEARCH_FOLDER"], node)):
            time.sleep(2)
        return super().answer(*arguments)


class Load:
    """Queries at a rate, until it is ended."""

    def __init__(self, index, queries, expected, rate, threads=16):
        self.index, self.queries, self.expected, self.rate = index, queries, expected, rate
        self.times, self.wrong, self.failed = [], 0, []
        self._next, self._stop, self._lock = 0, threading.Event(), threading.Lock()
        self._begin = time.monotonic()
        self._threads = [threading.Thread(target=self._run) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def _run(self):
        while not self._stop.is_set():
            with self._lock:
                number, self._next = self._next, self._next + 1
            due = self._begin + number / self.rate
            time.sleep(max(0, due - time.monotonic()))
            query = number % len(self.queries)
            try:
                scores, ids = self.index.search(self.queries[query], K, nprobe=NPROBE)
                same = np.array_equal(scores, self.expected[0][query])
                self.wrong += not (same and np.array_equal(ids, self.expected[1][query]))
            except Exception as error:
                self.failed.append(f"{type(error).__name__}: {error}"[:200])
            self.times.append((due - self._begin, time.monotonic() - due))

    def end(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()


def percentile(times, share):
    ordered = sorted(times)
    return 1e3 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def print_load(name, load, failed_at=None):
    """failed_at: seconds after the load's beginning, from which the time of recovery counts, until no
    call takes longer than the longest one before."""
    times = [took for _, took in load.times]
    line = f"{name:34} {len(times):6} {load.wrong:6} {len(load.failed):7}"
    line += "".join(f" {percentile(times, share):8.1f}" for share in (0.5, 0.99, 1))
    if failed_at is not None:
        longest = max(took for due, took in load.times if due < failed_at)
        slow = [due + took for due, took in load.times if due >= failed_at and took > longest]
        line += f" {max(slow) - failed_at if slow else 0:8.2f}"
    print(line, flush=True)
    for text in sorted(set(load.failed))[:3]:
        print("   ", text)


def check_answers(folder, x, queries):
    """Every metric, filters, radius, ids of both kinds, by one group and by four."""
    ids = np.random.default_rng(3).permutation(3 * len(x))[: len(x)]
    checks = 0
    for number, (description, metric) in enumerate(
        [("IVF64,Polar4", "ip"), ("IVF64,Polar2", "l2"), ("Polar4", "cosine"), ("Polar2-pca", "l2")]
    ):
        own = ids if number % 2 else None
        manifest, index = build(folder / f"check{number}", x, description, metric, 8, own)
        keep = np.arange(len(x))[::5] if own is None else ids[::5]
        radius = float(np.median(index.search(queries, 30)[0][:, -1]))
        nprobe = {"nprobe": NPROBE} if "IVF" in description else {}
        for groups in (1, 4):
            with RayIndex(manifest, groups=groups, replicas=4 // groups) as sharded:
                for options in (
                    {},
                    {"filter": keep},
                    {"filter": range(500, 9000)},
                    {"exactness": np.inf},
                ):
                    is_whole = groups == 1 or "filter" not in options or not nprobe
                    for name, wanted in (("search", K), ("range_search", radius)):
                        if name == "search" and not is_whole:
                            continue
                        found = getattr(sharded, name)(queries, wanted, **options, **nprobe)
                        expected = getattr(index, name)(queries, wanted, **options, **nprobe)
                        assert all(map(np.array_equal, found, expected)), (
                            description,
                            groups,
                            options,
                        )
                        checks += 1
    print(
        f"{checks} searches of {len(queries)} queries: all answers are those of one index, to the bit"
    )


def print_overhead(manifest, groups, queries):
    sharded = polarquant.ShardedIndex.open(manifest)
    with RayIndex(manifest, groups=groups, replicas=4 // groups) as index:
        for nq in (1, 10, 100):
            plain, by_ray = [], []
            for turn in range(60):
                some = np.roll(queries, -turn * nq, axis=0)[:nq]
                begin = time.perf_counter()
                sharded.search(some, K, nprobe=NPROBE, num_threads=1)
                middle = time.perf_counter()
                index.search(some, K, nprobe=NPROBE)
                plain.append(middle - begin)
                by_ray.append(time.perf_counter() - middle)
            more = [1e3 * (a - b) for a, b in zip(by_ray, plain)]
            print(
                f"{groups} groups, {nq:3} queries a call: ShardedIndex {1e3 * statistics.median(plain):.2f} ms, "
                f"RayIndex {1e3 * statistics.median(by_ray):.2f} ms; {statistics.median(more):.2f} ms more",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--dim", type=int, default=96)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--groups", type=int, default=1)
    parser.add_argument("--replicas", type=int, default=4)
    parser.add_argument("--rate", type=float, default=200, help="queries a second")
    parser.add_argument("--seconds", type=float, default=15, help="of each load")
    parser.add_argument("--hedge-after", type=float, default=0.1, help="seconds")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        measure(given, pathlib.Path(name))


def wait_for_actors(index):
    """Until all answer: each failure is to be one alone."""
    actors = [actor for group in index._pool.groups for actor in group.actors]
    while True:
        try:
            return ray.get([actor.ntotal.remote() for actor in actors], timeout=60)
        except ray.exceptions.RayActorError:
            time.sleep(0.5)


def measure(given, folder):
    environment = {name: os.environ.get(name, "") for name in ("PYTHONPATH", "POLARQUANT_LIBRARY")}
    environment["RAY_SEARCH_FOLDER"] = str(folder)
    store = {"object_store_memory": 100_000_000}
    cpus = -(-given.groups * given.replicas // given.nodes)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **store})
    nodes = [cluster.add_node(num_cpus=cpus, **store) for _ in range(given.nodes)]
    ray.init(
        address=cluster.address,
        log_to_driver=False,
        logging_level="ERROR",
        runtime_env={"env_vars": environment},
    )
    ray_actors.Actor = SlowActor
    x = make_rows(given.rows, given.dim)
    queries = make_rows(QUERIES, given.dim, seed=2)
    check_answers(folder, x[:20_000], queries[:50])
    manifest, index = build(folder / "index", x, "IVF512,Polar4", "l2", 16)
    for groups in (1, 4):
        print_overhead(manifest, groups, queries)
    expected = index.search(queries, K, nprobe=NPROBE)
    options = {
        "groups": given.groups,
        "replicas": given.replicas,
        "hedge_after_s": given.hedge_after,
    }

    print(
        f"\n{'':34} {'calls':>6} {'wrong':>6} {'failed':>7} {'p50 ms':>8} {'p99 ms':>8} {'most ms':>8} {'back, s':>8}"
    )
    with RayIndex(manifest, **options) as sharded:

        def load_with(name, fail):
            load = Load(sharded, queries, expected, given.rate)
            time.sleep(given.seconds / 3)
            failed_at = time.monotonic() - load._begin
            fail()
            time.sleep(given.seconds * 2 / 3)
            load.end()
            print_load(name, load, failed_at)

        load = Load(sharded, queries, expected, given.rate)
        time.sleep(given.seconds)
        load.end()
        print_load("nothing fails", load)
        group = sharded._pool.groups[0]
        load_with("an actor is killed", lambda: ray.kill(group.actors[0], no_restart=False))
        slow = folder / nodes[0].node_id
        load_with("a node is 2 s slow", slow.touch)
        slow.unlink()

        def replace_node():
            cluster.remove_node(nodes[1], allow_graceful=False)
            cluster.add_node(num_cpus=cpus, **store)

        load_with("a node is killed", replace_node)
        wait_for_actors(sharded)
        shard = folder / "index" / "3.polar"

        def lose():
            shard.unlink()
            ray.kill(group.actors[-1], no_restart=False)

        load_with("a file is lost, an actor killed", lose)
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
