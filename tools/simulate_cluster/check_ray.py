#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The simulation beside a real RayIndex: what it predicts from service times measured alone, and what is then
measured. Needs ray, and the package polarquant (bindings/python/README.md).

A Ray cluster of four nodes, all on this machine, has an actor on each, with a small index. Every search first
sleeps for a lognormal time (--sleep), so that the sleep is what takes long, and not a processor that all four share.
Queries arrive at random, each in a thread of its own, and their latencies count from when they were due.

The table has one row for each case and load: latencies measured, those predicted, as the median of 20
simulated runs of as many queries, with the second smallest and the second largest run, and predicted /
measured; then the share of requests that were hedged, measured and predicted, the median of the times inside
the actors, and how busy this machine's processors were, with whatever else runs here.
"""

import argparse
import concurrent.futures
import os
import pathlib
import statistics
import tempfile
import threading
import time
import unittest.mock

import numpy as np
import polarquant
import ray
from cluster import Cluster, Driver, Load
from polarquant.distributed import ray_actors, ray_index
from ray.cluster_utils import Cluster as RayCluster
from service_times import Change, Lognormal, Sample
from simulation import simulate

ACTORS = 4
DIM = 32
#: Loads: of what the actors that are not slow would do, were all searches of the median's length.
SHARES = (0.2, 0.4, 0.56)
#: Each case: groups, and whether actor 0 is slow, and whether requests are hedged.
CASES = {
    "plain": (1, False, False),
    "hedge": (1, False, True),
    "slow": (1, True, False),
    "slow, hedge": (1, True, True),
    "2 groups": (2, False, False),
    "2 groups, hedge": (2, False, True),
}


class SleepingActor(ray_actors.Actor):
    """The index in an actor, which sleeps before it searches, and writes down how long both took."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._generator = np.random.default_rng(os.getpid())
        self.set_sleep(0.001, 0.0)
        self._times = []

    def set_sleep(self, median, more):
        """Sleeps so long for half of the searches, three times as long for 1 in 100, and `more` for all."""
        self._sleep, self._more = Lognormal(median, 3 * median), more

    def take_times(self):
        times, self._times = self._times, []
        return times

    def answer(self, *arguments):
        begin = time.monotonic()
        time.sleep(self._sleep.draw(self._generator, 1)[0] + self._more)
        found = super().answer(*arguments)
        self._times.append(time.monotonic() - begin)
        return found


class CountingReplicas(ray_actors.Replicas):
    """Counts requests to a second actor."""

    hedged = 0

    def take(self, others):
        number = super().take(others)
        self.hedged += number is not None and len(others) > 0
        return number


