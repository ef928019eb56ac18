# SPDX-License-Identifier: MIT
"""Colours and markers of the charts: Okabe and Ito's palette, which colour-blind readers can tell
apart, and a marker for each series besides, so that a chart also works in grey."""

OURS = "#D55E00"
OURS_MORE = ("#CC79A7", "#882255", "#999933")
RIVALS = ("#0072B2", "#009E73", "#56B4E9", "#E69F00", "#000000", "#8C8C8C")
MARKERS = ("s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h", "d")

INK = "#222222"
GRID = "#DDDDDD"
FONT_SIZE = 12
WIDTH_INCHES, HEIGHT_INCHES, DPI = 8.0, 5.4, 100  # 800 pixels wide, as a README shows it


def styles(names):
    """{series: (colour, marker, is_ours)}: ours in OURS and OURS_MORE, others in turn."""
    found, rivals = {}, 0
    for name in names:
        if name.startswith("polarquant"):
            ours = sum(style[2] for style in found.values())
            found[name] = ((OURS, *OURS_MORE)[min(ours, len(OURS_MORE))], "o", True)
        else:
            found[name] = (RIVALS[rivals % len(RIVALS)], MARKERS[rivals % len(MARKERS)], False)
            rivals += 1
    return found


def line(style):
    """What axes.plot takes for a series of this style: ours is thicker, filled and on top."""
    colour, marker, ours = style
    return {
        "color": colour,
        "marker": marker,
        "linewidth": 2.4 if ours else 1.2,
        "markerfacecolor": colour if ours else "white",
        "zorder": 5 if ours else 3,
    }


def frame(axes):
    """A grid below what is drawn, and no lines above and on the right."""
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
