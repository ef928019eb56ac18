# SPDX-License-Identifier: MIT
"""A discrete-event simulation of a driver and its actors: `simulate(cluster, load)`.

Events are calls at a time, taken from a heap; between them nothing happens. A batch of queries has a part
for each group of actors; a part asks an actor, perhaps another one when that is late or dies, and the
first answer counts. The rules of the driver are those of `first_answers` in ray_actors.py.
"""

import collections
import heapq
import itertools
import math

import numpy as np
from cluster import Result

WAITING, RUNNING, ENDED, DROPPED, LOST = range(5)
#: Random numbers are drawn so many at a time.
_BLOCK = 4096


class _Actor:
    def __init__(self, number, change, slots):
        self.number = number
        self.change = change  # of the times of a slow one
        self.free_slots = slots
        self.queue = collections.deque()
        self.running = {}  # requests, in the order in which they began
        self.calls = 0  # that the driver counts
        self.failed_at = -math.inf  # when the driver last heard of a failure
        self.alive = True
        self.died_at = -math.inf


class _Batch:
    __slots__ = ("number", "arrived_at", "parts", "open_parts", "has_begun")

    def __init__(self, number, arrived_at, groups):
        self.number = number
        self.arrived_at = arrived_at
        self.parts = [_Part(self, group) for group in range(groups)]
        self.open_parts = groups
        self.has_begun = False


class _Part:
    """What a batch asks of one group."""

    __slots__ = ("batch", "group", "asked", "has_begun", "hedge_is_due", "is_hedged", "is_done")

    def __init__(self, batch, group):
        self.batch = batch
        self.group = group
        self.asked = []  # requests whose answers are waited for
        self.has_begun = self.hedge_is_due = self.is_hedged = self.is_done = False


class _Request:
    __slots__ = ("part", "actor", "state", "started_at", "is_counted")

    def __init__(self, part, actor):
        self.part = part
        self.actor = actor
        self.state = WAITING
        self.started_at = 0.0
        self.is_counted = True  # among the actor's calls


def _stream(draw, generator):
    while True:
        yield from draw(generator, _BLOCK).tolist()


