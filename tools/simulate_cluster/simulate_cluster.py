#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long do queries take, and how many machines do they need? A simulation of a driver and the actors
that it asks, as `polarquant.distributed.ray.RayIndex` does it. Needs NumPy alone.

Every actor answers for the rows of its group; the replicas of a group have the same rows. A query goes to
one actor of each group, the one with the fewest calls, and is answered when the slowest group has answered.
"""

import argparse
import sys

from cluster import Cluster, Driver, Failures, Load
from service_times import Change, parse_change, parse_service
from simulation import simulate

EXAMPLES = """
service times, in seconds, of one request at an actor that does nothing else:
  constant:S            always the same
  exponential:MEAN      as queueing theory likes them
  lognormal:P50,P99     by the time of half, and of 99 of 100
  sample:FILE           times that were measured, one a line
  bytes:B,RATE[,FIXED]  a query reads B bytes of all rows, of which each group has its part, RATE of them a
                        second, and takes FIXED seconds besides; B times the queries of a batch

examples:
  Four replicas, 40 ms a query and 120 ms at worst of 100; from idle to nearly full:
    simulate_cluster.py --service lognormal:0.04,0.12 --replicas 4
  Rows in 8 groups of 2 machines; a query reads 20 MB, 10 GB/s an actor, 1 ms besides; 4 queries at a time:
    simulate_cluster.py --service bytes:20e6,10e9,0.001 --groups 8 --replicas 2 --slots 4
  The same where one machine takes 2 s longer, and a second one is asked after 20 ms:
    simulate_cluster.py --service bytes:20e6,10e9,0.001 --groups 8 --replicas 2 --slots 4 \\
      --slow 0:+2 --hedge-after 0.02
  One request in a hundred takes ten times as long; times were measured:
    simulate_cluster.py --service sample:times.txt --replicas 4 --stragglers 0.01:x10 --rates 20,40,60
  An actor dies after 30 s, and is there again after 20; a query fails after 5 s:
    simulate_cluster.py --service constant:0.05 --replicas 3 --kill 0:30 --recovery 20 --timeout 5 --rates 30
  16 clients, each of which sends when it has its answer:
    simulate_cluster.py --service constant:0.05 --replicas 4 --clients 16

