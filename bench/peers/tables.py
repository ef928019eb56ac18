#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the tables of README.md and docs/benchmarks.md from bench/results.

    tables.py            writes them between their marks
    tables.py --check    exits with 1 and says which differ from the results
    tables.py --self-test

A table stands between `<!-- table: NAME of FILE … -->` and `<!-- end of table -->`, FILE being results
in bench/results. Nothing but Python is needed.
"""

import argparse
import json
import math
import pathlib
import re
import statistics
import sys

import churn_report
from peer_report import MODES, build_seconds, points_by_filter, qps, recall, round_qps

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/benchmarks.md")
MARK = re.compile(r"(<!-- table: (\w+) of ([^>]*?) -->\n).*?(<!-- end of table -->)", re.S)
# What the README's table shows: codes of about 2 and 4 bits a dimension, and floats.
SHORT = (
    "polar:Polar2",
    "polar:Polar4",
    "turbovec:2",
    "turbovec:4",
    "rabitqlib:Flat2",
    "rabitqlib:Flat4",
    "faiss:PQ192x4fs",
    "scann:AH1",
    "faiss:Flat",
)
LIBRARIES = {
    "polar": "",
    "faiss": "FAISS",
    "turbovec": "turbovec",
    "rabitqlib": "RaBitQ-Library",
    "scann": "ScaNN",
    "svs": "SVS",
    "usearch": "usearch",
    "hnswlib": "hnswlib",
}


def shown(name):
    kind, _, what = name.partition(":")
    return f"{LIBRARIES[kind]} `{what}`".strip()


def params_shown(params):
    return ", ".join(f"{name} {value}" for name, value in params.items())


def measured(result):
    return [row for row in result["contenders"] if "error" not in row]


def ratio(result, point, reference, mode):
    """Median over the rounds of the speed beside the reference's in the same round."""
    pairs = zip(round_qps(result, point, mode), round_qps(result, reference, mode))
    return statistics.median(a / b for a, b in pairs)


def ratio_text(value):
    return f"{value:.2f}" if value >= 0.095 else f"{value:.3f}"


def three_digits(number):
    digits = max(0, len(str(int(number))) - 3)
    return f"{round(number, -digits):,.0f}"


def speed_text(result, point, reference, mode):
    """Queries/s, to three digits, and the median ratio beside the reference's in the same rounds."""
    shown = three_digits(qps(result, point, mode))
    return f"{shown} · {ratio_text(ratio(result, point, reference, mode))}"


def recall_text(point):
    mean, spread = recall(point)
    text = f"{mean:.3f}".lstrip("0")
    return text if len(point["recall"]) == 1 else f"{text} ± {spread:.3f}".replace("± 0", "± ")


def flat_table(recall_result, speed_result, chosen=None):
    """Codes by bytes: recall over seeds, queries/s and their ratio to Polar4's in the same rounds.
    With `chosen` only those codes, by themselves (without further parameters)."""
    recalls = {row["contender"]: row for row in measured(recall_result)}
    rows = sorted(measured(speed_result), key=lambda row: row["bytes_per_vector"])
    if chosen:
        rows = [row for row in rows if row["contender"] in chosen]
    reference = next(row for row in rows if row["contender"] == "polar:Polar4")["points"][0]
    k = recall_result["settings"]["k"]
    yield (
        "code",
        "bytes a vector",
        f"recall@{k}",
        "queries/s, one at a time · ratio",
        "queries/s, in a batch · ratio",
        *([] if chosen else ["s to build"]),
    )
    for row in rows:
        known = recalls.get(row["contender"], row)
        for point in row["points"][: 1 if chosen else None]:
            name = shown(row["contender"])
            if row["is_ours"]:
                name = f"**{name}**"
            if point["params"]:
                name += f", {params_shown(point['params'])}"
            speeds = [speed_text(speed_result, point, reference, mode) for mode in MODES]
            bytes_text = f"{known['bytes_per_vector']:.0f}"
            seconds = build_seconds(speed_result, row)
            build = "" if seconds is None else f"{seconds:.1f}"
            cells = (name, bytes_text, recall_text(seeded(known, row, point)), *speeds)
            yield cells if chosen else (*cells, build)


