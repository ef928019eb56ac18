# SPDX-License-Identifier: MIT
"""The table on stdout, medians and spreads of a result, and what it says about the machine."""

import os
import platform
import statistics
import subprocess
import sys

import churn_report

MODES = ("one", "batch")


def cpu_model():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.split(": ", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def commit(root):
    """Of this repository, "-dirty" where files were changed."""
    try:
        result = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return "not known"
    return result.stdout.strip() or "not known"


def machine():
    return {
        "cpu_model": cpu_model(),
        "architecture": platform.machine(),
        "cpu_count": os.cpu_count(),
        "python": sys.version.split()[0],
        "load_average_at_start": os.getloadavg()[0],
    }


def round_qps(result, point, mode):
    """Queries/s of each round, by the clock that was asked for."""
    seconds = f"{result['settings'].get('clock', 'wall')}_seconds"
    return [run["queries"] / run[seconds] for run in point.get("runs", {}).get(mode, [])]


def build_seconds(result, row):
    """Median over the seeds, by the clock that was asked for; None where it did not run."""
    clock = f"{result['settings'].get('clock', 'wall')}_seconds"
    builds = [build[clock] for build in row["builds"] if clock in build]
    return statistics.median(builds) if builds else None


def qps(result, point, mode):
    """Median of the rounds; None where there were none."""
    rounds = round_qps(result, point, mode)
    return statistics.median(rounds) if rounds else None


def recall(point):
    """(mean, standard deviation over seeds)."""
    values = point["recall"]
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def filter_shown(point):
    """The filter of a point, as "clustered 0.1 %"; "" where it has none."""
    row_filter = point.get("filter")
    return f"{row_filter['kind']} {100 * row_filter['share']:g} %" if row_filter else ""


def has_filters(result):
    return any("filter" in point for row in result["contenders"] for point in row.get("points", ()))


def is_for_page(result):
    """Whether the page for a browser shows it: its charts are of searches among all rows, which stay
    as they are."""
    return result["mode"] != "churn" and not has_filters(result)


def label(row, point):
    """The contender's name with its search parameters, and its filter."""
    params = ", ".join(f"{name} {value}" for name, value in point["params"].items())
    params = ", ".join(filter(None, (params, filter_shown(point))))
    return row["contender"] + (f" ({params})" if params else "")


def points_by_filter(row):
    """{(kind, share): points}, with (kind, 1) for those without a filter, which every kind begins with."""
    found = {}
    filters = [point["filter"] for point in row["points"] if "filter" in point]
    for kind in dict.fromkeys(row_filter["kind"] for row_filter in filters):
        for point in row["points"]:
            row_filter = point.get("filter", {"kind": kind, "share": 1})
            if row_filter["kind"] == kind:
                found.setdefault((kind, row_filter["share"]), []).append(point)
    return found


def summary(row):
    if "error" in row:
        return f"{row['contender']}: not measured: {row['error']}"
    points = [point for point in row["points"] if "filter" not in point]
    mean, spread = recall(max(points, key=lambda point: recall(point)[0]))
    return (
        f"{row['contender']}: {row['bytes_per_vector']:.1f} bytes, recall {mean:.4f} ± {spread:.4f}, "
        f"{row['builds'][0]['wall_seconds']:.1f} s to build"
    )


def _qps_text(value):
    return "" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _print_columns(lines):
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        print("  ".join(cells).rstrip())


def _print_churn(result, measured):
    points = [(row, point) for row in measured for point in row["points"]]
    lines = [("index", "bytes/vec", *churn_report.header(result))]
    for row, point in points:
        size = f"{row['bytes_per_vector']:.1f}"
        lines.append((label(row, point), size, *churn_report.cells(result, point)))
    _print_columns(lines)
    for row in result["contenders"]:
        if "error" in row:
            print(f"{row['contender']}: not measured: {row['error']}")
    for row, point in points:
        if point["removed_ids_found"]:
            print(f"{label(row, point)}: found removed rows {point['removed_ids_found']} times")


def print_tables(result):
    data, k = result["data"], result["settings"]["k"]
    print(
        f"{data['name']}: {data['base']['rows']} rows, {data['base']['dim']} dimensions, "
        f"{data['query']['rows']} queries, {result['settings']['threads']} thread(s) of {cpu_model()}"
    )
    measured = [row for row in result["contenders"] if "error" not in row]
    if result["mode"] == "churn":
        _print_churn(result, measured)
        return
    filtered = has_filters(result)
    header = ["index", "bytes/vec", f"recall@{k}", "±", "qps one", "qps batch", "build s"]
    lines = [tuple(header + ["qps new filter", "empty"] * filtered)]
    for row in measured:
        for point in row["points"]:
            mean, spread = recall(point)
            seconds = build_seconds(result, row)
            build = "" if seconds is None else f"{seconds:.1f}"
            cells = [f"{row['bytes_per_vector']:.1f}", f"{mean:.4f}", f"{spread:.4f}"]
            cells += [_qps_text(qps(result, point, mode)) for mode in MODES] + [build]
            if filtered:
                empty = point.get("empty_share")
                cells += [_qps_text(qps(result, point, "new_filter"))]
                cells += ["" if empty is None else f"{100 * empty:.1f} %"]
            lines.append((label(row, point), *cells))
    _print_columns(lines)
    for row in result["contenders"]:
        if "error" in row:
            print(f"{row['contender']}: not measured: {row['error']}")
        for point in row.get("points", []):
            if abs(point.get("recall_one_difference", 0)) > 1e-9:
                difference = point["recall_one_difference"]
                print(f"{label(row, point)}: recall of single queries differs by {difference:+.4f}")
