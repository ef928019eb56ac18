#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs our adapters for ann-benchmarks and VIBE as their runners would, on HDF5 files in their formats.

    try_adapters.py [--rows N] [--queries N] [--most N]

The files are made from the bundled embeddings, one for each distance; then each index that config.yml
names is built (the first and last values of each list of arguments; --most N takes up to N groups) and
searched with the first and last query arguments, one query at a time and in a batch. Checked are what
the runners rely on: constructor and query arguments by position, at most n different ids, rows left as
they were, a name that tells the settings apart, the same answers alone and in a batch, and recall that
grows with the search budget. Prints a line for each and exits with 1 if one fails.
"""

import argparse
import importlib
import itertools
import pathlib
import shutil
import sys
import tempfile

import h5py
import numpy as np
import yaml

BENCH = pathlib.Path(__file__).resolve().parents[1]
NEIGHBOURS = 100
K = 10

# What their base class gives an adapter: results of a batch by a loop over queries.
BASE_MODULE = """
class BaseANN:
    def done(self):
        pass

    def batch_query(self, X, n):
        self.res = [self.query(q, n) for q in X]

    def get_batch_results(self):
        return self.res

    def get_additional(self):
        return {}

    def __str__(self):
        return self.name
"""

# project: (package, folder here, {distance of the file: its name for the adapter})
PROJECTS = {
    "ann-benchmarks": ("ann_benchmarks", "ann_benchmarks", ("angular", "euclidean")),
    "VIBE": ("vibe", "vibe", ("cosine", "euclidean", "ip", "normalized")),
}


def distances(base, queries, distance):
    products = queries.astype(np.float64) @ base.T.astype(np.float64)
    lengths = [np.linalg.norm(x.astype(np.float64), axis=1) for x in (queries, base)]
    if distance in ("angular", "cosine"):
        return 1 - products / np.outer(*lengths)
    if distance == "euclidean":
        return np.sqrt(np.maximum(lengths[0][:, None] ** 2 + lengths[1] ** 2 - 2 * products, 0))
    return -products if distance == "ip" else 1 - products


def write_hdf5(path, base, queries, distance):
    """train, test, neighbors, distances; attributes distance, dimension, point_type."""
    if distance == "normalized":
        base, queries = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (base, queries))
    d = distances(base, queries, distance)
    order = np.argsort(d, axis=1, kind="stable")[:, :NEIGHBOURS]
    with h5py.File(path, "w") as file:
        file["train"] = base.astype(np.float32)
        file["test"] = queries.astype(np.float32)
        file["neighbors"] = order.astype(np.int32)
        file["distances"] = np.take_along_axis(d, order, 1).astype(np.float32)
        file["avg_distances"] = d.mean(axis=1).astype(np.float32)
        file.attrs.update(distance=distance, dimension=base.shape[1], point_type="float")


def import_adapter(package, folder, work):
    """The adapter where the project would keep it, so that its relative imports work."""
    algorithms = work / package / "algorithms"
    for name, source in (("base", None), ("polarquant", BENCH / folder / "module.py")):
        (algorithms / name).mkdir(parents=True)
        (algorithms / name / "__init__.py").touch()
        target = algorithms / name / "module.py"
        if source:
            shutil.copy(source, target)
        else:
            target.write_text(BASE_MODULE)
    for parent in (work / package, algorithms):
        (parent / "__init__.py").touch()
    return importlib.import_module(f"{package}.algorithms.polarquant.module")


def ends(values):
    values = values if isinstance(values, list) else [values]
    return values[:1] if len(values) == 1 else [values[0], values[-1]]


def definitions(folder, distance):
    """(constructor, arguments, groups of query arguments), as the projects read config.yml."""
    config = yaml.safe_load((BENCH / folder / "config.yml").read_text())
    for entry in config["float"]["any"]:
        base = [distance if a == "@metric" else a for a in entry["base_args"]]
        for group in entry["run_groups"].values():
            queries = [ends(v) for v in group["query_args"]]
            for arguments in itertools.product(*(ends(v) for v in group["args"])):
                yield entry["constructor"], base + list(arguments), list(
                    itertools.product(*queries)
                )


def recall(found, neighbours):
    return np.mean([len(set(f) & set(t[:K])) / K for f, t in zip(found, neighbours)])


def check(adapter_class, arguments, query_groups, file):
    """A list of what is wrong, and a line that tells what was found."""
    wrong = []
    train, test, neighbours = (np.array(file[name]) for name in ("train", "test", "neighbors"))
    before = train.copy()
    algorithm = adapter_class(*arguments)
    algorithm.fit(train)
    if not np.array_equal(train, before):
        wrong.append("fit changed the rows")
    names, recalls = set(), []
    for group in query_groups:
        algorithm.set_query_arguments(*group)
        names.add(str(algorithm))
        alone = [np.asarray(algorithm.query(q, K)) for q in test]
        algorithm.batch_query(test, K)
        together = algorithm.get_batch_results()
        if any(len(f) > K or len(set(f)) < len(f) for f in alone):
            wrong.append(f"{algorithm}: more than {K} ids, or one twice")
        if any(f.dtype.kind not in "iu" or (f < 0).any() or (f >= len(train)).any() for f in alone):
            wrong.append(f"{algorithm}: ids that are no rows")
        if not all(np.array_equal(one, other) for one, other in zip(alone, together)):
            wrong.append(f"{algorithm}: a batch finds something else than single queries")
        recalls.append(recall(alone, neighbours))
    if len(names) != len(query_groups):
        wrong.append(f"{algorithm}: one name for several settings")
    if recalls[-1] < recalls[0] - 0.01 or recalls[-1] < 0.5:
        wrong.append(f"{algorithm}: recall {recalls} does not grow, or stays below .5")
    return wrong, f"{algorithm}: recall@{K} {recalls[0]:.3f} to {recalls[-1]:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=9000, help="of the bundled; default all")
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--most", type=int, default=100, help="indexes of each constructor")
    options = parser.parse_args()
    base = np.load(BENCH / "data" / "base.npy")[: options.rows].astype(np.float32)
    queries = np.load(BENCH / "data" / "query.npy")[: options.queries].astype(np.float32)
    # Lengths that differ, so that inner product, cosine and L2 rank differently.
    random = np.random.default_rng(1)
    base *= random.uniform(0.8, 1.25, (len(base), 1)).astype(np.float32)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        sys.path.insert(0, folder)
        for project, (package, source, kinds) in PROJECTS.items():
            module = import_adapter(package, source, work)
            for distance in kinds:
                path = work / f"{package}-{distance}.hdf5"
                write_hdf5(path, base, queries, distance)
                made = {}
                for constructor, arguments, groups in definitions(source, distance):
                    made[constructor] = made.get(constructor, 0) + 1
                    if made[constructor] > options.most:
                        continue
                    with h5py.File(path) as file:
                        adapter = getattr(module, constructor)
                        wrong, line = check(adapter, arguments, groups, file)
                    failed += len(wrong)
                    print(f"{project}, {distance}: {line}", *wrong, sep="\n  WRONG: ", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
