#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of docs/concepts.md into docs/images, as SVG: a block of 64 rows, the funnel of a
search, and the layers of the library. They are drawn narrow, so that a telephone shows their words.

usage: draw_pictures.py ROOT [--check]

With --check nothing is written: it ends with 1 when a file is not what would be drawn.
"""

import pathlib
import sys

WIDTH = 480
INK = "#1f2933"
PALE_INK = "#52606d"
BLUE, BLUE_EDGE = "#d6e6f7", "#2f6fad"
GREEN, GREEN_EDGE = "#d9efdc", "#2f7d43"
SAND, SAND_EDGE = "#f6e9cd", "#a6761d"
GREY, GREY_EDGE = "#eceff2", "#7b8794"


class Picture:
    """SVG elements on a white card, which is readable on light and dark pages."""

    def __init__(self, height, title):
        self.height = height
        self.title = title
        self.parts = []

    def box(self, x, y, width, height, fill, edge, radius=5):
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" '
            f'fill="{fill}" stroke="{edge}"/>'
        )

    def text(self, x, y, text, size=15, anchor="start", ink=INK, weight="normal"):
        escaped = text.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{ink}" '
            f'font-weight="{weight}">{escaped}</text>'
        )

    def lines(self, points, ink=INK):
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{ink}"/>')

    def shape(self, points, fill, edge):
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(f'<polygon points="{path}" fill="{fill}" stroke="{edge}"/>')

    def arrow(self, x, top, bottom):
        self.lines([(x, top), (x, bottom)], PALE_INK)
        self.lines([(x - 4, bottom - 6), (x, bottom), (x + 4, bottom - 6)], PALE_INK)

    def svg(self):
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
                f'width="{WIDTH}" height="{self.height}" role="img" '
                'font-family="Helvetica, Arial, sans-serif">',
                f"<title>{self.title}</title>",
                f'<rect width="{WIDTH}" height="{self.height}" rx="8" fill="#ffffff"/>',
                *self.parts,
                "</svg>\n",
            ]
        )


def block():
    """Polar4 at 384 dimensions: 196 bytes a row, 32 of signs and 4 of factors in the sketch."""
    picture = Picture(440, "A block of 64 rows: sketches first, then payloads")
    picture.text(20, 30, "A block: 64 rows of Polar4, 384 dimensions", 17, weight="bold")
    left, right = 20, 330
    picture.text(left, 58, "sign words of 8 rows, then of the next 8, …", 14, ink=PALE_INK)
    # Groups of 8 rows, one above the other: word 0 of the 8 rows side by side, then word 1, …
    step = (right - left) / 32
    for group, y in enumerate((68, 92, 116)):
        for word in range(4):
            for row in range(8):
                x = left + (word * 8 + row) * step
                picture.box(x, y, step, 20, BLUE if word % 2 == 0 else "#bcd7f0", BLUE_EDGE, 0)
            if group == 0:
                picture.text(left + (word * 8 + 4) * step, 83, f"word {word}", 13, "middle")
    picture.text((left + right) / 2, 154, "… 8 groups of 8 rows", 14, "middle", PALE_INK)
    picture.box(left, 164, right - left, 26, GREEN, GREEN_EDGE)
    picture.text((left + right) / 2, 182, "two factors of each row", 14, "middle")
    picture.text(left, 222, "the other bytes of row 0, of row 1, …", 14, ink=PALE_INK)
    for row in range(6):
        picture.box(left, 232 + row * 24, right - left, 20, SAND, SAND_EDGE, 2)
        name = f"row {row}" if row < 5 else "… row 63"
        picture.text((left + right) / 2, 247 + row * 24, name, 13, "middle")
    brace(picture, right + 8, 68, 190)
    picture.text(right + 26, 108, "sketch", 16, weight="bold", ink=BLUE_EDGE)
    picture.text(right + 26, 128, "36 bytes a row,", 14)
    picture.text(right + 26, 146, "read for all rows", 14)
    brace(picture, right + 8, 232, 372)
    picture.text(right + 26, 284, "payload", 16, weight="bold", ink=SAND_EDGE)
    picture.text(right + 26, 304, "160 bytes a row,", 14)
    picture.text(right + 26, 322, "for candidates", 14)
    picture.text(20, 404, "An index keeps the sketches of all blocks together, so that", 14, ink=PALE_INK)
    picture.text(20, 423, "a search reads them in one stream.", 14, ink=PALE_INK)
    return picture.svg()


def brace(picture, x, top, bottom):
    middle = (top + bottom) / 2
    picture.lines([(x, top), (x + 6, top), (x + 6, bottom), (x, bottom)], PALE_INK)
    picture.lines([(x + 6, middle), (x + 12, middle)], PALE_INK)


# What a stage of a search of 117,659 rows meets: docs/dev/tuning.md, "Stages".
FUNNEL = [
    ("117,659 rows", "stage 1: signs of 256 coordinates", "36 bytes of each", BLUE, BLUE_EDGE, 440),
    ("2,300 candidates", "stage 2: all signs", "20 bytes of each", GREEN, GREEN_EDGE, 350),
    ("530 candidates", "score by int8 values", "160 bytes of each", SAND, SAND_EDGE, 270),
    ("11 best", "score by floats", "196 bytes of each", GREY, GREY_EDGE, 200),
]


def funnel():
    picture = Picture(474, "The funnel of a search: each stage leaves fewer rows to the next")
    picture.text(20, 30, "One query, k = 10, Polar4, 384 dimensions", 17, weight="bold")
    middle = WIDTH / 2
    y = 46
    for at, (rows, stage, read, fill, edge, width) in enumerate(FUNNEL):
        below = FUNNEL[at + 1][5] if at + 1 < len(FUNNEL) else 150
        corners = [(-width / 2, 0), (width / 2, 0), (below / 2, 74), (-below / 2, 74)]
        picture.shape([(middle + x, y + dy) for x, dy in corners], fill, edge)
        picture.text(middle, y + 22, rows, 16, "middle", weight="bold")
        picture.text(middle, y + 42, stage, 14, "middle")
        picture.text(middle, y + 60, read, 14, "middle", PALE_INK)
        y += 80
    picture.arrow(middle, y - 4, y + 12)
    picture.text(middle, y + 32, "10 ids and scores", 16, "middle", weight="bold")
    picture.text(middle, y + 60, "Exactness says how surely a stage keeps the rows", 14, "middle", PALE_INK)
    picture.text(middle, y + 79, "that belong to the answer; at infinity all are scored.", 14, "middle", PALE_INK)
    return picture.svg()


LAYERS = [
    [("Python, command polar", "bindings/python")],
    [("C library", "src/capi")],
    [("FAISS", "src/faiss"), ("advice", "src/advice"), ("GPU calls", "src/device")],
    [("search in stages", "src/scan"), ("CUDA", "cuda")],
    [("SIMD", "src/simd"), ("files", "src/io")],
    [("codec: vectors to codes", "src/codec")],
    [("core: errors, sizes, threads", "src/core")],
]
SHADES = [(GREY, GREY_EDGE), (GREY, GREY_EDGE), (SAND, SAND_EDGE), (BLUE, BLUE_EDGE),
          (BLUE, BLUE_EDGE), (GREEN, GREEN_EDGE), (GREY, GREY_EDGE)]


def layers():
    picture = Picture(482, "The layers of the library: each uses only those below it")
    picture.text(20, 30, "A layer uses only those below it", 17, weight="bold")
    y = 48
    for boxes, (fill, edge) in zip(LAYERS, SHADES):
        last = (440 - 8 * (len(boxes) - 1)) / max(3, len(boxes))
        widths = [440 - (len(boxes) - 1) * (last + 8), *[last] * (len(boxes) - 1)]
        x = 20
        for (name, folder), width in zip(boxes, widths):
            picture.box(x, y, width, 54, fill, edge)
            picture.text(x + width / 2, y + 23, name, 16, "middle", weight="bold")
            picture.text(x + width / 2, y + 42, folder, 14, "middle", PALE_INK)
            x += width + 8
        y += 61
    return picture.svg()


PICTURES = {"block": block, "funnel": funnel, "layers": layers}


def main(arguments):
    check = "--check" in arguments
    roots = [argument for argument in arguments if argument != "--check"]
    if len(roots) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(roots[0]) / "docs" / "images"
    stale = []
    for name, draw in PICTURES.items():
        path = folder / f"{name}.svg"
        svg = draw()
        if not check:
            path.write_text(svg, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != svg:
            stale.append(path.name)
    if stale:
        print(f"not as drawn: {', '.join(stale)}; run tools/pictures/draw_pictures.py ROOT")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
