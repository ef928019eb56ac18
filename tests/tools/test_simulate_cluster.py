#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The simulation of a cluster against what queueing theory and order statistics say, its bookkeeping, and
its command line."""

import contextlib
import dataclasses
import io
import itertools
import math
import pathlib
import statistics
import sys
import tempfile
import unittest

import numpy as np

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "simulate_cluster"
sys.path.insert(0, str(TOOL))

import simulate_cluster  # noqa: E402
from cluster import Cluster, Driver, Failures, Load  # noqa: E402
from service_times import Change, Constant, Exponential, Lognormal, Sample, parse_service  # noqa: E402
from simulation import simulate  # noqa: E402

MEDIAN, P99 = 0.04, 0.12
SIGMA = math.log(P99 / MEDIAN) / statistics.NormalDist().inv_cdf(0.99)


def lognormal_quantile(share):
    return MEDIAN * math.exp(SIGMA * statistics.NormalDist().inv_cdf(share))


def lognormal_above(seconds):
    """How often a time exceeds this."""
    if seconds <= 0:
        return 1.0
    return 1 - statistics.NormalDist().cdf(math.log(seconds / MEDIAN) / SIGMA)


def quantile_where(share_above, share):
    """Where a falling function is 1 - share."""
    low, high = 0.0, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if share_above(middle) > 1 - share else (low, middle)
    return low


class QueueTest(unittest.TestCase):
    """One queue, whose mean waiting times are known."""

    def mean_wait(self, service, load, seeds, slots=1):
        """Over runs of several seeds, each long enough for its beginning not to count."""
        cluster, means = Cluster(service=service, slots=slots), []
        for seed in range(1, seeds + 1):
            rate = load * slots / service.mean
            result = simulate(cluster, Load(rate=rate, batches=100_000, warm_up=2_000, seed=seed))
            self.assertAlmostEqual(result.busy, load, delta=0.02)
            self.assertFalse(result.overloaded)
            means.append(float(result.latencies.mean()))
        return statistics.fmean(means) - service.mean

    def check(self, found, expected):
        self.assertLess(abs(found / expected - 1), 0.025, (found, expected))

    def test_exponential_times(self):
        """M/M/1: load / (1 - load) service times."""
        for load, seeds in ((0.3, 6), (0.7, 9)):
            with self.subTest(load):
                self.check(self.mean_wait(Exponential(2.0), load, seeds), 2.0 * load / (1 - load))

    def test_constant_times(self):
        """M/D/1: half of that."""
        for load, seeds in ((0.3, 3), (0.7, 4)):
            with self.subTest(load):
                self.check(self.mean_wait(Constant(2.0), load, seeds), 1.0 * load / (1 - load))

    def test_lognormal_times(self):
        """M/G/1, by Pollaczek and Khinchine: their squared variation counts."""
        service, load = Lognormal(MEDIAN, P99), 0.6
        variation = math.exp(SIGMA**2) - 1
        expected = service.mean * load / (1 - load) * (1 + variation) / 2
        self.check(self.mean_wait(service, load, 4), expected)

    def test_slots(self):
        """M/M/3, by Erlang's formula."""
        slots, load = 3, 0.7
        offered = slots * load
        last = offered**slots / math.factorial(slots) / (1 - load)
        all_busy = last / (sum(offered**i / math.factorial(i) for i in range(slots)) + last)
        self.check(self.mean_wait(Exponential(1.0), load, 9, slots), all_busy / (slots * (1 - load)))

    def test_clients(self):
        """A closed loop: n clients at one actor see n service times, once they have taken turns."""
        for clients in (1, 2, 7):
            result = simulate(Cluster(service=Constant(0.5)), Load(clients=clients, batches=500, warm_up=50))
            np.testing.assert_allclose(result.latencies, 0.5 * clients)
            self.assertAlmostEqual(result.answered_rate, 2.0, delta=0.02)
            self.assertAlmostEqual(result.busy, 1.0)

    def test_the_driver_is_a_queue_too(self):
        """Requests to 4 groups take 4 times the driver's time; the answer travels there and here."""
        cluster = Cluster(service=Constant(1.0), groups=4, driver=Driver(overhead=0.01, network=0.1))
        result = simulate(cluster, Load(rate=0.001, batches=300, warm_up=0))
        np.testing.assert_allclose(np.median(result.latencies), 1.24)
        self.assertAlmostEqual(cluster.capacity(), 1.0)
        self.assertAlmostEqual(dataclasses.replace(cluster, slots=1000).capacity(), 25.0)

    def test_too_much_load(self):
        result = simulate(Cluster(service=Constant(1.0)), Load(rate=1.5, batches=5_000, warm_up=100))
        self.assertTrue(result.overloaded)
        self.assertAlmostEqual(result.answered_rate, 1.0, delta=0.01)


