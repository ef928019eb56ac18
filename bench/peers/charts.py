#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the charts of the results that compare.py wrote, each as SVG and PNG, and a page for a browser of
all of them: the one of `polar bench --html`.

    charts.py [RESULT.json …] [--out FOLDER]

By default all of bench/results, into docs/images, and the page into build/peers; with --out, all into
FOLDER. A result of `recall` gives recall against bytes (not that of inverted files); one of `speed` gives recall against queries/s, one
at a time and in a batch, and build times; one with filters gives both over the share of the rows that they
keep. One of `churn` gives the p99 of searches, and memory over time.
"""

import argparse
import importlib.util
import json
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib import ticker

import churn_charts
import filter_charts
import palette
from peer_report import build_seconds, has_filters, is_for_page, qps, recall

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE_WRITER = ROOT / "bindings/python/src/polarquant/command/bench_page.py"
SUITE_NAMES = {"flat-speed": "every row searched", "search": "inverted files and graphs"}
MODE_NAMES = {"one": "one at a time", "batch": "in one batch"}


def rows_by_series(result):
    found = {}
    for row in result["contenders"]:
        if "error" not in row:
            found.setdefault(row["series"], []).append(row)
    # Ours first, and the same order whatever was measured first.
    names = sorted(found, key=lambda name: (not name.startswith("polarquant"), name))
    return {name: found[name] for name in names}


def set_defaults():
    plt.rcParams.update(
        {
            "font.size": palette.FONT_SIZE,
            "text.color": palette.INK,
            "axes.labelcolor": palette.INK,
            "axes.edgecolor": palette.INK,
            "svg.hashsalt": "polarquant",  # the same file from the same result
        }
    )


def new_chart(height=palette.HEIGHT_INCHES):
    figure, axes = plt.subplots(figsize=(palette.WIDTH_INCHES, height), layout="constrained")
    palette.frame(axes)
    return figure, axes


def save(figure, folder, name):
    for suffix, metadata in ((".svg", {"Date": None}), (".png", {"Software": None})):
        figure.savefig(folder / (name + suffix), dpi=palette.DPI, metadata=metadata)
    plt.close(figure)
    print(folder / (name + ".png"))


def data_text(result):
    data = result["data"]
    return f"{data['name']}: {data['base']['rows']:,} × {data['base']['dim']}, inner product"


def frontier(points):
    """(bytes, recall) that no other point beats with as few bytes, by bytes."""
    best, kept = -1.0, []
    for x, y in sorted(points, key=lambda p: (p[0], -p[1])):
        if y > best:
            kept.append((x, y))
            best = y
    return kept


def odds_scale(axes, low, high):
    """Recall so that .90 to .99 has as much room as .50 to .90: by the logarithm of what is missed."""
    axes.set_yscale(
        "function",
        functions=(
            lambda y: -np.log(np.maximum(1.004 - y, 1e-6)),
            lambda z: 1.004 - np.exp(-z),
        ),
    )
    ticks = [t for t in (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 1.0) if low <= t <= high]
    axes.yaxis.set_major_locator(ticker.FixedLocator(ticks))
    axes.yaxis.set_minor_locator(ticker.NullLocator())
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda y, _: f"{y:.2f}"))
    axes.set_ylim(low, high)


def legend(axes, figure, columns):
    """Below the axes, where it hides no point."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=11
    )


