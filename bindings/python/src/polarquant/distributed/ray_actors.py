# SPDX-License-Identifier: MIT
"""Actors that have the same shards, any of which may answer, and any of which may die."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import ray

from polarquant.errors import CorruptDataError, InputOutputError, NotFoundError, PolarError
from polarquant.partials import Part
from polarquant.shards import ShardedIndex

#: Between looks for an actor that answers, while all that are there have failed.
_PAUSE_S = 0.05
#: An actor that failed is asked last for so long.
_FAILED_S = 1.0
#: What says that an actor, not the search, has failed: another one may have whole files.
_ACTOR_ERRORS = (ray.exceptions.RayActorError, ray.exceptions.WorkerCrashedError)
_FILE_ERRORS = (CorruptDataError, InputOutputError, NotFoundError)


class Shards(NamedTuple):
    """Shards of a manifest that an actor has."""

    manifest: str
    numbers: tuple[int, ...]
    first_row: int  # rows of the shards before
    ids_are_positions: bool


class Actor:
    """Some shards in a process of their own."""

    def __init__(self, shards: Shards, cache: str | None, num_threads: int) -> None:
        index = ShardedIndex.open(shards.manifest, shards=shards.numbers, cache=cache)
        self._part = Part(index, shards.first_row, shards.ids_are_positions)
        self._num_threads = num_threads
        self._one_at_a_time = threading.Lock()

    def ntotal(self) -> int:
        return self._part.index.ntotal

    def call(self, name: str, queries: Any, wanted: Any, options: dict[str, Any]) -> Any:
        """A method of Part's; None where no one waits for it any more."""
        with self._one_at_a_time:
            if _is_dropped():
                return None
            return self.answer(name, queries, wanted, options)

    def answer(self, name: str, queries: Any, wanted: Any, options: dict[str, Any]) -> Any:
        call = getattr(self._part, name)
        return call(queries, wanted, num_threads=self._num_threads, **options)


class Replicas:
    """Actors of the same shards, and how many calls each has."""

    def __init__(self, shards: Shards, count: int, num_cpus: int, cache: str | None) -> None:
        # Ray makes an actor that died anew, which opens the files again. It drops calls that wait, and
        # are not wanted any more, only where an actor has more than one thread.
        remote: Any = ray.remote(Actor)
        actor = remote.options(
            num_cpus=num_cpus, max_restarts=-1, max_concurrency=2, scheduling_strategy="SPREAD"
        )
        self._make = lambda: actor.remote(shards, cache, num_cpus)
        self.actors: list[Any] = [self._make() for _ in range(count)]
        self._lock = threading.Lock()
        self._calls = [0] * count
        self._unwanted: list[tuple[Any, int]] = []  # calls that go on, of which actor
        self._failed_at = [0.0] * count

    def take(self, others: Sequence[int]) -> int | None:
        """The actor with the fewest calls, not of `others`; one that has just failed where there is no
        other. None where all are asked."""
        now = time.monotonic()
        with self._lock:
            self._release_ended()
            numbers = [number for number in range(len(self.actors)) if number not in others]
            if not numbers:
                return None
            best = min(
                numbers, key=lambda i: (now - self._failed_at[i] < _FAILED_S, self._calls[i], i)
            )
            self._calls[best] += 1
            return best

    def drop(self, reference: Any, number: int) -> None:
        """Drops a call, unless its actor has begun with it: then it counts until it has ended."""
        ray.cancel(reference)
        with self._lock:
            self._unwanted.append((reference, number))

    def _release_ended(self) -> None:
        if not self._unwanted:
            return
        references = [reference for reference, _ in self._unwanted]
        ended = set(ray.wait(references, num_returns=len(references), timeout=0)[0])
        for reference, number in self._unwanted:
            self._calls[number] -= reference in ended
        self._unwanted = [each for each in self._unwanted if each[0] not in ended]

    def all_failed(self) -> bool:
        """Whether all have just failed."""
        now = time.monotonic()
        with self._lock:
            return all(now - failed_at < _FAILED_S for failed_at in self._failed_at)

    def replace(self, number: int, dead: Any) -> None:
        """Makes another actor in the place of one that could not open its files, which Ray makes no
        more."""
        with self._lock:
            if self.actors[number] is dead:
                self.actors[number] = self._make()

    def give_back(self, number: int, failed: bool = False) -> None:
        with self._lock:
            self._calls[number] -= 1
            if failed:
                self._failed_at[number] = time.monotonic()


