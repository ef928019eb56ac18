# SPDX-License-Identifier: MIT
"""polar bench: all codes, ours and those of other libraries, on a person's vectors."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from polarquant.command import bench_chart, bench_page, vector_files
from polarquant.command.bench_choice import choose
from polarquant.command.bench_contenders import (
    Named,
    Setting,
    default_contenders,
    device_contenders,
    parse_contenders,
)
from polarquant.command.bench_device import name_device, needs_device, read_device
from polarquant.command.bench_measure import measure
from polarquant.command.bench_parts import draw_parts, exact_neighbours
from polarquant.command.bench_report import by_bytes, format_report, make_json
from polarquant.command.failure import CommandError
from polarquant.command.output_files import refuse_overlaps, whole_file
from polarquant.command.progress import say, shown
from polarquant.command.shared_arguments import (
    add_dataset,
    add_metric,
    add_threads,
    number,
    whole_number,
)
from polarquant.command.vectors import Vectors

HELP = "compare all codes on your vectors"
DESCRIPTION = """\
Measures codes on vectors of yours, ours beside those of FAISS and turbovec where they are installed
(pip install faiss-cpu turbovec), and recommends one: bytes a vector, recall of the k exact neighbours,
queries a second.

Three parts that share no row are drawn at random: queries (a tenth of the rows, unless --queries names
others), rows to train on, and rows to search. Every code is searched flat, by all queries in one call, on
one thread unless --threads says otherwise; queries a second are the median of --rounds, which say little
on a machine that is busy.

With --device cuda our codes are searched on a GPU, from host memory to host memory, and find the same rows.
Codes of other libraries, and of ours with polar: before them, are still searched by the CPU.
"""
EXAMPLES = """\
examples:
  polar bench vectors.npy
  polar bench base.npy --queries queries.npy --metric ip --json result.json --html result.html
  polar bench sift-128-euclidean.hdf5 --metric l2 --want-recall 0.9
  polar bench vectors.parquet --dataset embedding --max-bytes 128
  polar bench vectors.npy --codes "Polar2; Polar4; faiss:SQ8; faiss:RaBitQ4; turbovec:4"
  polar bench vectors.npy --device cuda --rows 1000000 --codes "Polar2; Polar4; polar:Polar4"
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("vectors", help=f"a file: {', '.join(vector_files.ENDINGS)}")
    parser.add_argument(
        "--queries",
        metavar="FILE",
        help="queries; default: the dataset test of an HDF5 file, else a tenth of the rows",
    )
    add_metric(parser)
    parser.add_argument(
        "-k", type=whole_number(1, 1000), default=10, help="neighbours looked for (default 10)"
    )
    parser.add_argument(
        "--codes",
        metavar="LIST",
        help='what to measure, parted by ";": Polar2, faiss:FACTORY, turbovec:BITS, cuda:Polar2; '
        "default: all that a user would choose among",
    )
    parser.add_argument(
        "--device",
        type=read_device,
        metavar="D",
        help="what searches our codes: cpu (default), cuda or cuda:1, an NVIDIA GPU",
    )
    parser.add_argument(
        "--want-recall",
        type=number(0, 1),
        default=0.0,
        metavar="R",
        help="recommend the fewest bytes whose recall is surely R, 0 to 1",
    )
    parser.add_argument(
        "--max-bytes",
        type=number(0, 2**40),
        default=0.0,
        metavar="B",
        help="recommend the highest recall within B bytes a vector",
    )
    parser.add_argument(
        "--rows",
        type=whole_number(10, 2**40),
        default=20_000,
        metavar="N",
        help="rows to search at most (default 20,000)",
    )
    parser.add_argument(
        "--max-queries",
        type=whole_number(10, 2**40),
        default=1_000,
        metavar="N",
        help="queries at most (default 1,000)",
    )
    parser.add_argument(
        "--rounds", type=whole_number(1, 1000), default=3, help="of timing (default 3)"
    )
    parser.add_argument(
        "--seed", type=whole_number(0, 2**63 - 1), default=1, help="of the draw (default 1)"
    )
    parser.add_argument("--json", metavar="FILE", help="write every figure as JSON")
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="write a page for a browser, one file: charts, and a table of every figure",
    )
    parser.add_argument(
        "--chart", metavar="FILE", help="draw a chart, .svg, .png or .pdf; needs matplotlib"
    )
    add_threads(parser, default=1)
    add_dataset(parser)
    add_dataset(parser, "--query-dataset")