def seeded(known, row, point):
    """The recalls of `known` over its seeds, less what parameters lose where speed was measured."""
    first, lost_to = recall(row["points"][0])[0], recall(point)[0]
    values = known["points"][0]["recall"]
    return {"recall": [value + lost_to - first for value in values]}


def line_through(result, series):
    """(bytes, mean recall) of a series that none of its points with fewer bytes reaches."""
    points = sorted(
        (row["bytes_per_vector"], recall(point)[0])
        for row in measured(result)
        if row["series"] == series
        for point in row["points"]
    )
    line = []
    for x, y in points:
        if not line or y > line[-1][1]:
            line.append((x, y))
    return line


def at(line, x):
    """The line at x, straight between its points; None in front of the first, the last after it."""
    if not line or x < line[0][0]:
        return None
    for (x0, y0), (x1, y1) in zip(line, line[1:]):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return line[-1][1]


def above_table(result):
    """Points of rivals above the line through our untrained codes, at their bytes."""
    plain, trained = (line_through(result, s) for s in ("polarquant", "polarquant -pca"))
    signed = lambda y, line: "no such code" if line is None else f"{y - line:+.3f}"
    yield ("rival", "bytes a vector", "recall@10", "less ours", "less ours, `-pca` where better")
    found = 0
    rivals = [row for row in measured(result) if not row["is_ours"]]
    for row in sorted(rivals, key=lambda row: row["bytes_per_vector"]):
        x, point = row["bytes_per_vector"], row["points"][0]
        ours = at(plain, x)
        mean = recall(point)[0]
        if ours is None or mean > ours:
            found += 1
            best = signed(mean, max(filter(None, (ours, at(trained, x))), default=None))
            yield (
                shown(row["contender"]),
                f"{x:.0f}",
                recall_text(point),
                signed(mean, ours),
                best,
            )
    if not found:
        yield (f"none of {len(rivals)}", "", "", "", "")


def trained_recall_text(row, point):
    """Recall, and how many rows it was trained on where those are fewer than the others'."""
    rows = row.get("train_rows")
    return recall_text(point) + (f" ({rows:,} rows)" if rows else "")


def sizes_table(result):
    """Recall of each series by bytes a vector, ours first."""
    groups = {}
    for row in measured(result):
        groups.setdefault(row["series"], {})[round(row["bytes_per_vector"])] = row
    sizes = sorted({size for rows in groups.values() for size in rows})
    yield ("code", *(f"{size} bytes" for size in sizes))
    for name in sorted(groups, key=lambda name: (not name.startswith("polarquant"), name)):
        rows = groups[name]
        cells = (
            trained_recall_text(rows[size], rows[size]["points"][0]) if size in rows else ""
            for size in sizes
        )
        ours = any(row["is_ours"] for row in rows.values())
        yield (f"**{name}**" if ours else name, *cells)


def points_table(result):
    """Every point, by bytes and recall."""
    points = [(row, point) for row in measured(result) for point in row["points"]]
    yield ("index", "bytes a vector", f"recall@{result['settings']['k']}")
    for row, point in sorted(
        points, key=lambda p: (round(p[0]["bytes_per_vector"]), -recall(p[1])[0])
    ):
        name = ", ".join(filter(None, (shown(row["contender"]), params_shown(point["params"]))))
        size = f"{row['bytes_per_vector']:.1f}"
        yield (f"**{name}**" if row["is_ours"] else name, size, trained_recall_text(row, point))


def fastest(result, rows, wanted, mode):
    """The fastest point of at least this recall: (median queries/s, row, point), or None."""
    points = [
        (qps(result, point, mode), row["contender"], row, point)
        for row in rows
        for point in row["points"]
        if recall(point)[0] >= wanted
    ]
    return max(points, key=lambda p: p[:2]) if points else None


