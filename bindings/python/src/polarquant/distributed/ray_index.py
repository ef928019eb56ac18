# SPDX-License-Identifier: MIT
"""Searches of an index in shards by several Ray actors, any of which may die.

The shards are divided among groups of actors, whose partial answers make that of one index, to the
bit; by default there is one group, whose actors map all shards. Files are shared by the actors of a
node. More actors of a group bring queries a second, and go on where one of them, or its node, is
gone.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import ray

from polarquant._arrays import Floats, Ids, as_int
from polarquant._storage import PathLike
from polarquant.distributed.ray_actors import Replicas, Shards, cause_of, first_answers
from polarquant.errors import BadArgumentError
from polarquant.manifest import Manifest
from polarquant.partials import merge_best, merge_partials, merge_ranges

__all__ = ["RayIndex"]

#: Between looks whether searches of a pool have ended.
_PAUSE_S = 0.05
#: Ray copies arguments of up to 100 KB into the call.
_MOST_BYTES_OF_CALL = 64 * 1024


class _Pool:
    """The actors of one manifest."""

    def __init__(
        self, place: str, groups: int, replicas: int, num_cpus: int, cache: str | None
    ) -> None:
        self.manifest = Manifest.read(place)
        self.is_ivf = "IVF" in self.manifest.description
        self.higher_is_nearer = self.manifest.metric != "l2"
        self.searches = 0  # that may still ask an actor
        self.groups: list[Replicas] = []
        divided = _divided(self.manifest, place, groups)
        _warn_of_few_cpus(len(divided) * replicas, num_cpus)
        try:
            for shards in divided:
                self.groups.append(Replicas(shards, replicas, num_cpus, cache))
            counts = [
                ray.get([actor.ntotal.remote() for actor in group.actors])[0]
                for group in self.groups
            ]
        except BaseException as error:
            self.kill()
            raise cause_of(error) from None
        self.ntotal = sum(map(int, counts))

    def kill(self) -> None:
        for group in self.groups:
            for actor in group.actors:
                ray.kill(actor)


def _warn_of_few_cpus(actors: int, num_cpus: int) -> None:
    """Ray waits for them without a word where it does not log to the driver."""
    cpus = ray.cluster_resources().get("CPU", 0)
    if actors * num_cpus > cpus:
        warnings.warn(
            f"RayIndex: {actors} actors of {num_cpus} CPUs are asked for, and the cluster has {cpus:g}"
            " CPUs: it begins when there are enough",
            stacklevel=4,
        )


def _divided(manifest: Manifest, place: str, groups: int) -> list[Shards]:
    """The shards for each group, about as many rows for each, in the manifest's order."""
    positions = all(shard.ids is None for shard in manifest.shards)
    ends = np.cumsum([shard.rows for shard in manifest.shards])
    middles = ends - np.array([shard.rows for shard in manifest.shards]) / 2
    share = max(manifest.rows, 1) / groups
    group_of = np.minimum((middles / share).astype(np.int64), groups - 1)
    divided = []
    for group in range(groups):
        numbers = tuple(int(number) for number in np.flatnonzero(group_of == group))
        if numbers:
            first_row = int(ends[numbers[0]]) - manifest.shards[numbers[0]].rows
            divided.append(Shards(place, numbers, first_row, positions))
    return divided or [Shards(place, (), 0, positions)]


