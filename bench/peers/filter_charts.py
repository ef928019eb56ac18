# SPDX-License-Identifier: MIT
"""The charts of the suite `filter`: speed and recall over the share of the rows that a filter keeps."""

import matplotlib.pyplot as plt
from matplotlib import ticker

import palette
from peer_report import points_by_filter, qps, recall

WANTED_RECALL = 0.9


def chosen(result, points, mode):
    """The fastest of the points that reach the wanted recall, else the one with the highest recall."""
    reach = [point for point in points if recall(point)[0] >= WANTED_RECALL]
    if reach:
        return max(reach, key=lambda point: qps(result, point, mode))
    return max(points, key=lambda point: recall(point)[0])


def lines_of(result, rows, mode):
    """{kind: [(share, queries/s, recall)]} of a series, by falling share."""
    points = {}
    for row in rows:
        for key, found in points_by_filter(row).items():
            points.setdefault(key, []).extend(found)
    lines = {}
    for (kind, share), found in sorted(points.items(), key=lambda entry: -entry[0][1]):
        point = chosen(result, found, mode)
        lines.setdefault(kind, []).append((share, qps(result, point, mode), recall(point)[0]))
    return lines


def draw(result, groups, mode, title):
    """The figure: a column for each kind of filter, speed above recall. groups: {series: rows}."""
    lines = {name: lines_of(result, rows, mode) for name, rows in groups.items()}
    kinds = list(dict.fromkeys(kind for found in lines.values() for kind in found))
    figure, axes = plt.subplots(
        2,
        len(kinds),
        figsize=(palette.WIDTH_INCHES, 8.2),
        layout="constrained",
        sharex=True,
        sharey="row",
        squeeze=False,
    )
    styles = palette.styles(groups)
    shares = sorted(
        {point[0] for found in lines.values() for line in found.values() for point in line}
    )
    for column, kind in enumerate(kinds):
        for name, found in lines.items():
            _, _, ours = styles[name]
            places = [-shares.index(point[0]) for point in found[kind]]
            for row in range(2):
                axes[row, column].plot(
                    places,
                    [point[1 + row] for point in found[kind]],
                    markersize=7 if ours else 6,
                    label=name,
                    **palette.line(styles[name]),
                )
        axes[0, column].set_title(f"{kind} rows", fontsize=12)
        axes[1, column].set_xlabel("rows that the filter keeps")
    for each in axes.flat:
        palette.frame(each)
        each.set_xticks(
            range(0, -len(shares), -1), [f"{100 * share:g} %" for share in shares], fontsize=10
        )
    axes[0, 0].set_yscale("log")
    axes[0, 0].yaxis.set_major_formatter(ticker.FuncFormatter(lambda y, _: f"{y:,.0f}"))
    axes[0, 0].set_ylabel("queries/s (log)")
    axes[1, 0].set_ylabel(f"recall@{result['settings']['k']} among the rows kept")
    axes[1, 0].set_ylim(-0.02, 1.02)
    figure.suptitle(title, fontsize=13)
    return figure, axes[0, 0]
