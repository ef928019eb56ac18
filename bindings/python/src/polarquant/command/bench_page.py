# SPDX-License-Identifier: MIT
"""A comparison as one page for a browser: bench_page.html with the JSON of results in it.

bench/peers loads this file alone, without the package, and polar-recall has the same page built in
(bench/recall/report_page.cc).
"""

from __future__ import annotations

import pathlib

_MARK = "@RESULTS@"


def make_page(results_json: str) -> str:
    """The page of one result, or of a list of them, given as JSON."""
    template = pathlib.Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
    before, _, after = template.partition(_MARK)
    # In JSON a "<" stands in strings alone; so nothing ends the script that holds it.
    return before + results_json.replace("<", "\\u003c") + after