def target_table(result, wanted):
    """Of each series, the fastest setting that reaches a recall, beside our fastest."""
    groups = {}
    for row in measured(result):
        groups.setdefault(row["series"], []).append(row)
    ours = [row for row in measured(result) if row["is_ours"]]
    best = {mode: fastest(result, ours, wanted, mode) for mode in MODES}
    yield ("index", "bytes a vector", "one query: setting", "speed", "batch: setting", "speed")
    for name, rows in groups.items():
        cells = []
        for mode in MODES:
            found = fastest(result, rows, wanted, mode)
            if found and best[mode]:
                cells.append(f"{shown(found[1])}, {params_shown(found[3]['params'])}")
                cells.append(ratio_text(ratio(result, found[3], best[mode][3], mode)))
            else:
                cells += ["not reached", ""]
        sizes = sorted({f"{row['bytes_per_vector']:.0f}" for row in rows}, key=int)
        yield (name, " / ".join(sizes), *cells)


def filter_table(result, kind, text_of, below=math.inf):
    """A text for every index by the share of the rows that a filter keeps, of shares below `below`."""
    rows = measured(result)
    shares = {share for row in rows for found, share in points_by_filter(row) if found == kind}
    shares = sorted((share for share in shares if share < below), reverse=True)
    yield ("index", *("no filter" if share == 1 else f"{100 * share:g} %" for share in shares))
    for row in rows:
        points = points_by_filter(row)
        for number, point in enumerate(points[kind, 1]):
            name = ", ".join(filter(None, (shown(row["contender"]), params_shown(point["params"]))))
            cells = [text_of(result, points[kind, share][number]) for share in shares]
            yield (f"**{name}**" if row["is_ours"] else name, *cells)


def kept_filter_text(result, point):
    """Queries/s one at a time, recall, and the places that stayed empty, where there are any."""
    text = f"{three_digits(qps(result, point, 'one'))} · {recall_text(point)}"
    empty = point.get("empty_share", 0)
    return text + (f" · {100 * empty:.0f} % empty" if empty >= 0.005 else "")


def new_filter_text(result, point):
    """Queries/s one at a time, each with a filter made for it."""
    return three_digits(qps(result, point, "new_filter"))


def churn_table(result):
    """Searches between changes, in the order of the suite."""
    yield ("index", "bytes a vector", *churn_report.header(result))
    for row in measured(result):
        for point in row["points"]:
            name = ", ".join(filter(None, (shown(row["contender"]), params_shown(point["params"]))))
            size = f"{row['bytes_per_vector']:.0f}"
            cells = churn_report.cells(result, point)
            yield (f"**{name}**" if row["is_ours"] else name, size, *cells)


TABLES = {
    "flat": lambda results, _: flat_table(*results),
    "short": lambda results, _: flat_table(*results, SHORT),
    "sizes": lambda results, _: sizes_table(*results),
    "points": lambda results, _: points_table(*results),
    "above": lambda results, _: above_table(*results),
    "random_filters": lambda results, _: filter_table(*results, "random", kept_filter_text),
    "clustered_filters": lambda results, _: filter_table(*results, "clustered", kept_filter_text),
    "new_filters": lambda results, _: filter_table(*results, "random", new_filter_text, 1),
    "churn": lambda results, _: churn_table(*results),
    "target": lambda results, value: target_table(*results, value),
}


def markdown(rows):
    header, *lines = rows
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for line in lines:
        yield "| " + " | ".join(line) + " |"


def made(name, arguments, load):
    """A table's text; arguments are files and perhaps a number, the recall that is asked for."""
    files = [a for a in arguments if a.endswith(".json")]
    numbers = [float(a) for a in arguments if not a.endswith(".json")]
    table = TABLES[name]([load(file) for file in files], *(numbers or [None]))
    return "\n".join(markdown(list(table))) + "\n"


def renewed(text, load):
    return MARK.sub(lambda m: m[1] + made(m[2], m[3].split(), load) + m[4], text)


def load_result(name):
    return json.loads((ROOT / "bench" / "results" / name).read_text(encoding="utf-8"))