class OrderTest(unittest.TestCase):
    """The slowest of several, and the first of two, at a load at which nothing waits."""

    def latencies(self, cluster, batches=200_000):
        return simulate(cluster, Load(rate=0.01, batches=batches, warm_up=0))

    def check_quantiles(self, result, quantile):
        for percent, most in ((50, 0.01), (99, 0.03)):
            expected = quantile(percent / 100)
            self.assertLess(abs(result.percentile(percent) / expected - 1), most, (percent, expected))

    def test_slowest_group(self):
        for groups in (1, 4, 16):
            with self.subTest(groups):
                cluster = Cluster(service=Lognormal(MEDIAN, P99), groups=groups)
                result = self.latencies(cluster, 200_000 if groups < 16 else 50_000)
                self.check_quantiles(result, lambda share: lognormal_quantile(share ** (1 / groups)))

    def test_hedges(self):
        """A request is late where both of its actors are."""
        after = 0.07
        cluster = Cluster(service=Lognormal(MEDIAN, P99), replicas=2, driver=Driver(hedge_after=after))
        result = self.latencies(cluster)
        both = lambda seconds: lognormal_above(seconds) * lognormal_above(seconds - after)  # noqa: E731
        self.check_quantiles(result, lambda share: quantile_where(both, share))
        self.assertAlmostEqual(result.hedged / result.requests, lognormal_above(after), delta=0.005)

    def test_stragglers(self):
        cluster = Cluster(service=Constant(0.1), stragglers=(0.2, Change(factor=3.0)))
        result = self.latencies(cluster, 50_000)
        self.assertAlmostEqual(float(np.mean(result.latencies > 0.29)), 0.2, delta=0.01)
        self.assertAlmostEqual(cluster.mean_service(), 0.14)
        self.assertAlmostEqual(float(result.latencies.mean()), 0.14, delta=0.002)

    def test_a_measured_sample(self):
        times = np.array([0.1, 0.2, 0.2, 0.7])
        result = self.latencies(Cluster(service=Sample(times)), 50_000)
        shares = [float(np.mean(np.isclose(result.latencies, time))) for time in (0.1, 0.2, 0.7)]
        np.testing.assert_allclose(shares, [0.25, 0.5, 0.25], atol=0.01)