def draw_recall_bytes(result, folder):
    groups = rows_by_series(result)
    styles = palette.styles(groups)
    figure, axes = new_chart(6.2)
    k = result["settings"]["k"]
    low = 1.0
    limits = (0, 1.1 * result["data"]["base"]["dim"] + 20)  # codes of up to 8 bits
    for name, rows in groups.items():
        colour, marker, ours = styles[name]
        points = [
            (row["bytes_per_vector"], *recall(p))
            for row in rows
            for p in row["points"]
            if row["bytes_per_vector"] <= limits[1]
        ]
        if not points:
            continue
        points.sort()
        low = min(low, *(p[1] for p in points))
        if ours:
            line = frontier([p[:2] for p in points])
            axes.plot(*zip(*line), color=colour, linewidth=2.2, zorder=4)
        axes.plot(
            *zip(*(p[:2] for p in points)),
            marker,
            color=colour,
            markersize=8 if ours else 7,
            markerfacecolor=colour if ours else "white",
            markeredgewidth=1.6,
            zorder=5 if ours else 3,
            label=name,
        )
    odds_scale(axes, max(0.4, low - 0.03), 1.0)
    axes.set_xlim(*limits)
    axes.set_xlabel("bytes a vector (codes, factors, ids)")
    axes.set_ylabel(f"recall@{k} (stretched towards 1)")
    axes.set_title(f"Recall against bytes, every row searched\n{data_text(result)}", fontsize=13)
    legend(axes, figure, 3)
    save(figure, folder, f"{slug(result)}-recall-bytes")


def draw_few_bytes(result, folder):
    """Each series is one code at several sizes, so that all have lines; recall is far from 1, and not stretched."""
    groups = rows_by_series(result)
    styles = palette.styles(groups)
    figure, axes = new_chart(6.2)
    for name, rows in groups.items():
        points = sorted((row["bytes_per_vector"], recall(row["points"][0])[0]) for row in rows)
        axes.plot(*zip(*points), markersize=7, label=name, **palette.line(styles[name]))
    sizes = sorted({row["bytes_per_vector"] for rows in groups.values() for row in rows})
    axes.set_xticks(sizes)
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda y, _: f"{y:.2f}"))
    low = min(
        recall(point)[0] for rows in groups.values() for row in rows for point in row["points"]
    )
    axes.set_ylim(bottom=max(0, low - 0.05))
    axes.set_xlabel("bytes a vector (codes, factors)")
    axes.set_ylabel(f"recall@{result['settings']['k']}")
    title = f"Codes of few bytes, every row searched\n{data_text(result)}"
    if "train_rows" in result["settings"]:
        title += f", trained on {result['settings']['train_rows']:,} rows"
    axes.set_title(title, fontsize=13)
    legend(axes, figure, 3)
    save(figure, folder, f"{slug(result)}-few-bytes")


def draw_recall_speed(result, folder, mode, suite):
    groups = rows_by_series(result)
    styles = palette.styles(groups)
    figure, axes = new_chart(6.2)
    k = result["settings"]["k"]
    everything = []
    for name, rows in groups.items():
        _, _, ours = styles[name]
        points = sorted((recall(p)[0], qps(result, p, mode)) for row in rows for p in row["points"])
        everything += points
        line = upper(points)
        axes.plot(
            *zip(*line),
            linestyle="-" if ours or len(line) > 1 else "none",
            markersize=8 if ours else 6,
            label=name,
            **palette.line(styles[name]),
        )
    best = upper(everything)
    axes.plot(
        *zip(*best), color=palette.INK, linewidth=7, alpha=0.12, zorder=1, label="Pareto front"
    )
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda y, _: f"{y:,.0f}"))
    low = max(0.5, min(p[0] for p in everything) - 0.01)
    axes.set_xlim(low, 1.005)
    visible = [y for x, y in everything if x >= low]
    axes.set_ylim(min(visible) / 1.5, max(visible) * 1.5)
    axes.set_xlabel(f"recall@{k}")
    axes.set_ylabel(f"queries/s, {MODE_NAMES[mode]}")
    threads = result["settings"]["threads"]
    title = f"Queries/s of {threads} thread{'s' if threads > 1 else ''}, {MODE_NAMES[mode]}"
    if suite in SUITE_NAMES:
        title += f": {SUITE_NAMES[suite]}"
    axes.set_title(f"{title}\n{data_text(result)}", fontsize=13)
    legend(axes, figure, 3)
    save(figure, folder, f"{slug(result)}-{suite}-{mode}")


