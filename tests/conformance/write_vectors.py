#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the vectors of this folder anew, by the Python package over the library in POLARQUANT_LIBRARY.

usage: write_vectors.py

States of trained rotations and files that are there are kept: training repeats to the byte on one machine
alone. It stops where the order of results hangs on the last bits of scores; another seed mends that.
"""

import base64
import json
import struct
import sys

import numpy as np

import polarquant
import vectors

QUERIES = {"seed": 901, "n": 4}
EVERY_ROW = {"exactness": "inf"}
#: Times a score's size and 1: how far a reader's scores may be off. No two differ by less than four times that.
BOUND = 1e-6

IP, L2, COSINE = 0, 1, 2


def as_hex(x):
    return [float(value).hex() for value in np.asarray(x, dtype=np.float32).ravel()]


def require_apart(scores):
    """Neighbours in the order of the results differ by more than rounding."""
    for line in np.atleast_2d(scores):
        line = line[np.isfinite(line)]
        assert np.all(np.abs(np.diff(line)) > 4 * BOUND * (1 + np.abs(line[1:]))), line


def searched(search, k, options, queries=QUERIES):
    found = {"queries": queries, "k": k, "options": options}
    scores, ids = search(vectors.rows(queries, DIM[0]), k, **vectors.as_options(options))
    more, _ = search(vectors.rows(queries, DIM[0]), k + 1, **vectors.as_options(options))
    require_apart(more)
    return {**found, "ids": ids.tolist(), "scores": [as_hex(line) for line in scores]}


def ranged(search, radius, options, queries=QUERIES):
    radius = float(np.float32(radius))
    lims, scores, ids = search(vectors.rows(queries, DIM[0]), radius, **vectors.as_options(options))
    for q in range(len(lims) - 1):
        require_apart(scores[lims[q] : lims[q + 1]])
    assert np.all(np.abs(scores - radius) > 4 * BOUND * (1 + abs(radius)))
    found = {"queries": queries, "radius": radius.hex(), "options": options}
    return {**found, "lims": lims.tolist(), "ids": ids.tolist(), "scores": as_hex(scores)}


#: Of the case that is written.
DIM = [0]

BITSET = {
    "kind": "bitset",
    "words": ["f0f0f0f0f0f0f0f1", "00000000ffff0000", "ffffffffffffffff"],
    "num_bits": 130,
}
FILTERS = [
    BITSET,
    {"kind": "ids", "ids": [3, 4, 64, 65, 66, 100, 128, 5000]},
    {"kind": "range", "first": 20, "end": 90},
    {"kind": "callback", "multiples_of": 3},
    {"kind": "none"},
]


def codec_case(name, spec, dim, metric, radius, with_filters=False, **extra):
    DIM[0] = dim
    case = {
        "name": name,
        "spec": spec,
        "dim": dim,
        "metric": metric,
        **extra,
        "rows": {"seed": 77, "n": 131, "shift": 0.25},
    }
    codec = vectors.make_codec(case)
    codes = codec.encode(vectors.rows(case["rows"], dim))
    case["code_bytes"] = codec.code_size
    case["codes_fnv1a"] = vectors.fnv1a(codes.tobytes())
    if codes.ndim == 2:
        case["first_code"] = codes[0].tobytes().hex()
    if "state" not in case:
        case["state_fnv1a"] = vectors.fnv1a(codec.save_state())
    try:
        polarquant.CodeBlocks(codec)
        case["has_blocks"] = True
    except polarquant.UnsupportedError:
        case["has_blocks"] = False
    n = case["rows"]["n"]

    def search(queries, k, **options):
        return codec.search(queries, codes, k, n, **options)

    def range_search(queries, radius, **options):
        return codec.range_search(queries, codes, radius, n, **options)

    case["searches"] = [searched(search, 5, {}), searched(search, 9, EVERY_ROW)]
    if with_filters:
        for given in FILTERS:
            case["searches"].append(searched(search, 6, {**EVERY_ROW, "filter": given, "num_threads": 2}))
        case["searches"].append(searched(search, 12, {**EVERY_ROW, "filter": FILTERS[1]}))
    case["range_searches"] = [
        ranged(range_search, radius, EVERY_ROW),
        ranged(range_search, radius, {**EVERY_ROW, "filter": FILTERS[2]}),
    ]
    decoded = codec.decode(codes[:2] if codes.ndim == 2 else codes, None if codes.ndim == 2 else n)
    case["decoded"] = as_hex(decoded[0])
    return case


def codec_cases(kept_states):
    train = {"train": {"seed": 33, "n": 200, "shift": 0.25}}
    yield codec_case("2 bits, untrained", "Polar2", 100, IP, 9, True)
    yield codec_case("4 bits, trained: centre and unit", "Polar4", 64, L2, 30, True, **train)
    yield codec_case("1 bit, no sign plane", "Polar1", 70, COSINE, 0.15, **train)
    yield codec_case("8 bits", "Polar8", 33, IP, 4, **train)
    yield codec_case("two stages", "Polar4+2", 64, L2, 30, **train)
    yield codec_case("a dense rotation", "Polar3-dense", 48, IP, 5, **train)
    yield codec_case(
        "no rotation, another seed", "Polar2-norot", 64, COSINE, 0.2, codec_options={"seed": 12345}
    )
    yield codec_case(
        "centre and unit given",
        "Polar2.5",
        40,
        L2,
        25,
        codec_options={"centre": {"seed": 5, "n": 1}, "norm_unit": 4.0, "learn_centre": False},
    )
    yield codec_case("half a bit, one segment", "Polar0.5", 17, IP, 2, **train)
    yield codec_case("pairs, trained", "PolarPair4x4", 32, L2, 30, **train)
    yield codec_case("groups of 128 rows share a code", "PolarPair4x4g128", 32, IP, 3, **train)
    yield codec_case("a tree of angles", "PolarTree4.2.2.2", 48, IP, 5)
    yield codec_case("a level for each coordinate", "PolarScalar4", 100, COSINE, 0.2)
    name = "a trained rotation, from its state"
    x = vectors.rows({"seed": 34, "n": 800}, 128) * np.float32(2) ** (-np.arange(128) / np.float32(16))
    keep_state(kept_states, name, "Polar2-pca", 128, IP, x)
    yield codec_case(name, "Polar2-pca", 128, IP, 9, state=kept_states[name])
    for metric, measure, radius in ((IP, "inner product", 5), (L2, "L2", 20)):
        name = f"about centroids, {measure}"
        x = vectors.rows({"seed": 35, "n": 400, "shift": 0.25}, 48)
        keep_state(kept_states, name, "PolarB10-km8", 48, metric, x)
        yield codec_case(name, "PolarB10-km8", 48, metric, radius, state=kept_states[name])
        # No library makes such states any more.
        name += ", of format 5"
        yield codec_case(name, "PolarB10-km8", 48, metric, radius, state=kept_states[name])


def keep_state(kept_states, name, spec, dim, metric, x):
    if name in kept_states:
        return
    codec = polarquant.Codec(spec, dim, vectors.as_metric(metric))
    codec.train(x)
    kept_states[name] = base64.b64encode(codec.save_state()).decode()


def index_case(name, description, dim, metric, steps, radius, more=()):
    DIM[0] = dim
    case = {"name": name, "description": description, "dim": dim, "metric": metric, "steps": steps}
    index = polarquant.Index(description, dim, vectors.as_metric(metric))
    for step in steps:
        removed = vectors.do_step(index, dim, step)
        if removed is not None:
            step["removed"] = removed
    return index_answers(case, index, radius, more)


def index_answers(case, index, radius, more=()):
    DIM[0] = index.dim
    case["ntotal"] = index.ntotal
    all_lists = {"nprobe": index.nlist} if index.nlist else {}
    exact = {**EVERY_ROW, **all_lists}
    case["searches"] = [searched(index.search, 5, options) for options in ({}, exact, *more)]
    case["range_searches"] = [] if radius is None else [ranged(index.range_search, radius, exact)]
    id = case["searches"][1]["ids"][0][0]
    case["reconstruct"] = {"id": id, "x": as_hex(index.reconstruct(id))}
    return case


def rows_with_ids(seed, n, first, step):
    return {
        "call": "add_with_ids",
        "rows": {"seed": seed, "n": n},
        "ids": [first + step * i for i in range(n)],
    }


LISTS = {"call": "train_with_centroids", "centroids": {"seed": 60, "n": 4}, "rows": {"seed": 61, "n": 300}}


def index_cases():
    train = {"call": "train", "rows": {"seed": 62, "n": 300, "shift": 0.25}}
    add = {"call": "add", "rows": {"seed": 63, "n": 200, "shift": 0.25}}
    filters = [
        {**EVERY_ROW, "filter": {"kind": "range", "first": 50, "end": 120}},
        {**EVERY_ROW, "filter": {"kind": "ids", "ids": [7, 9, 11, 99, 100, 101]}},
    ]
    yield index_case("trained rows, numbered", "Polar4", 32, IP, [train, add], 3.5, filters)
    yield index_case("few rows, kept as floats", "Polar2", 24, L2, [add], 15)
    yield index_case(
        "ids of the caller's; removed, replaced",
        "Polar4",
        32,
        COSINE,
        [
            train,
            rows_with_ids(64, 150, 1000, 7),
            {"call": "remove", "ids": [1000, 1007, 5]},
            {"call": "remove_filtered", "filter": {"kind": "range", "first": 1500, "end": 1600}},
            {"call": "update", "ids": [1021, 1028], "rows": {"seed": 65, "n": 2}},
        ],
        0.2,
    )
    yield index_case(
        "an inverted file with given lists",
        "IVF4,Polar4",
        32,
        L2,
        [dict(LISTS), rows_with_ids(66, 220, 10, 3), {"call": "set_nprobe", "nprobe": 2}],
        22,
        [{**EVERY_ROW, "nprobe": 1}],
    )
    yield index_case("a map of ids", "IDMap2,Polar8", 20, IP, [train, rows_with_ids(67, 120, 3, 2)], 3.5)


def error_cases(damaged, newer):
    codec = {"spec": "Polar2", "dim": 40, "metric": L2}
    index = {
        "description": "Polar4",
        "dim": 24,
        "metric": L2,
        "steps": [{"call": "add_with_ids", "rows": {"seed": 70, "n": 20}, "ids": list(range(20))}],
    }
    graph = {
        **index,
        "description": "HNSW8,Polar4",
        "steps": [{"call": "add", "rows": {"seed": 70, "n": 20}}],
    }
    x = {"seed": 71, "n": 10}

    def case(name, status, names, call, on=None, **arguments):
        made = {"codec": on} if on and "spec" in on else {"index": on} if on else {}
        return {"name": name, **made, "call": call, "arguments": arguments, "status": status, "names": names}

    yield case("a spec that does not exist", 10, "Polar9", "codec_create", spec="Polar9", dim=40, metric=L2)
    yield case("no dimension", 10, "dim", "codec_create", spec="Polar2", dim=0, metric=L2)
    yield case("too many dimensions", 10, "dim", "codec_create", spec="Polar2", dim=65536, metric=L2)
    yield case("an unknown metric", 10, "metric", "codec_create", spec="Polar2", dim=40, metric=7)
    yield case(
        "encoding before training", 30, "train", "codec_encode", {**codec, "spec": "PolarPair4x4"}, rows=x
    )
    yield case("training after encoding", 50, "encoded", "codec_train", {**codec, "encode": x}, rows=x)
    yield case("a number that is none", 10, "row 3", "codec_encode", codec, rows={**x, "set": [3, 5, "nan"]})
    yield case("a row too long", 10, "row 2", "codec_encode", codec, rows={**x, "set": [2, 0, "0x1p+100"]})
    yield case("no neighbour asked for", 10, "k", "codec_search", codec, rows=x, k=0, options={})
    yield case(
        "exactness below 0", 10, "exactness", "codec_search", codec, rows=x, k=1, options={"exactness": -1}
    )
    yield case(
        "too many threads",
        10,
        "num_threads",
        "codec_search",
        codec,
        rows=x,
        k=1,
        options={"num_threads": 1025},
    )
    yield case(
        "a radius that is no number",
        10,
        "radius",
        "codec_range_search",
        codec,
        rows=x,
        radius="nan",
        options={},
    )
    yield case(
        "a codec without blocks",
        20,
        "PolarScalar4",
        "blocks_append",
        {**codec, "spec": "PolarScalar4"},
        rows=x,
    )
    yield case("a state cut short", 70, "", "codec_load_state", state=base64.b64encode(damaged).decode())
    yield case(
        "a state of a newer format", 80, "format", "codec_load_state", state=base64.b64encode(newer).decode()
    )
    yield case(
        "a description that does not exist",
        10,
        "Nothing9",
        "index_create",
        description="Nothing9",
        dim=24,
        metric=L2,
    )
    yield case(
        "an id that is held", 10, "ids", "index_add_with_ids", index, rows={"seed": 72, "n": 1}, ids=[19]
    )
    yield case("an id below 0", 10, "ids", "index_add_with_ids", index, rows={"seed": 72, "n": 1}, ids=[-1])
    yield case("rows without ids to rows with ids", 10, "ids", "index_add", index, rows=x)
    yield case("an id that no row has", 40, "id", "index_reconstruct", index, id=20)
    yield case(
        "another row in the place of none",
        40,
        "id",
        "index_update",
        index,
        ids=[20],
        rows={"seed": 72, "n": 1},
    )
    lists = {**graph, "description": "IVF2,Polar4", "steps": [
        {"call": "train", "rows": {"seed": 70, "n": 100}}, {"call": "add", "rows": {"seed": 70, "n": 20}}]}
    yield case("rows of lists go by ids of the caller's", 20, "IVF2", "index_remove", lists, ids=[1])
    yield case("lists where there are none", 20, "nprobe", "index_set_nprobe", index, nprobe=2)
    yield case(
        "lists searched where there are none", 20, "nprobe", "index_search", index, k=1, options={"nprobe": 2}
    )
    yield case("a file that does not exist", 90, "", "index_load", file="files/no such file.polar")
    yield case("a file that is damaged", 70, "", "index_load", file="files/damaged.polar")


def file_cases():
    folder = vectors.FOLDER / "files"
    ids = [5 * i for i in range(40)]
    made = {
        "flat.polar": (
            "Polar4",
            24,
            L2,
            [
                {"call": "train", "rows": {"seed": 80, "n": 100}},
                {"call": "add_with_ids", "rows": {"seed": 81, "n": 40}, "ids": ids},
            ],
            25,
        ),
        "floats.polar": ("Polar2", 16, IP, [{"call": "add", "rows": {"seed": 82, "n": 30}}], 2),
        "lists.polar": (
            "IVF4,Polar2",
            24,
            COSINE,
            [
                dict(LISTS),
                {"call": "add", "rows": {"seed": 83, "n": 60}},
                {"call": "set_nprobe", "nprobe": 3},
            ],
            0.2,
        ),
        "graph.polar": ("HNSW4,Polar8", 16, L2, [{"call": "add", "rows": {"seed": 84, "n": 30}}], None),
        "refined.polar": ("Polar2,RFlat", 16, L2, [{"call": "add", "rows": {"seed": 85, "n": 30}}], None),
    }
    for name, (description, dim, metric, steps, radius) in made.items():
        path = folder / name
        if not path.exists():
            vectors.make_index(
                {"description": description, "dim": dim, "metric": metric, "steps": steps}
            ).save(path)
        data = path.read_bytes()
        index = polarquant.Index.load(path)
        case = {
            "name": name,
            "file": f"files/{name}",
            "bytes": len(data),
            "fnv1a": vectors.fnv1a(data),
            "description": index.description,
            "dim": index.dim,
            "metric": int(index.metric),
            "can_map": name in ("flat.polar", "lists.polar"),
        }
        DIM[0] = index.dim
        if radius is None:
            case["ntotal"] = index.ntotal
            case["searches"] = [searched(index.search, 3, {})]
            case["range_searches"] = []
            yield case
        else:
            yield index_answers(case, index, radius)
    damaged = bytearray((folder / "flat.polar").read_bytes())
    damaged[len(damaged) // 2] ^= 0x10
    (folder / "damaged.polar").write_bytes(damaged)


def shown(value, depth=0):
    """JSON whose cases have a line for each member, and lists of numbers in one."""
    if isinstance(value, dict) and depth < 5:
        inner = ",\n".join(
            f"{'  ' * (depth + 1)}{json.dumps(key)}: {shown(item, depth + 1)}" for key, item in value.items()
        )
        if len(inner) < 100 and depth > 2 or not value:
            return json.dumps(value)
        return "{\n" + inner + "\n" + "  " * depth + "}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return (
            "[\n"
            + ",\n".join("  " * (depth + 1) + shown(item, depth + 1) for item in value)
            + "\n"
            + "  " * depth
            + "]"
        )
    return json.dumps(value)


def write(name, cases):
    text = shown({"format": 1, "cases": list(cases)}) + "\n"
    (vectors.FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{name}: {len(text)} bytes")


def main():
    kept_states = {}
    if (vectors.FOLDER / "codecs.json").exists():
        kept_states = {case["name"]: case["state"] for case in vectors.read("codecs.json") if "state" in case}
    write("codecs.json", codec_cases(kept_states))
    write("indexes.json", index_cases())
    write("files.json", file_cases())
    state = polarquant.Codec("Polar2", 16).save_state()
    newer = state[:8] + struct.pack("<I", 99) + state[12:]  # docs/format.md has the place
    write("errors.json", error_cases(state[: len(state) // 2], newer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