class _Simulation:
    def __init__(self, cluster, load):
        self.cluster, self.load, self.driver = cluster, load, cluster.driver
        self.now = 0.0
        self.events = []
        self.order = itertools.count()  # of events at the same time: first come, first served
        arrivals, service, straggling, *deaths = (
            np.random.default_rng(seed)
            for seed in np.random.SeedSequence(load.seed).spawn(3 + cluster.groups * cluster.replicas)
        )
        self.gaps = _stream(lambda generator, n: generator.exponential(1.0, n), arrivals)
        self.services = _stream(cluster.service.draw, service)
        self.chances = _stream(lambda generator, n: generator.random(n), straggling)
        self.deaths = deaths
        self.actors = [
            _Actor(number, cluster.slow.get(number), cluster.slots)
            for number in range(cluster.groups * cluster.replicas)
        ]
        self.driver_is_free_at = 0.0
        self.arrived = self.ended = 0
        # Of batches after the first ones: what is reported, and the time in which they arrive.
        self.latencies = []
        self.failed = self.requests = self.hedged = self.answered_in_window = 0
        self.window = [math.inf, math.inf]
        self.busy_seconds = 0.0

    def at(self, time, call, *arguments):
        heapq.heappush(self.events, (time, next(self.order), call, arguments))

    def run(self):
        if self.load.clients is None:
            self.at(next(self.gaps) / self.load.rate, self.arrive)
        else:
            for _ in range(min(self.load.clients, self.load.batches)):
                self.at(0.0, self.arrive)
        for actor in self.actors:
            self.plan_death(actor)
        for number, time in self.cluster.failures.kills:
            self.at(time, self.die, self.actors[number])
        while self.ended < self.load.batches:
            self.now, _, call, arguments = heapq.heappop(self.events)
            call(*arguments)
        return self.result()

    # The driver.

    def arrive(self):
        if self.arrived == self.load.batches:  # a client that has no more to send
            return
        batch = _Batch(self.arrived, self.now, self.cluster.groups)
        self.arrived += 1
        if batch.number == self.load.warm_up:
            self.window[0] = self.now
        if self.arrived == self.load.batches:
            self.window[1] = self.now
        elif self.load.clients is None:
            self.at(self.now + next(self.gaps) / self.load.rate, self.arrive)
        for part in batch.parts:
            self.send(part)

    def send(self, part):
        """Asks an actor, once the driver has got to it."""
        self.driver_is_free_at = max(self.now, self.driver_is_free_at) + self.driver.overhead
        self.at(self.driver_is_free_at, self.ask, part)

    def ask(self, part):
        if part.is_done:
            return
        if not part.has_begun:
            self.begin(part)
        actor = self.best_actor(part)
        if actor is None:
            return
        if part.asked:
            part.is_hedged = True
        actor.calls += 1
        request = _Request(part, actor)
        part.asked.append(request)
        self.at(self.now + self.driver.network, self.reach, request)
        if part.hedge_is_due:
            part.hedge_is_due = False
            self.send(part)

    def begin(self, part):
        """Sets the clocks of a part, and of its batch."""
        part.has_begun = True
        if self.driver.hedge_after is not None:
            self.at(self.now + self.driver.hedge_after, self.hedge, part)
        if self.driver.timeout is not None and not part.batch.has_begun:
            self.at(self.now + self.driver.timeout, self.give_up, part.batch)
        part.batch.has_begun = True

    def best_actor(self, part):
        """The one with the fewest calls that is not asked yet; one that failed just now where there is no
        other."""
        others = [request.actor for request in part.asked]
        best, best_rank = None, None
        for actor in self.actors_of(part):
            if actor not in others:
                rank = (self.has_just_failed(actor), actor.calls)
                if best is None or rank < best_rank:
                    best, best_rank = actor, rank
        return best

    def actors_of(self, part):
        first = part.group * self.cluster.replicas
        return self.actors[first : first + self.cluster.replicas]

    def has_just_failed(self, actor):
        return self.now - actor.failed_at < self.driver.avoid

    def hedge(self, part):
        if not part.is_done:
            if part.asked:
                self.send(part)
            else:
                part.hedge_is_due = True  # with the request that is to come

    def hear(self, request):
        """An answer has come."""
        part = request.part
        if part.is_done:
            return
        part.asked.remove(request)
        self.uncount(request)
        self.let_go(part)
        part.batch.open_parts -= 1
        if part.batch.open_parts == 0:
            self.end(part.batch, answered=True)

    def hear_failure(self, request):
        part, actor = request.part, request.actor
        self.uncount(request)
        if part.is_done:
            return
        actor.failed_at = self.now
        part.asked.remove(request)
        if not part.asked:
            pause = self.driver.pause if all(map(self.has_just_failed, self.actors_of(part))) else 0.0
            self.at(self.now + pause, self.send, part)

    def give_up(self, batch):
        if batch.open_parts > 0:
            for part in batch.parts:
                if not part.is_done:
                    self.let_go(part)
            batch.open_parts = 0
            self.end(batch, answered=False)

    def let_go(self, part):
        """No answer to this part is waited for any more. Actors work at what they have got all the same,
        but for requests that are dropped before they begin."""
        part.is_done = True
        for request in part.asked:
            if not self.driver.counts_abandoned:
                self.uncount(request)
            if self.driver.drops_abandoned:
                self.at(self.now + self.driver.network, self.drop, request)
        part.asked = []

    def uncount(self, request):
        if request.is_counted:
            request.is_counted = False
            request.actor.calls -= 1

    def end(self, batch, answered):
        self.ended += 1
        if batch.number >= self.load.warm_up:
            if answered:
                self.latencies.append(self.now - batch.arrived_at)
            else:
                self.failed += 1
            self.requests += len(batch.parts)
            self.hedged += sum(part.is_hedged for part in batch.parts)
        if answered and self.window[0] <= self.now <= self.window[1]:
            self.answered_in_window += 1
        if self.load.clients is not None:
            self.at(self.now, self.arrive)

    # The actors.

    def reach(self, request):
        actor = request.actor
        if request.state == DROPPED:
            return
        if not actor.alive:
            heard_at = max(self.now + self.driver.network, actor.died_at + self.cluster.failures.detection)
            self.at(heard_at, self.hear_failure, request)
        elif actor.free_slots > 0:
            self.start(request)
        else:
            actor.queue.append(request)

    def start(self, request):
        actor = request.actor
        actor.free_slots -= 1
        actor.running[request] = None
        request.state, request.started_at = RUNNING, self.now
        share, change = self.cluster.stragglers
        seconds = next(self.services)
        if share > 0 and next(self.chances) < share:
            seconds = change.applied_to(seconds)
        if actor.change is not None:
            seconds = actor.change.applied_to(seconds)
        self.at(self.now + seconds, self.finish, request)

    def finish(self, request):
        if request.state != RUNNING:  # its actor died
            return
        actor = request.actor
        request.state = ENDED
        self.stop_running(request)
        self.at(self.now + self.driver.network, self.hear, request)
        if request.part.is_done:
            self.uncount(request)
        while actor.queue and actor.free_slots > 0:
            following = actor.queue.popleft()
            if following.state == WAITING:
                self.start(following)

    def stop_running(self, request):
        request.actor.running.pop(request)
        request.actor.free_slots += 1
        begin, end = self.window
        self.busy_seconds += max(0.0, min(self.now, end) - max(request.started_at, begin))

    def drop(self, request):
        if request.state == WAITING:
            request.state = DROPPED
            self.uncount(request)

    def plan_death(self, actor):
        mtbf = self.cluster.failures.mtbf
        if mtbf is not None:
            self.at(self.now + self.deaths[actor.number].exponential(mtbf), self.die, actor)

    def die(self, actor):
        if not actor.alive:
            return
        actor.alive, actor.died_at = False, self.now
        lost = [*actor.running, *(request for request in actor.queue if request.state == WAITING)]
        for request in list(actor.running):
            self.stop_running(request)
        actor.queue.clear()
        heard_at = self.now + self.driver.network + self.cluster.failures.detection
        for request in lost:
            request.state = LOST
            self.at(heard_at, self.hear_failure, request)
        self.at(self.now + self.cluster.failures.recovery, self.revive, actor)

    def revive(self, actor):
        actor.alive = True
        self.plan_death(actor)

    def result(self):
        """What is still running counts until the last arrival."""
        for actor in self.actors:
            for request in list(actor.running):
                self.stop_running(request)
        seconds = self.window[1] - self.window[0]
        counted = self.load.batches - self.load.warm_up
        rate = self.answered_in_window / seconds if seconds > 0 else math.nan
        slots = len(self.actors) * self.cluster.slots
        return Result(
            latencies=np.array(self.latencies),
            arrived=counted,
            failed=self.failed,
            requests=self.requests,
            hedged=self.hedged,
            answered_rate=rate,
            busy=self.busy_seconds / (seconds * slots) if seconds > 0 else math.nan,
            overloaded=self.is_overloaded(rate, counted / seconds if seconds > 0 else math.nan),
        )

    def is_overloaded(self, answered, arrived):
        """More came than can be answered, or than was: hedges and deaths take from what can be."""
        return self.load.rate is not None and (
            self.load.rate >= self.cluster.capacity() or answered < 0.95 * arrived
        )


def simulate(cluster, load):
    """A `Result` of a `Cluster` under a `Load`; the same for the same arguments."""
    return _Simulation(cluster, load).run()