def draw_filters(result, folder, mode):
    threads = result["settings"]["threads"]
    threads = f"{threads} thread{'s' if threads > 1 else ''}"
    title = f"Filters: queries/s of {threads}, {MODE_NAMES[mode]}, and recall"
    title += f"\n{data_text(result)}"
    figure, axes = filter_charts.draw(result, rows_by_series(result), mode, title)
    legend(axes, figure, 3)
    save(figure, folder, f"{slug(result)}-filter-{mode}")


def draw_churn(result, folder):
    title = f"Nine searches, then an upsert or a removal, and so on\n{data_text(result)}"
    figure, axes = churn_charts.draw(result, rows_by_series(result), title)
    legend(axes, figure, 3)
    save(figure, folder, f"{slug(result)}-churn")


def upper(points):
    """The points that no other of at least their recall beats in speed, by recall."""
    kept, best = [], 0.0
    for x, y in sorted(points, reverse=True):
        if y > best:
            kept.append((x, y))
            best = y
    return kept[::-1]


def draw_build_time(result, folder, suite):
    rows = [row for row in result["contenders"] if "error" not in row]
    rows = [row for row in rows if build_seconds(result, row) is not None]
    if not rows:
        return
    rows.sort(key=lambda row: build_seconds(result, row))
    figure, axes = new_chart(1.6 + 0.32 * len(rows))
    for place, row in enumerate(reversed(rows)):
        seconds = build_seconds(result, row)
        axes.barh(place, seconds, color=palette.OURS[0] if row["is_ours"] else palette.RIVALS[2])
        axes.annotate(
            f"{seconds:.1f}" if seconds < 10 else f"{seconds:.0f}",
            (seconds, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=11,
        )
    axes.set_yticks(range(len(rows)), [row["contender"].replace(":", " ", 1) for row in rows[::-1]])
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    axes.margins(x=0.12, y=0.02)
    axes.grid(False, axis="y")
    axes.set_xlabel("seconds to train and add, one thread (log)")
    axes.set_title(f"Time to build\n{data_text(result)}", fontsize=13)
    save(figure, folder, f"{slug(result)}-{suite}-build")


def write_page(results, path):
    """Our package is not installed here; of its page's writer the file is enough."""
    spec = importlib.util.spec_from_file_location("bench_page", PAGE_WRITER)
    bench_page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench_page)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(results, ensure_ascii=False, separators=(",", ":"))
    path.write_text(bench_page.make_page(text), encoding="utf-8")
    print(path)


def slug(result):
    return result["data"]["name"].lower().replace(" ", "-").replace(",", "-")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="*", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    pictures = options.out or ROOT / "docs" / "images"
    pictures.mkdir(parents=True, exist_ok=True)
    paths = options.results or sorted((ROOT / "bench" / "results").glob("*.json"))
    results = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    set_defaults()
    # Pages do not show it, so that it is not checked in beside the pictures.
    plain = [result for result in results if is_for_page(result)]
    if plain:
        write_page(plain, (options.out or ROOT / "build" / "peers") / "report.html")
    for result in results:
        if result["mode"] == "recall":
            # Of inverted files there are two sizes, for which a table is enough.
            if result["suite"] != "few-bytes-ivf":
                draw = draw_few_bytes if result["suite"] == "few-bytes" else draw_recall_bytes
                draw(result, pictures)
            continue
        if result["mode"] == "churn":
            draw_churn(result, pictures)
            continue
        if has_filters(result):
            for mode in MODE_NAMES:
                draw_filters(result, pictures, mode)
            continue
        suite = result["suite"]
        for mode in MODE_NAMES:
            draw_recall_speed(result, pictures, mode, suite)
        draw_build_time(result, pictures, suite)


if __name__ == "__main__":
    main()