Columns: queries a second that arrive (or clients) and their share of what the actors, or the driver, can do
at most; latencies of answered queries in milliseconds; answered queries a second; the share of the actors'
time in which they worked; the share of requests that were hedged; queries that failed. An overloaded
row's latencies depend on how long one looks. The same --seed gives the same table.
"""
#: Where no load is given: these shares of the capacity.
SHARES = (0.2, 0.4, 0.6, 0.7, 0.8, 0.9)


def number_above_0(text):
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: a number above 0 is allowed")
    return value


def number_from_0(text):
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: a number from 0 is allowed")
    return value


def count(text):
    value = int(text)
    if not 1 <= value <= 10_000_000:
        raise argparse.ArgumentTypeError(f"{text}: 1 to 10,000,000 is allowed")
    return value


def list_of(kind):
    def parse(text):
        return [kind(part) for part in text.split(",")]

    parse.__name__ = f"list of {kind.__name__}"
    return parse


def pair(first_kind, second_kind):
    """FIRST:SECOND."""

    def parse(text):
        first, colon, second = text.partition(":")
        if not colon:
            raise argparse.ArgumentTypeError(f"{text}: two values with a colon between are wanted")
        try:
            return first_kind(first), second_kind(second)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse


def make_parser():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--service", required=True, metavar="TIMES", help="service times, as below")
    add("--groups", type=count, default=1, help="parts that the rows are divided into (1)")
    add("--replicas", type=count, default=1, help="actors of each group (1)")
    add("--slots", type=count, default=1, help="requests that an actor works at beside each other (1)")
    add("--batch", type=count, default=1, help="queries of a batch; a request is one batch (1)")
    load = parser.add_mutually_exclusive_group()
    load.add_argument(
        "--rates", type=list_of(number_above_0), metavar="Q,…", help="queries a second, at random"
    )
    load.add_argument("--clients", type=list_of(count), metavar="N,…", help="clients that wait for answers")
    text = "a share of requests, and what happens to them: 0.01:x10, or 0.01:+0.5"
    share_of_requests = pair(number_from_0, parse_change)
    add("--stragglers", type=share_of_requests, default=(0.0, Change()), metavar="SHARE:CHANGE", help=text)
    several = {"action": "append", "default": []}
    text = "an actor that is slow with every request: 0:x4, or 0:+2; may be given again"
    add("--slow", type=pair(int, parse_change), metavar="ACTOR:CHANGE", help=text, **several)
    add(
        "--overhead", type=number_from_0, default=0.0, metavar="S", help="the driver's own time for a request"
    )
    add("--network", type=number_from_0, default=0.0, metavar="S", help="a request's way, and an answer's")
    add("--hedge-after", type=number_above_0, metavar="S", help="another actor is asked too, after so long")
    add("--timeout", type=number_above_0, metavar="S", help="a query fails after so long")
    text = "actors work at requests that no one waits for any more, and the driver does not know that they do"
    add("--keep-abandoned", action="store_true", help=text)
    text = "an actor dies then; may be given again"
    add("--kill", type=pair(int, number_from_0), metavar="ACTOR:S", help=text, **several)
    add("--mtbf", type=number_above_0, metavar="S", help="mean time between deaths of one actor, at random")
    add(
        "--recovery",
        type=number_above_0,
        default=10.0,
        metavar="S",
        help="until an actor is there again (10)",
    )
    add(
        "--detection",
        type=number_from_0,
        default=0.0,
        metavar="S",
        help="until the driver hears of a death (0)",
    )
    add("--batches", type=count, default=20_000, metavar="N", help="batches of a row of the table (20,000)")
    add("--warm-up", type=int, metavar="N", help="the first of them, not counted (one in 20)")
    add("--seed", type=int, default=1, help="of all random numbers (1)")
    return parser


def make_cluster(options):
    """The cluster, or a ValueError that names the option."""
    actors = options.groups * options.replicas
    if actors > 100_000:
        raise ValueError(f"--groups, --replicas: {actors:,} actors; 100,000 are allowed")
    for name, pairs in (("--slow", options.slow), ("--kill", options.kill)):
        for actor, _ in pairs:
            if not 0 <= actor < actors:
                raise ValueError(f"{name}: there is no actor {actor}; 0 to {actors - 1} are")
    if options.stragglers[0] > 1:
        raise ValueError(f"--stragglers: a share of {options.stragglers[0]:g}; 0 to 1 is allowed")
    if options.warm_up is None:
        options.warm_up = options.batches // 20
    if not 0 <= options.warm_up < options.batches:
        raise ValueError(f"--warm-up: {options.warm_up}; 0 to {options.batches - 1} is allowed")
    if options.seed < 0:
        raise ValueError(f"--seed: {options.seed}; a number from 0 is allowed")
    try:
        service = parse_service(options.service, options.groups, options.batch)
    except (OSError, ValueError) as error:
        raise ValueError(f"--service: {error}") from None
    return Cluster(
        service=service,
        groups=options.groups,
        replicas=options.replicas,
        slots=options.slots,
        stragglers=options.stragglers,
        slow=dict(options.slow),
        driver=Driver(
            overhead=options.overhead,
            network=options.network,
            hedge_after=options.hedge_after,
            timeout=options.timeout,
            counts_abandoned=not options.keep_abandoned,
            drops_abandoned=not options.keep_abandoned,
        ),
        failures=Failures(options.mtbf, tuple(options.kill), options.recovery, options.detection),
    )


def make_loads(options, cluster):
    """Each row's load: its number in the first column, and the `Load`."""
    how_many = {"batches": options.batches, "warm_up": options.warm_up, "seed": options.seed}
    if options.clients is not None:
        return [(clients, Load(clients=clients, **how_many)) for clients in options.clients]
    rates = options.rates or [share * cluster.capacity() * options.batch for share in SHARES]
    return [(rate, Load(rate=rate / options.batch, **how_many)) for rate in rates]


def print_table(options, cluster):
    first = "clients" if options.clients is not None else "queries/s"
    print(
        f"{first:>10} {'of most':>8} {'p50 ms':>9} {'p90 ms':>9} {'p99 ms':>9} {'p99.9 ms':>9} "
        f"{'answered/s':>11} {'busy':>6} {'hedged':>7} {'failed':>7}"
    )
    for number, load in make_loads(options, cluster):
        result = simulate(cluster, load)
        share = (
            result.answered_rate / cluster.capacity() if load.rate is None else load.rate / cluster.capacity()
        )
        times = " ".join(f"{1000 * result.percentile(percent):9.1f}" for percent in (50, 90, 99, 99.9))
        print(
            f"{number:10.6g} {share:7.0%}  {times} {result.answered_rate * options.batch:11.1f} "
            f"{result.busy:6.0%} {result.hedged / result.requests:7.1%} {result.failed * options.batch:7d}"
            + ("  overloaded" if result.overloaded else ""),
            flush=True,
        )


def main(arguments=None):
    parser = make_parser()
    options = parser.parse_args(arguments)
    try:
        cluster = make_cluster(options)
    except ValueError as error:
        parser.error(str(error))
    print_table(options, cluster)


if __name__ == "__main__":
    sys.exit(main())
