# SPDX-License-Identifier: MIT
"""Colours and markers of the charts: Okabe and Ito's palette, which colour-blind readers can tell
apart, and a marker for each series besides, so that a chart also works in grey."""

OURS = ("#D55E00", "#CC79A7", "#882255", "#999933")
OUR_MARKERS = ("o", "s")  # the second where there are more of ours than colours
RIVALS = ("#0072B2", "#009E73", "#56B4E9", "#E69F00", "#000000", "#8C8C8C")
MARKERS = ("s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h", "d")

INK = "#222222"
GRID = "#DDDDDD"
FONT_SIZE = 12
WIDTH_INCHES, HEIGHT_INCHES, DPI = 8.0, 5.4, 100  # 800 pixels wide, as a README shows it


def styles(names):
    """{series: (colour, marker, is_ours)}: ours in OURS, others in turn."""
    found, ours, rivals = {}, 0, 0
    for name in names:
        if name.startswith("polarquant"):
            marker = OUR_MARKERS[ours // len(OURS) % len(OUR_MARKERS)]
            found[name] = (OURS[ours % len(OURS)], marker, True)
            ours += 1
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