def self_test():
    row = lambda name, series, size, values, ours: {
        "contender": name,
        "series": series,
        "bytes_per_vector": size,
        "is_ours": ours,
        "points": [{"params": {}, "recall": values}],
    }
    result = {
        "contenders": [
            row("polar:Polar2", "polarquant", 100, [0.8, 0.8], True),
            row("polar:Polar4", "polarquant", 200, [0.9, 0.9], True),
            row("faiss:SQ4", "FAISS SQ", 150, [0.86], False),
            row("faiss:SQ6", "FAISS SQ", 150, [0.84], False),
        ]
    }
    page = "a\n<!-- table: above of x.json -->\nold\n<!-- end of table -->\nb\n"
    new = renewed(page, lambda _: result)
    assert "| FAISS `SQ4` | 150 | .860 | +0.010 | +0.010 |" in new, new
    assert "SQ6" not in new and "old" not in new and new.endswith("\nb\n"), new
    assert renewed(new, lambda _: result) == new
    result["contenders"][2]["points"][0]["recall"] = [0.7]
    assert renewed(new, lambda _: result) != new
    result["contenders"][3]["train_rows"] = 1000
    new = renewed(page.replace("above", "sizes"), lambda _: result)
    assert "| code | 100 bytes | 150 bytes | 200 bytes |" in new, new
    assert "| **polarquant** | .800 ± .000 |  | .900 ± .000 |" in new, new
    assert "| FAISS SQ |  | .840 (1,000 rows) |  |" in new, new
    page = "<!-- table: random_filters of x.json -->\n<!-- end of table -->\n"
    new = renewed(page, lambda _: filter_result_of_test())
    assert "| index | no filter | 1 % |" in new, new
    assert "| FAISS `Flat`, nprobe 8 | 2 · .900 | 1,230 · .500 · 40 % empty |" in new, new
    page = page.replace("random_filters", "churn")
    new = renewed(page, lambda _: churn_result_of_test())
    assert "| **`Polar4`** | 204 | 800 | 1,000 | 5,000 | 4,000 | 3,500 |" in new, new
    assert "| .900 | .890 | 1.5 |" in new, new
    print("tables.py finds what differs")


def churn_result_of_test():
    operation = lambda count, mean: {
        "count": count,
        "wall": {"mean_us": mean, "p50_us": 1000.0, "p99_us": 5000.0} if count else None,
    }
    changing = {"search": operation(9, 1000.0), "update": operation(1, 3500.0)}
    changing |= {"remove": operation(0, 0), "insert": operation(0, 0)}
    changing["windows"] = [{"growth_bytes": 1000000}, {"growth_bytes": 1500000}]
    quiet = operation(1, 1000.0)
    quiet["wall"]["p99_us"] = 4000.0
    point = {"params": {}, "recall": [0.9], "recall_after": 0.89, "changing": changing}
    point["quiet"] = {"search": quiet}
    row = {"contender": "polar:Polar4", "is_ours": True, "bytes_per_vector": 204.2}
    return {"settings": {"k": 10}, "contenders": [{**row, "points": [point]}]}


def filter_result_of_test():
    run = {"queries": 2, "wall_seconds": 1}
    point = {"params": {"nprobe": 8}, "recall": [0.9], "runs": {"one": [run]}}
    filtered = {
        **point,
        "recall": [0.5],
        "empty_share": 0.4,
        "runs": {"one": [{**run, "queries": 1234}]},
    }
    filtered["filter"] = {"kind": "random", "share": 0.01, "rows": 10}
    other = {**filtered, "filter": {"kind": "clustered", "share": 0.5, "rows": 500}}
    row = {"contender": "faiss:Flat", "is_ours": False, "points": [point, filtered, other]}
    return {"settings": {}, "contenders": [row]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return
    stale = []
    for page in PAGES:
        path = ROOT / page
        text = path.read_text(encoding="utf-8")
        new = renewed(text, load_result)
        if new != text:
            stale.append(page)
            if not options.check:
                path.write_text(new, encoding="utf-8")
    if options.check and stale:
        sys.exit(
            f"tables differ from bench/results in {', '.join(stale)}; run bench/peers/tables.py"
        )


if __name__ == "__main__":
    main()
