# SPDX-License-Identifier: MIT
"""Searches of an index in shards by several Ray actors, any of which may die.

Each actor maps all shards (`ShardedIndex`), so that every answer is that of one index, to the bit. Files
are shared by the actors of a node; actors bring queries a second, and go on where one of them, or its
node, is gone.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import ray

from polarquant._arrays import Floats, Ids, as_int
from polarquant._storage import PathLike
from polarquant.errors import BadArgumentError, PolarError
from polarquant.manifest import Manifest
from polarquant.shards import ShardedIndex

__all__ = ["RayIndex"]

#: Between looks for an actor that answers, while all that are there have failed.
_PAUSE_S = 0.05
#: What says that an actor, not the search, has failed.
_ACTOR_ERRORS = (ray.exceptions.RayActorError, ray.exceptions.WorkerCrashedError)


class _Replica:
    """The index in an actor."""

    def __init__(self, manifest: str, cache: str | None, num_threads: int) -> None:
        self._index = ShardedIndex.open(manifest, cache=cache)
        self._num_threads = num_threads

    def ntotal(self) -> int:
        return self._index.ntotal

    def call(self, name: str, queries: Any, wanted: Any, options: dict[str, Any]) -> Any:
        call = getattr(self._index, name)
        return call(queries, wanted, num_threads=self._num_threads, **options)


class _Pool:
    """The actors of one manifest, and how many calls each has."""

    def __init__(self, manifest: str, replicas: int, num_cpus: int, cache: str | None) -> None:
        # Ray makes an actor that died anew, which opens the files again.
        actor: Any = ray.remote(num_cpus=num_cpus, max_restarts=-1, scheduling_strategy="SPREAD")(_Replica)
        self.actors: list[Any] = [actor.remote(manifest, cache, num_cpus) for _ in range(replicas)]
        self.searches = 0  # that may still ask an actor
        self.calls = [0] * replicas
        self.failed_at = [0.0] * replicas

    def wait_until_open(self) -> int:
        """The rows of the index, once all actors are there."""
        return int(ray.get([actor.ntotal.remote() for actor in self.actors])[0])

    def kill(self) -> None:
        for actor in self.actors:
            ray.kill(actor)


class RayIndex:
    """An index in shards that `replicas` Ray actors search.

    manifest: of `polarquant.shards`, at a path that each node sees, or a URL.
    num_cpus: of each actor, which searches with as many threads.
    timeout_s: a search that takes longer raises TimeoutError; None waits for ever.
    hedge_after_s: when no answer is there after so long, another actor is asked too, and the first
    answer counts; None: never.
    cache: a folder on each node for copies of shards that URLs name.

    Threads may search at the same time. An actor that dies, or whose node does, is made anew by Ray;
    meanwhile its searches go to the others. Errors of a search itself (PolarError) are raised as
    `ShardedIndex` raises them.
    """

    def __init__(
        self,
        manifest: PathLike,
        *,
        replicas: int = 2,
        num_cpus: int = 1,
        timeout_s: float | None = None,
        hedge_after_s: float | None = None,
        cache: PathLike | None = None,
    ) -> None:
        self._replicas = as_int("replicas", replicas, 1, 10_000)
        self._num_cpus = as_int("num_cpus", num_cpus, 1, 1024)
        for name, value in (("timeout_s", timeout_s), ("hedge_after_s", hedge_after_s)):
            if value is not None and not value > 0:
                raise BadArgumentError(f"{name}: {value} is not allowed; seconds above 0 are")
        self._timeout_s = timeout_s
        self._hedge_after_s = hedge_after_s
        self._cache = None if cache is None else os.fspath(cache)
        self._lock = threading.Lock()
        self._pool: _Pool | None = None
        self.change(manifest)

    @property
    def manifest(self) -> Manifest:
        """What is searched."""
        return self._manifest

    @property
    def ntotal(self) -> int:
        """Rows of the index."""
        return self._ntotal

    def search(self, x: npt.ArrayLike, k: int = 10, **options: Any) -> tuple[Floats, Ids]:
        """As `ShardedIndex.search`; options: its other ones, but num_threads and progress. Filters are
        arrays, ranges and sets of ids, which travel with the queries."""
        found: tuple[Floats, Ids] = self._call("search", x, k, options)
        return found

    def range_search(
        self, x: npt.ArrayLike, radius: float, **options: Any
    ) -> tuple[Ids, Floats, Ids]:
        """As `ShardedIndex.range_search`, with the same options."""
        found: tuple[Ids, Floats, Ids] = self._call("range_search", x, radius, options)
        return found

    def change(self, manifest: PathLike) -> None:
        """Goes over to another manifest, or to the same one anew: actors for it are there before those
        of the old one go, and searches that run end there. No search fails by it."""
        place = os.fspath(manifest)
        read = Manifest.read(place)
        pool = _Pool(place, self._replicas, self._num_cpus, self._cache)
        try:
            ntotal = pool.wait_until_open()
        except BaseException as error:
            pool.kill()
            raise _cause(error) from None
        with self._lock:
            old, self._pool = self._pool, pool
            self._manifest, self._ntotal = read, ntotal
        self._end(old)

    def close(self) -> None:
        """Ends the actors, after the searches that run."""
        with self._lock:
            old, self._pool = self._pool, None
        self._end(old)

    def __enter__(self) -> RayIndex:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self.close()

    def _end(self, pool: _Pool | None) -> None:
        while pool is not None:
            with self._lock:
                if pool.searches == 0:
                    break
            time.sleep(_PAUSE_S)
        if pool is not None:
            pool.kill()

    def _call(self, name: str, queries: Any, wanted: Any, options: dict[str, Any]) -> Any:
        rows = np.ascontiguousarray(queries, dtype=np.float32)
        with self._lock:
            pool = self._pool
            if pool is None:
                raise BadArgumentError("RayIndex: it is closed")
            pool.searches += 1  # its actors stay until the answer is there
        try:
            # Once in the object store, for all actors that are asked.
            arguments = (name, ray.put(rows), wanted, options)
            return self._first_answer(pool, arguments)
        finally:
            with self._lock:
                pool.searches -= 1

    def _first_answer(self, pool: _Pool, arguments: tuple[Any, ...]) -> Any:
        begin = time.monotonic()
        deadline = None if self._timeout_s is None else begin + self._timeout_s
        hedge_at = None if self._hedge_after_s is None else begin + self._hedge_after_s
        asked: dict[Any, int] = {}  # answers to come: of which actor
        try:
            while True:
                if not asked or (hedge_at is not None and time.monotonic() >= hedge_at):
                    if asked:
                        hedge_at = None  # one more, and no others
                    number = self._take_actor(pool, asked.values())
                    if number is not None:
                        asked[pool.actors[number].call.remote(*arguments)] = number
                done, _ = ray.wait(list(asked), timeout=_seconds_to(deadline, hedge_at))
                for answer in done:
                    number = asked.pop(answer)
                    try:
                        return ray.get(answer)
                    except _ACTOR_ERRORS:
                        self._mark_failed(pool, number)
                    except ray.exceptions.RayTaskError as error:
                        raise _cause(error) from None
                    finally:
                        self._give_back(pool, number)
                if deadline is not None and time.monotonic() >= deadline:
                    raise TimeoutError(f"RayIndex: no answer within {self._timeout_s} s")
                if not asked:
                    time.sleep(_PAUSE_S)
        finally:
            for answer, number in asked.items():
                ray.cancel(answer)
                self._give_back(pool, number)

    def _take_actor(self, pool: _Pool, others: Any) -> int | None:
        """The actor with the fewest calls, not of `others`; one that has just failed where there is no
        other. None where all are asked."""
        now = time.monotonic()
        with self._lock:
            numbers = [number for number in range(len(pool.actors)) if number not in others]
            if not numbers:
                return None
            best = min(numbers, key=lambda i: (now - pool.failed_at[i] < 1, pool.calls[i], i))
            pool.calls[best] += 1
            return best

    def _give_back(self, pool: _Pool, number: int) -> None:
        with self._lock:
            pool.calls[number] -= 1

    def _mark_failed(self, pool: _Pool, number: int) -> None:
        with self._lock:
            pool.failed_at[number] = time.monotonic()


def _seconds_to(*times: float | None) -> float | None:
    """Until the first of these; None for none."""
    known = [at for at in times if at is not None]
    return max(0.0, min(known) - time.monotonic()) if known else None


def _cause(error: BaseException) -> BaseException:
    """The error of ours inside one of Ray's."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, PolarError) else error