class DriverTest(unittest.TestCase):
    """What the driver does with actors that are slow, or die."""

    def test_a_slow_actor(self):
        """Actor 0 is the first to be asked where all have as many calls."""
        cluster = Cluster(service=Constant(0.1), replicas=2, slow={0: Change(seconds=2.0)})
        slow = simulate(cluster, Load(rate=0.01, batches=200, warm_up=0))
        np.testing.assert_allclose(np.median(slow.latencies), 2.1)
        cluster = dataclasses.replace(cluster, driver=Driver(hedge_after=0.3))
        # So seldom that actor 0 has ended when the next one comes: what it works at counts.
        hedged = simulate(cluster, Load(rate=0.0001, batches=200, warm_up=0))
        np.testing.assert_allclose(np.median(hedged.latencies), 0.4)
        self.assertEqual((hedged.hedged, hedged.requests), (200, 200))

    def test_abandoned_requests_count(self):
        """An actor that still has requests that no one waits for is asked after others, or leaves them out."""
        cluster = Cluster(
            service=Constant(0.1), replicas=4, slow={0: Change(seconds=2.0)}, driver=Driver(hedge_after=0.3)
        )
        load = Load(rate=10.0, batches=5_000)
        hedged = {
            (counts, drops): simulate(
                dataclasses.replace(
                    cluster, driver=Driver(hedge_after=0.3, counts_abandoned=counts, drops_abandoned=drops)
                ),
                load,
            ).hedged
            for counts in (False, True)
            for drops in (False, True)
        }
        self.assertLess(hedged[True, False], hedged[False, False] / 2)
        self.assertLess(hedged[True, True], hedged[False, True] / 2)

    def test_dropped_requests(self):
        """Hedges that are dropped in time cost less than those that are not."""
        rates = [
            simulate(
                Cluster(
                    service=Exponential(1.0),
                    replicas=2,
                    driver=Driver(hedge_after=1.0, drops_abandoned=drops),
                ),
                Load(clients=4, batches=5_000),
            ).answered_rate
            for drops in (False, True)
        ]
        self.assertLess(rates[0], 1.1)
        self.assertGreater(rates[1], 1.4)

    def test_a_dead_actor(self):
        """One of two is away for 10 of 20 s: the other one answers, a pause later where a request is lost."""
        for detection in (0.0, 1.0):
            cluster = Cluster(
                service=Constant(0.1),
                replicas=2,
                driver=Driver(timeout=30.0),
                failures=Failures(kills=((0, 5.0),), recovery=10.0, detection=detection),
            )
            result = simulate(cluster, Load(rate=2.0, batches=40, warm_up=0))
            self.assertEqual((result.failed, len(result.latencies)), (0, 40))
            late = np.sort(result.latencies)[-3:]
            self.assertGreater(late[-1], 0.15)
            self.assertGreater(late[-1], detection)

    def test_no_actor_left(self):
        """Queries wait for the only actor, or fail after the timeout."""
        failures = Failures(kills=((0, 0.0),), recovery=100.0)
        waiting = simulate(Cluster(Constant(0.1), failures=failures), Load(rate=1.0, batches=10, warm_up=0))
        self.assertEqual(len(waiting.latencies), 10)
        self.assertGreater(waiting.latencies.max(), 80)
        cluster = Cluster(Constant(0.1), driver=Driver(timeout=2.0), failures=failures)
        given_up = simulate(cluster, Load(rate=1.0, batches=10, warm_up=0))
        self.assertEqual((given_up.failed, len(given_up.latencies)), (10, 0))
        self.assertTrue(math.isnan(given_up.percentile(50)))


class BookkeepingTest(unittest.TestCase):
    CLUSTER = Cluster(
        service=Lognormal(MEDIAN, P99),
        groups=3,
        replicas=2,
        slots=2,
        stragglers=(0.05, Change(factor=8.0)),
        slow={1: Change(seconds=0.5)},
        driver=Driver(overhead=0.001, network=0.002, hedge_after=0.1, timeout=1.0),
        failures=Failures(mtbf=20.0, kills=((5, 3.0),), recovery=2.0, detection=0.2),
    )

    def test_every_query_ends_once(self):
        for load in (Load(rate=15.0, batches=4_000, warm_up=0), Load(clients=4, batches=4_000, warm_up=0)):
            for counts, drops in itertools.product((False, True), (False, True)):
                driver = dataclasses.replace(
                    self.CLUSTER.driver, counts_abandoned=counts, drops_abandoned=drops
                )
                result = simulate(dataclasses.replace(self.CLUSTER, driver=driver), load)
                self.assertEqual(len(result.latencies) + result.failed, 4_000)
                self.assertEqual((result.arrived, result.requests), (4_000, 12_000))
                self.assertGreater(result.failed, 0)
                self.assertLess(result.failed, 2_000)
                self.assertGreater(result.hedged, 0)
                self.assertTrue(0 < result.busy <= 1)
                self.assertGreater(result.latencies.min(), 0.005)
                # A timeout runs from the first request that is sent.
                self.assertLess(result.latencies.max(), 1.5)

    def test_warm_up(self):
        whole = simulate(self.CLUSTER, Load(rate=20.0, batches=1_000, warm_up=0))
        later = simulate(self.CLUSTER, Load(rate=20.0, batches=1_000, warm_up=400))
        self.assertEqual((whole.arrived, later.arrived), (1_000, 600))
        self.assertEqual(len(later.latencies) + later.failed, 600)

    def test_same_seed_same_result(self):
        load = Load(rate=40.0, batches=2_000, warm_up=100, seed=7)
        first, again = simulate(self.CLUSTER, load), simulate(self.CLUSTER, load)
        other = simulate(self.CLUSTER, dataclasses.replace(load, seed=8))
        np.testing.assert_array_equal(first.latencies, again.latencies)
        self.assertEqual((first.busy, first.hedged, first.failed), (again.busy, again.hedged, again.failed))
        self.assertNotEqual(list(first.latencies[:50]), list(other.latencies[:50]))


