# SPDX-License-Identifier: MIT
"""What a comparison prints, and its JSON."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib import metadata
from typing import Any

import numpy as np

import polarquant
from polarquant.command.bench_choice import Choice
from polarquant.command.bench_contenders import LIBRARIES
from polarquant.command.bench_measure import Measured
from polarquant.command.text_table import format_table


def by_bytes(rows: Sequence[Measured]) -> list[Measured]:
    """By rising bytes, then recall; those that were not measured last."""
    return sorted(rows, key=lambda row: (bool(row.problem), row.bytes_per_vector, row.recall))


def format_report(rows: Sequence[Measured], choice: Choice, dim: int, k: int) -> str:
    """The table, what was not measured, and the recommendation."""
    head = ("  code", "bytes", "of floats", f"recall@{k}", "±", "queries/s", "build s")
    cells = [
        (
            ("> " if row is choice.row else "  ") + row.named.label,
            f"{row.bytes_per_vector:.1f}",
            f"{row.bytes_per_vector / (4 * dim):.1%}",
            f"{row.recall:.4f}",
            f"{row.margin:.4f}",
            f"{row.queries_per_second:.0f}",
            f"{row.build_s:.2f}",
        )
        for row in rows
        if not row.problem
    ]
    lines = [format_table(head, cells)]
    lines += [f"  {row.named.label}: not measured: {row.problem}" for row in rows if row.problem]
    return "\n".join([*lines, "", choice.reason])


def make_json(rows: Sequence[Measured], choice: Choice, setting: dict[str, Any]) -> dict[str, Any]:
    """Every figure, and what decides it. There is no date in it."""
    return {
        "polarquant": polarquant.__version__,
        "machine": _machine(),
        "versions": _versions(),
        **setting,
        "recommended": choice.row.named.label if choice.row is not None else None,
        "reason": choice.reason,
        "rows": [_row(row) for row in rows],
    }


def _row(row: Measured) -> dict[str, Any]:
    told = {
        "library": LIBRARIES[row.named.library].name,
        "code": row.named.code,
        "device": "cuda" if row.named.is_on_device else "cpu",
    }
    if row.problem:
        return {**told, "problem": row.problem}
    return {
        **told,
        "bytes_per_vector": row.bytes_per_vector,
        "recall": row.recall,
        "recall_margin": row.margin,
        "build_seconds": row.build_s,
        "search_seconds": list(row.search_s),
        "queries_per_second": row.queries_per_second,
    }


def _machine() -> dict[str, Any]:
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            named = [line for line in info if line.startswith("model name")]
        model = named[0].split(": ", 1)[1].strip() if named else model
    except OSError:
        pass
    return {"cpu": model, "cpus": os.cpu_count(), "architecture": platform.machine()}


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "numpy": np.__version__}
    for package in ("faiss-cpu", "faiss-gpu", "turbovec"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