def run(given: argparse.Namespace) -> int:
    refuse_overlaps([given.json, given.html, given.chart], [given.vectors, given.queries])
    if given.chart:
        bench_chart.check_chart_file(given.chart)
    named = parse_contenders(given.codes, _library(given)) if given.codes is not None else []
    device = None
    if needs_device(given.device, named):
        # Before vectors are read: there may be none.
        device = name_device(given.device or 0)
    vectors = vector_files.open_vectors(given.vectors, given.dataset)
    queries = _open_queries(given, vectors)
    contenders = named or _default_contenders(given, vectors.dim)
    parts = draw_parts(
        vectors, queries, given.metric, given.k, given.rows, given.max_queries, given.seed
    )
    exact = exact_neighbours(parts.base, parts.queries, given.metric, given.k)
    setting = Setting(vectors.dim, given.metric, given.threads, given.device or 0)
    with shown("measure") as show:
        rows = by_bytes(measure(contenders, setting, parts, exact, given.rounds, show))
    choice = choose(rows, vectors.dim, given.k, given.want_recall, given.max_bytes)

    metric = given.metric.name.lower()
    kind = "held-out rows" if parts.held_out_queries else "queries"
    title = (
        f"{os.path.basename(given.vectors)}: {len(parts.base)} × {vectors.dim}, "
        f"{len(parts.queries)} {kind}, {metric}"
    )
    print(f"{title}; trained on {len(parts.train)} other rows")
    if device is not None:
        print(f"CUDA: {device}")
    print(format_report(rows, choice, vectors.dim, given.k))
    told: dict[str, Any] = {
        "data": {
            "vectors": given.vectors,
            "queries": given.queries,
            "dim": vectors.dim,
            "base_rows": len(parts.base),
            "train_rows": len(parts.train),
            "queries_used": len(parts.queries),
            "held_out_queries": parts.held_out_queries,
        },
        "metric": metric,
        "k": given.k,
        "threads": given.threads,
        "gpu": device,
        "seed": given.seed,
    }
    text = json.dumps(make_json(rows, choice, told), indent=2, ensure_ascii=False)
    if given.json:
        _write_text(given.json, text + "\n")
    if given.html:
        _write_text(given.html, bench_page.make_page(text))
    if given.chart:
        with whole_file(given.chart) as unfinished:
            bench_chart.draw_chart(rows, unfinished, title, given.k)
    return 0 if choice.row is not None else 1


def _library(given: argparse.Namespace) -> str:
    return "polar" if given.device is None else "cuda"


def _default_contenders(given: argparse.Namespace, dim: int) -> list[Named]:
    if given.device is not None:
        return device_contenders(dim)
    contenders, missing = default_contenders(dim)
    if missing:
        say(f"not installed, so not compared: {', '.join(missing)}")
    return contenders


def _write_text(path: str, text: str) -> None:
    with whole_file(path) as unfinished:
        # A name that is no UTF-8 is written as JSON's escapes.
        with open(unfinished, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)


def _open_queries(given: argparse.Namespace, vectors: Vectors) -> Vectors | None:
    if given.queries is not None:
        queries = vector_files.open_vectors(
            given.queries, given.query_dataset, ("test", "queries", "train")
        )
    elif given.query_dataset or vector_files.has_dataset(given.vectors, "test"):
        queries = vector_files.open_vectors(given.vectors, given.query_dataset or "test")
    else:
        return None
    if queries.dim != vectors.dim or queries.count < 1:
        raise CommandError(
            f"{queries.path}: {queries.count} queries of {queries.dim} numbers; the vectors have "
            f"{vectors.dim}"
        )
    return queries