class _Question:
    """What one group of replicas is asked, until one has answered."""

    def __init__(
        self, replicas: Replicas, arguments: tuple[Any, ...], hedge_at: float | None
    ) -> None:
        self.replicas = replicas
        self.arguments = arguments
        self.hedge_at = hedge_at
        self.asked: dict[Any, tuple[int, Any]] = {}  # answers to come: of which actor
        self.without_files: set[int] = set()  # actors that cannot read theirs
        self.is_answered = False
        self.answer: Any = None

    def ask(self) -> None:
        """Asks an actor where none is asked, and one more when it is time to."""
        if self.is_answered:
            return
        is_late = self.hedge_at is not None and time.monotonic() >= self.hedge_at
        if self.asked and not is_late:
            return
        if self.asked:
            self.hedge_at = None  # one more, and no others
        number = self.replicas.take([number for number, _ in self.asked.values()])
        if number is not None:
            actor = self.replicas.actors[number]
            self.asked[actor.call.remote(*self.arguments)] = (number, actor)

    def take_answer(self, reference: Any) -> None:
        """Of an actor that has answered, or failed. Raises what a search raises, and what is wrong with
        the files where no actor has whole ones."""
        if reference not in self.asked:
            return  # came together with another one's answer
        number, actor = self.asked.pop(reference)
        error: BaseException | None = None
        try:
            self.answer = ray.get(reference)
            self.is_answered = True
        except _ACTOR_ERRORS as failure:
            if getattr(failure, "actor_init_failed", False):
                self.replicas.replace(number, actor)
                error = InputOutputError(f"RayIndex: no actor opens shards: {failure}")
        except ray.exceptions.RayTaskError as failure:
            error = cause_of(failure)
            if not isinstance(error, _FILE_ERRORS):
                raise error from None
        finally:
            self.replicas.give_back(number, not self.is_answered)
        if self.is_answered:
            self.end()
        elif error is not None:
            self.without_files.add(number)
            if len(self.without_files) == len(self.replicas.actors):
                raise error

    def end(self) -> None:
        for reference, (number, _) in self.asked.items():
            self.replicas.drop(reference, number)
        self.asked = {}


def first_answers(
    groups: Sequence[Replicas],
    arguments: tuple[Any, ...],
    timeout_s: float | None,
    hedge_after_s: float | None,
) -> list[Any]:
    """What one actor of each group answers to `call`. Raises TimeoutError, and what a call raises."""
    begin = time.monotonic()
    deadline = None if timeout_s is None else begin + timeout_s
    hedge_at = None if hedge_after_s is None else begin + hedge_after_s
    questions = [_Question(replicas, arguments, hedge_at) for replicas in groups]
    try:
        while True:
            for question in questions:
                question.ask()
            owners = {reference: question for question in questions for reference in question.asked}
            times = [deadline, *(question.hedge_at for question in questions if question.asked)]
            done, _ = ray.wait(list(owners), timeout=_seconds_to(times))
            for reference in done:
                owners[reference].take_answer(reference)
            waiting = [question for question in questions if not question.is_answered]
            if not waiting:
                return [question.answer for question in questions]
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"RayIndex: no answer within {timeout_s} s")
            if any(not question.asked and question.replicas.all_failed() for question in waiting):
                time.sleep(_PAUSE_S)
    finally:
        for question in questions:
            question.end()


def _seconds_to(times: Sequence[float | None]) -> float | None:
    """Until the first of these; None for none."""
    known = [at for at in times if at is not None]
    return max(0.0, min(known) - time.monotonic()) if known else None


def _is_dropped() -> bool:
    """Whether Ray was told to cancel the call of this thread. Older releases of Ray do not say it."""
    is_canceled = getattr(ray.get_runtime_context(), "is_canceled", None)
    return is_canceled is not None and bool(is_canceled())


def cause_of(error: BaseException) -> BaseException:
    """The error of ours inside one of Ray's."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, PolarError) else error
