# SPDX-License-Identifier: MIT
"""What compare_builds.py times: a fixed list of workloads, each on vectors made of the bundled embeddings.

A worker, a process with one build of the library, has the data once (`Data`) and asks each workload for its
`Run`: a function to time, how many items (rows or queries) a call does, and a digest of its answers.
"""

import dataclasses
import functools
import hashlib
import pathlib
from typing import Any, Callable

import numpy as np

DIM = 384
K = 10
#: Rows of an index, and of one in a graph, which takes long to build.
ROWS, GRAPH_ROWS = 40_000, 10_000
TRAIN_ROWS, ENCODED_ROWS, QUERIES = 10_000, 500, 1_000
#: Queries of a call that searches one at a time: the same in each, so that calls can be compared.
IN_TURN = 200
#: Standard deviation of a coordinate's noise; a coordinate of the embeddings has .05.
NOISE = 0.02


@dataclasses.dataclass
class Run:
    call: Callable[[], Any]
    items: int
    digest: str


class Data:
    """The bundled embeddings, repeated with noise; and indexes of them, which are kept in a folder."""

    def __init__(self, polarquant: Any, bundled: pathlib.Path, folder: pathlib.Path) -> None:
        self.polarquant = polarquant
        self._bundled = bundled
        self._folder = folder
        self._indexes: dict[tuple[str, int], Any] = {}

    @functools.cached_property
    def rows(self) -> Any:
        return repeated(np.load(self._bundled / "base.npy"), ROWS, 1)

    @functools.cached_property
    def queries(self) -> Any:
        return repeated(np.load(self._bundled / "query.npy"), QUERIES, 2)

    def index(self, description: str, rows: int) -> Any:
        key = (description, rows)
        if key not in self._indexes:
            file = self._folder / f"{description}-{rows}.index"
            if file.exists():
                self._indexes[key] = self.polarquant.Index.load(file)
            else:
                index = self.polarquant.Index(description, DIM)
                index.train(self.rows[:TRAIN_ROWS])
                index.add(self.rows[:rows])
                index.save(file)
                self._indexes[key] = index
        return self._indexes[key]


def repeated(vectors: Any, n: int, seed: int) -> Any:
    """n vectors of length 1: the given ones, over and over, each with noise of its own."""
    chosen = vectors[np.arange(n) % len(vectors)].astype(np.float32)
    noise = np.random.default_rng(seed).standard_normal(chosen.shape, dtype=np.float32)
    chosen += np.float32(NOISE) * noise
    return chosen / np.linalg.norm(chosen, axis=1, keepdims=True)


def digest_of(*arrays: Any) -> str:
    hashed = hashlib.sha256()
    for array in arrays:
        hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()


@dataclasses.dataclass
class Encode:
    name: str
    spec: str

    def prepare(self, data: Data) -> Run:
        codec = data.polarquant.Codec(self.spec, DIM)
        codec.train(data.rows[:TRAIN_ROWS])
        rows = data.rows[:ENCODED_ROWS]
        return Run(lambda: codec.encode(rows), len(rows), digest_of(codec.encode(rows)))


@dataclasses.dataclass
class Search:
    name: str
    description: str
    rows: int = ROWS
    #: Of polarquant.Index.search.
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: Makes the option `filter`.
    keep: Callable[[Any], Any] | None = None

    def prepare(self, data: Data) -> Run:
        index = data.index(self.description, self.rows)
        options = dict(self.options, num_threads=1)
        if self.keep:
            options["filter"] = self.keep(data.polarquant)
        queries = data.queries
        digest = digest_of(*index.search(queries, K, **options))
        if self.name.startswith("batch/"):
            return Run(lambda: index.search(queries, K, **options), len(queries), digest)

        def one_by_one() -> None:
            for query in queries[:IN_TURN]:
                index.search(query, K, **options)

        return Run(one_by_one, IN_TURN, digest)


def tenth(polarquant: Any) -> Any:
    """A filter that keeps every tenth row, in no order."""
    return polarquant.Bitset(np.random.default_rng(3).random(ROWS) < 0.1)


def few_ids(_: Any) -> Any:
    return np.sort(np.random.default_rng(4).choice(ROWS, ROWS // 100, replace=False))


def half(_: Any) -> Any:
    return range(ROWS // 2)


def workloads() -> list[Encode | Search]:
    codes = ("Polar2", "Polar4", "Polar2-pca", "Polar4-pca")
    listed: list[Encode | Search] = [Encode(f"encode/{code}", code) for code in codes]
    for how in ("one", "batch"):
        listed += [Search(f"{how}/{code}", code) for code in codes]
        listed += [Search(f"{how}/{code}", code) for code in ("Polar8", "Polar4+2")]
        for code in ("Polar4", "Polar2-pca"):
            options = {"exactness": float("inf")}
            listed += [Search(f"{how}/{code}/every-row", code, options=options)]
        lists = {"nprobe": 16}
        for code in ("Polar4", "Polar2-pca"):
            listed += [Search(f"{how}/IVF256,{code}", f"IVF256,{code}", options=lists)]
        for code in ("Polar4", "Polar4-pca"):
            graph = f"HNSW32,{code}"
            listed += [Search(f"{how}/{graph}", graph, GRAPH_ROWS, {"ef_search": 64})]
        for code in ("Polar4", "Polar2-pca"):
            for keep in (tenth, few_ids, half):
                label = keep.__name__.replace("_", "-")
                listed += [Search(f"{how}/{code}/{label}", code, keep=keep)]
    return listed
