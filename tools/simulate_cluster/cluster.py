# SPDX-License-Identifier: MIT
"""What is simulated: a cluster, its load, and what came of them."""

import dataclasses

import numpy as np
from service_times import Change, Constant


@dataclasses.dataclass(frozen=True)
class Driver:
    """The process that takes queries, sends each as a request to an actor of every group, and waits for
    the slowest group's answer. It works as `polarquant.distributed.ray.RayIndex`."""

    overhead: float = 0.0  # seconds of the driver's own for a request; it sends one at a time
    network: float = 0.0  # seconds that a request travels, and an answer
    hedge_after: float | None = None  # then another actor of the group is asked as well, once
    timeout: float | None = None  # then the query has failed
    pause: float = 0.05  # before an actor is asked again where all of a group have just failed
    avoid: float = 1.0  # so long one that failed is asked only where there is no other
    # Requests that no one waits for any more: whether one that its actor works at counts where the driver
    # looks for the actor with the fewest, and whether actors leave out those that they have not begun.
    counts_abandoned: bool = True
    drops_abandoned: bool = True


@dataclasses.dataclass(frozen=True)
class Failures:
    """When actors die, and how long they are away."""

    mtbf: float | None = None  # mean seconds between deaths of one actor, at random
    kills: tuple = ()  # (actor, seconds from the beginning)
    recovery: float = 10.0  # seconds until the actor is there again, its index open
    detection: float = 0.0  # seconds until the driver hears of a death


@dataclasses.dataclass(frozen=True)
class Cluster:
    """Actors 0 to `replicas` - 1 are those of group 0, and so on."""

    service: object  # of service_times
    groups: int = 1
    replicas: int = 1
    slots: int = 1  # requests that an actor works at beside each other
    stragglers: tuple = (0.0, Change())  # a share of requests, and what happens to them
    slow: dict = dataclasses.field(default_factory=dict)  # actor: Change
    driver: Driver = Driver()
    failures: Failures = Failures()

    def mean_service(self, actor=None):
        """Mean seconds of a request, at an actor of its own or at one that is not slow."""
        share, change = self.stragglers
        mean = (1 - share) * self.service.mean + share * change.applied_to(self.service.mean)
        return self.slow[actor].applied_to(mean) if actor in self.slow else mean

    def capacity(self):
        """Batches a second that the actors, and the driver, can do at most, without a hedge."""
        most = [
            sum(self.slots / self.mean_service(group * self.replicas + i) for i in range(self.replicas))
            for group in range(self.groups)
        ]
        if self.driver.overhead > 0:
            most.append(1 / (self.driver.overhead * self.groups))
        return min(most)


@dataclasses.dataclass(frozen=True)
class Load:
    """Batches of queries that arrive at random (`rate` a second, a Poisson process), or `clients` that
    send the next batch when they have the answer to the last."""

    rate: float | None = None
    clients: int | None = None
    batches: int = 20_000
    warm_up: int = 1_000  # the first ones, which are not counted
    seed: int = 1


@dataclasses.dataclass
class Result:
    """Of the batches after the first `warm_up` ones."""

    latencies: np.ndarray  # seconds of each batch that was answered
    arrived: int
    failed: int
    requests: int  # one for each group of each batch; hedges and repetitions are not counted
    hedged: int  # requests that were sent to a second actor
    answered_rate: float  # batches a second that were answered while others still came
    busy: float  # share of the actors' time in which they worked
    overloaded: bool  # more came than was answered: latencies depend on how long one looks

    def percentile(self, percent):
        """Seconds, or nan where nothing was answered."""
        return float(np.percentile(self.latencies, percent)) if self.latencies.size else float("nan")