class RayIndex:
    """An index in shards that Ray actors search.

    manifest: of `polarquant.shards`, at a path that each node sees, or a URL.
    groups: the shards are divided among so many groups of actors, for an index larger than a node's
    memory or disk; each actor opens its group's shards alone.
    replicas: actors of each group, one of which is asked.
    num_cpus: of each actor, which searches with as many threads.
    timeout_s: a search that takes longer raises TimeoutError; None waits for ever.
    hedge_after_s: when no answer is there after so long, another actor is asked too, and the first
    answer counts; None: never.
    cache: a folder on each node for copies of shards that URLs name.

    Threads may search at the same time. An actor that dies, or whose node does, is made anew by Ray;
    meanwhile its searches go to the others of its group. Errors of a search itself (PolarError) are
    raised as `ShardedIndex` raises them. Answers are those of one index, to the bit; but with a
    filter over an inverted file several groups find the best rows of each, and the best of these,
    which may be others, and as good ones. Refinements are searched by one group only.
    """

    def __init__(
        self,
        manifest: PathLike,
        *,
        groups: int = 1,
        replicas: int = 2,
        num_cpus: int = 1,
        timeout_s: float | None = None,
        hedge_after_s: float | None = None,
        cache: PathLike | None = None,
    ) -> None:
        self._groups = as_int("groups", groups, 1, 10_000)
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
        return self._searched().manifest

    @property
    def ntotal(self) -> int:
        """Rows of the index."""
        return self._searched().ntotal

    def search(self, x: npt.ArrayLike, k: int = 10, **options: Any) -> tuple[Floats, Ids]:
        """As `ShardedIndex.search`; options: its other ones, but num_threads and progress. Filters are
        arrays, ranges and sets of ids, which travel with the queries."""
        rows = np.ascontiguousarray(x, dtype=np.float32)
        with self._using() as pool:
            if len(pool.groups) == 1:
                scores, ids = self._ask(pool, "search", rows, k, options)[0]
                return scores, ids
            given = rows if rows.ndim > 1 else rows[None]
            # Of an inverted file's rows a filter keeps, lists are chosen by those of all groups.
            if options.get("filter") is not None and pool.is_ivf:
                found = self._ask(pool, "search", given, k, options)
                scores, ids = merge_best(found, k, pool.higher_is_nearer)
            else:
                partials = self._ask(pool, "search_partial", given, k, options)
                scores, ids = merge_partials(partials, len(given), k)
        return (scores, ids) if rows.ndim > 1 else (scores[0], ids[0])

    def range_search(
        self, x: npt.ArrayLike, radius: float, **options: Any
    ) -> tuple[Ids, Floats, Ids]:
        """As `ShardedIndex.range_search`, with the same options."""
        rows = np.ascontiguousarray(x, dtype=np.float32)
        with self._using() as pool:
            found = self._ask(pool, "range_search", rows, radius, options)
        if len(found) == 1:
            return found[0][0], found[0][1], found[0][2]
        # In an id map an inverted file has positions.
        ties_by_id = pool.is_ivf and "IDMap" not in pool.manifest.description
        return merge_ranges(found, pool.higher_is_nearer, ties_by_id)

    def change(self, manifest: PathLike) -> None:
        """Goes over to another manifest, or to the same one anew: actors for it are there before those
        of the old one go, and searches that run end there. No search fails by it."""
        place = os.fspath(manifest)
        pool = _Pool(place, self._groups, self._replicas, self._num_cpus, self._cache)
        with self._lock:
            old, self._pool = self._pool, pool
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

    def _searched(self) -> _Pool:
        pool = self._pool
        if pool is None:
            raise BadArgumentError("RayIndex: it is closed")
        return pool

    @contextlib.contextmanager
    def _using(self) -> Iterator[_Pool]:
        """The pool that is there now, whose actors stay until the answers are there."""
        with self._lock:
            pool = self._searched()
            pool.searches += 1
        try:
            yield pool
        finally:
            with self._lock:
                pool.searches -= 1

    def _ask(
        self, pool: _Pool, method: str, rows: Floats, wanted: Any, options: dict[str, Any]
    ) -> list[Any]:
        """What each group answers."""
        # Many go once to the object store, for all actors that are asked; few are faster in the call.
        given = ray.put(rows) if rows.nbytes > _MOST_BYTES_OF_CALL else rows
        arguments = (method, given, wanted, options)
        return first_answers(pool.groups, arguments, self._timeout_s, self._hedge_after_s)