class CommandTest(unittest.TestCase):
    def table(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            simulate_cluster.main(["--batches", "2000", *arguments])
        return said.getvalue()

    def refusal(self, *arguments):
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit) as left:
            simulate_cluster.main(list(arguments))
        self.assertEqual(left.exception.code, 2)
        return said.getvalue()

    def test_table(self):
        arguments = ("--service", "constant:0.05", "--replicas", "4", "--rates", "8,40,100")
        lines = self.table(*arguments).splitlines()
        self.assertEqual(len(lines), 4)
        self.assertRegex(lines[1], r"^ +8 +10% +50\.0 +50\.0 +\S+ +\S+ +[78]\.\d +10% +0\.0% +0$")
        self.assertRegex(lines[3], "overloaded$")
        self.assertEqual(self.table(*arguments), "\n".join(lines) + "\n")
        self.assertNotEqual(self.table(*arguments, "--seed", "2"), "\n".join(lines) + "\n")

    def test_six_loads_where_none_is_given(self):
        lines = self.table("--service", "lognormal:0.04,0.12").splitlines()
        self.assertEqual([line.split()[1] for line in lines[1:]], ["20%", "40%", "60%", "70%", "80%", "90%"])

    def test_batches_and_groups(self):
        """Bytes are those of all rows and one query."""
        self.assertAlmostEqual(parse_service("bytes:20e6,10e9,0.001", 4, 8).mean, 0.001 + 0.004)
        whole = self.table("--service", "bytes:20e6,10e9", "--rates", "10", "--batch", "5")
        parts = self.table("--service", "bytes:20e6,10e9", "--rates", "10", "--batch", "5", "--groups", "2")
        self.assertEqual((whole.split("\n")[1].split()[2], parts.split("\n")[1].split()[2]), ("10.0", "5.0"))

    def test_a_file_of_times(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "times.txt"
            path.write_text("0.2\n0.2\n", encoding="utf-8")
            lines = self.table("--service", f"sample:{path}", "--rates", ".01").splitlines()
            self.assertEqual(lines[1].split()[2], "200.0")
            path.write_text("0.2\n-1\n", encoding="utf-8")
            self.assertIn("above 0", self.refusal("--service", f"sample:{path}"))

    def test_help_has_examples(self):
        with contextlib.redirect_stdout(io.StringIO()) as said, self.assertRaises(SystemExit):
            simulate_cluster.main(["--help"])
        self.assertIn("examples:", said.getvalue())

    def test_what_it_refuses(self):
        good = ("--service", "constant:0.05")
        for arguments, text in (
            ((), "--service"),
            (("--service", "0.05"), "colon"),
            (("--service", "gamma:1"), "gamma"),
            (("--service", "constant:0"), "above 0"),
            (("--service", "constant:nan"), "above 0"),
            (("--service", "constant:a"), "a"),
            (("--service", "lognormal:1"), "2 numbers"),
            (("--service", "lognormal:1,.5"), "below the median"),
            (("--service", "bytes:1"), "2 to 3 numbers"),
            (("--service", "sample:/none"), "/none"),
            ((*good, "--replicas", "0"), "--replicas"),
            ((*good, "--groups", "1000", "--replicas", "1000"), "100,000"),
            ((*good, "--rates", "0"), "--rates"),
            ((*good, "--rates", "1", "--clients", "1"), "not allowed with"),
            ((*good, "--clients", "0"), "--clients"),
            ((*good, "--hedge-after", "0"), "--hedge-after"),
            ((*good, "--overhead", "-1"), "--overhead"),
            ((*good, "--timeout", "inf"), "--timeout"),
            ((*good, "--slow", "1:x2"), "no actor 1"),
            ((*good, "--slow", "0:2"), "neither a factor"),
            ((*good, "--slow", "0"), "colon"),
            ((*good, "--kill", "1:2"), "no actor 1"),
            ((*good, "--stragglers", "2:x2"), "--stragglers"),
            ((*good, "--batches", "10", "--warm-up", "10"), "--warm-up"),
            ((*good, "--seed", "-1"), "--seed"),
        ):
            with self.subTest(arguments):
                self.assertIn(text, self.refusal(*arguments))


if __name__ == "__main__":
    unittest.main()
