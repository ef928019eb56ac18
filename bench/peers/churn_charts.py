# SPDX-License-Identifier: MIT
"""The chart of a result of `churn`: times of searches without changes and with them, and memory over time."""

import matplotlib.pyplot as plt
from matplotlib import ticker

import palette
from churn_report import times


def draw(result, groups, title):
    """groups: {series: rows}, of which each has its first contender drawn."""
    styles = palette.styles(groups)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(palette.WIDTH_INCHES, 5.6), layout="constrained"
    )
    for name, rows in groups.items():
        point = rows[0]["points"][0]
        look = {
            **palette.line(styles[name]),
            "markersize": 6,
            "label": rows[0]["contender"].replace(":", " ", 1),
        }
        operations = (point["quiet"]["search"], point["changing"]["search"])
        left.plot((0, 1), [times(result, each)["p99_us"] for each in operations], **look)
        windows = point["changing"]["windows"]
        seconds = [0] + [each["end_seconds"] for each in windows]
        growth = [0] + [each["growth_bytes"] / 1e6 for each in windows]
        right.plot(seconds, growth, markevery=6, **look)
    left.set_yscale("log")
    left.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    left.yaxis.set_major_formatter(ticker.FuncFormatter(lambda y, _: f"{y:,.0f}"))
    left.yaxis.set_minor_formatter(ticker.NullFormatter())
    left.set_xticks((0, 1), ("searches\nalone", "searches\nand changes"))
    left.set_xlim(-0.25, 1.25)
    left.set_ylabel("p99 of a search, µs (log)")
    right.set_xlabel("seconds of searches and changes")
    right.set_ylabel("memory gained, MB")
    for axes in (left, right):
        palette.frame(axes)
    figure.suptitle(title, fontsize=13)
    return figure, left