class Service:
    """A RayIndex, and threads that search it."""

    def __init__(self, manifest, sleep, hedge_after=None, groups=1, replicas=1):
        self._index = ray_index.RayIndex(
            manifest, groups=groups, replicas=replicas, hedge_after_s=hedge_after
        )
        self.groups = self._index._pool.groups
        self._sleep = sleep
        ray.get([actor.set_sleep.remote(sleep, 0.0) for actor in self.actors()])
        self.has_slow_actor = False
        self._threads = concurrent.futures.ThreadPoolExecutor(500)
        self._queries = np.random.default_rng(3).standard_normal((1000, DIM), dtype=np.float32)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._threads.shutdown()
        self._index.close()

    def actors(self):
        return [actor for group in self.groups for actor in group.actors]

    def search(self, number):
        self._index.search(self._queries[number % 1000], 10, nprobe=4)

    def slow_down(self, seconds):
        """Actor 0 takes so much longer from now on."""
        ray.get(self.actors()[0].set_sleep.remote(self._sleep, seconds))
        self.has_slow_actor = True

    def take_times(self):
        """Seconds of all searches since the last look, inside the actors that are not slow: a slow one would
        have to end what no one waits for first."""
        actors = self.actors()[self.has_slow_actor :]
        return sum(ray.get([actor.take_times.remote() for actor in actors]), [])

    def alone(self, count):
        """Seconds of searches one after another, those inside the actors, and the driver's own of each."""
        self.take_times()
        outside, processor = [], time.process_time()
        for number in range(count):
            begin = time.monotonic()
            self.search(number)
            outside.append(time.monotonic() - begin)
        processor = (time.process_time() - processor) / count
        return outside, self.take_times(), processor

    def at_once(self, count):
        """Two threads search, so that a request always waits."""
        halves = [self._threads.submit(lambda: [self.search(i) for i in range(count // 2)]) for _ in range(2)]
        for half in halves:
            half.result()

    def under_load(self, rate, count, seed):
        """Latencies of queries that arrive at random, and the share of requests that were hedged."""
        gaps = np.random.default_rng(seed).exponential(1 / rate, count)
        before = sum(group.hedged for group in self.groups)
        latencies, lock = [], threading.Lock()

        def one(number, due):
            self.search(number)
            with lock:
                latencies.append(time.monotonic() - due)

        due, waiting = time.monotonic(), []
        for number, gap in enumerate(gaps):
            due += gap
            time.sleep(max(0.0, due - time.monotonic()))
            waiting.append(self._threads.submit(one, number, due))
        for each in waiting:
            each.result()
        hedged = sum(group.hedged for group in self.groups) - before
        return latencies, hedged / count / len(self.groups)


def processor_ticks():
    """Busy and all ticks of this machine's processors so far."""
    ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text(encoding="ascii").split()[1:9]]
    return np.array([sum(ticks) - ticks[3] - ticks[4], sum(ticks)])


def make_index(folder):
    rows = np.random.default_rng(2).standard_normal((3000, DIM), dtype=np.float32)
    index = polarquant.Index("IVF16,Polar4", DIM, "l2")
    index.train(rows)
    state = polarquant.shards.write_state(index, folder / "state.polar")
    shards = [
        polarquant.shards.build_shard([part], state, folder / f"{number}.polar")
        for number, part in enumerate(np.array_split(rows, 4))
    ]
    polarquant.shards.write_manifest(folder / "manifest.json", state, shards)
    return folder / "manifest.json"


def start_cluster():
    one = {"num_cpus": 1, "object_store_memory": 100_000_000}
    cluster = RayCluster(initialize_head=True, head_node_args=one)
    for _ in range(ACTORS - 1):
        cluster.add_node(**one)
    names = [name for name in ("PYTHONPATH", "POLARQUANT_LIBRARY") if name in os.environ]
    environment = {**{name: os.environ[name] for name in names}, "OMP_NUM_THREADS": "1"}
    ray.init(
        address=cluster.address,
        log_to_driver=False,
        logging_level="ERROR",
        runtime_env={"env_vars": environment},
    )
    return cluster


def measure_alone(manifest, sleep, count):
    """The simulation's inputs: times that a request keeps an actor, the driver's time, a request's way."""
    with Service(manifest, sleep) as service:
        service.alone(20)
        outside, inside, processor = service.alone(count)
        # While requests wait at the actor it has no pause; what it takes more than the search is Ray's.
        begin = time.monotonic()
        service.at_once(count)
        between = (time.monotonic() - begin - sum(service.take_times())) / count
    way = (statistics.fmean(outside) - statistics.fmean(inside) - between - processor) / 2
    print(
        f"{count} searches one after another: p50 {1000 * np.median(outside):.1f} ms, of which inside the actor "
        f"{1000 * np.median(inside):.1f}; between two searches of an actor {1000 * between:.2f}; the driver's "
        f"processor time {1000 * processor:.2f}; {1000 * way:.2f} each way",
        flush=True,
    )
    return Sample(np.array(inside) + max(0.0, between)), Driver(overhead=processor, network=max(0.0, way))


def predict(cluster, rate, count):
    """p50 and p99 of 20 runs each, and the hedged share."""
    runs = [simulate(cluster, Load(rate=rate, batches=count, warm_up=0, seed=seed)) for seed in range(20)]
    p50, p99 = ([run.percentile(percent) for run in runs] for percent in (50, 99))
    return sorted(p50), sorted(p99), statistics.fmean(run.hedged / run.requests for run in runs)


def print_head():
    cells = " ".join(
        f"{name:>8} {'predicted':>9} {'(range)':>16} {'ratio':>6}" for name in ("p50 ms", "p99 ms")
    )
    print(f"{'case':>16} {'q/s':>6} {cells} {'hedged':>7} {'pred.':>7} {'inside':>7} {'busy':>5}", flush=True)


def compare(options, manifest, case, measured_alone):
    groups, slow, hedges = CASES[case]
    sample, driver = measured_alone
    hedge_after = options.hedge_after if hedges else None
    cluster = Cluster(
        service=sample,
        groups=groups,
        replicas=ACTORS // groups,
        slow={0: Change(seconds=options.delay)} if slow else {},
        driver=Driver(overhead=driver.overhead, network=driver.network, hedge_after=hedge_after),
    )
    for share in SHARES:
        rate = share * (ACTORS / groups) / options.sleep * (0.75 if slow else 1.0)
        # New actors each time: a slow one still has what no one waits for.
        with Service(manifest, options.sleep, hedge_after, groups, ACTORS // groups) as service:
            service.alone(4)
            if slow:
                service.slow_down(options.delay)
            service.take_times()
            before = processor_ticks()
            latencies, hedged = service.under_load(rate, options.queries, options.seed)
            busy, ticks = processor_ticks() - before
            inside = 1000 * np.median(service.take_times())
        p50, p99, predicted_hedged = predict(cluster, rate, options.queries)
        cells = []
        for percent, predicted in ((50, p50), (99, p99)):
            found, middle = 1000 * np.percentile(latencies, percent), 1000 * statistics.median(predicted)
            span = f"({1000 * predicted[1]:.0f} - {1000 * predicted[-2]:.0f})"
            cells.append(f"{found:8.0f} {middle:9.0f} {span:>16} {middle / found:6.2f}")
        shares = f"{hedged:7.1%} {predicted_hedged:7.1%} {inside:7.1f} {busy / ticks:5.0%}"
        print(f"{case:>16} {rate:6.1f} {' '.join(cells)} {shares}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    text = "seconds that half of the searches sleep at most"
    parser.add_argument("--sleep", type=float, default=0.08, help=text)
    parser.add_argument("--queries", type=int, default=400, help="of each case and load")
    parser.add_argument("--hedge-after", type=float, default=0.3, help="seconds")
    parser.add_argument("--delay", type=float, default=2.0, help="seconds that the slow actor takes more")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cluster = start_cluster()
    try:
        with tempfile.TemporaryDirectory() as name:
            manifest = make_index(pathlib.Path(name))
            with (
                unittest.mock.patch.object(ray_actors, "Actor", SleepingActor),
                unittest.mock.patch.object(ray_index, "Replicas", CountingReplicas),
            ):
                measured_alone = measure_alone(manifest, options.sleep, 200)
                print_head()
                for case in options.cases:
                    compare(options, manifest, case, measured_alone)
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    main()
