# SPDX-License-Identifier: MIT
"""Which code to take for vectors like a sample: every candidate measured on it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy.typing as npt

from polarquant import _structs
from polarquant._arrays import address, as_floats, as_int, as_rows, as_text
from polarquant._library import check, default_options, lib, sized
from polarquant._progress import LongCall, ProgressLike
from polarquant._use import Use
from polarquant.errors import BadArgumentError
from polarquant.metric import Metric, MetricLike, as_metric


class AdviceRow(NamedTuple):
    """One code on the sample."""

    spec: str
    """Its name, for `Codec` and `Index`."""
    problem: str
    """Why it was not measured, and then the numbers are 0; "" else."""
    needs_training: bool
    """Whether `train` must come before `encode`."""
    bytes_per_vector: float
    """Factors included."""
    recall: float
    """Recall@k over the rows searched, 0 to 1."""
    recall_margin: float
    """Half of its 95 % interval."""
    quarter_recall: float
    """Recall@k when only a quarter of the rows is searched."""
    expected_recall: float
    """Recall@k over `total_rows`."""
    error: float
    """Mean ‖x̂ − x‖² / ‖x − c‖² of rows not trained on, x̂ unbiased."""
    gain: float
    """Recall less that of the untrained code; 0 unless "-pca"."""
    gain_margin: float
    """Half of the 95 % interval of the gain."""
    codec_bytes: int
    """Memory of rotation and tables, once for all vectors."""
    pays: bool
    """False for a "-pca" code that gains no more than noise."""
    is_recommended: bool
    """Whether this is the code to take."""


class Advice(NamedTuple):
    """What `advise` found; str() is a table."""

    rows: tuple[AdviceRow, ...]
    """The codes measured, by rising bytes for the default ones."""
    recommended: AdviceRow | None
    """The code to take; None when no code is what was asked for."""
    reason: str
    """Why, in a sentence or two."""
    held_out_queries: bool
    """Whether the queries are rows of the sample."""
    queries: int
    """Queries searched for."""
    base_rows: int
    """Rows searched."""
    train_rows: int
    """Rows trained on."""

    def __str__(self) -> str:
        lines = [f"{'code':<14} {'bytes':>7} {'recall':>7} {'margin':>7} {'expected':>9}"]
        for row in self.rows:
            if row.problem:
                lines.append(f"{row.spec:<14} {row.problem}")
                continue
            mark = "  <- take this" if row.is_recommended else ""
            lines.append(
                f"{row.spec:<14} {row.bytes_per_vector:7.1f} {row.recall:7.3f} "
                f"{row.recall_margin:7.3f} {row.expected_recall:9.3f}{mark}"
            )
        return "\n".join([*lines, self.reason])


def advise(
    x: npt.ArrayLike,
    queries: npt.ArrayLike | None = None,
    *,
    metric: MetricLike = Metric.INNER_PRODUCT,
    k: int = 10,
    wanted_recall: float = 0.0,
    allowed_bytes: float = 0.0,
    specs: Sequence[str] | None = None,
    max_rows: int | None = None,
    max_queries: int | None = None,
    total_rows: int = 0,
    seed: int = 1,
    num_threads: int = 0,
    progress: ProgressLike = None,
) -> Advice:
    """Measures codes on rows x, (n, dim), and recommends one.

    queries: (nq, dim), 10 or more, where they are of another kind than the rows; None holds out a
    tenth of the rows.
    wanted_recall, allowed_bytes: what is asked for, recall@k, 0 to 1, and bytes a vector; 0 asks
    for nothing. With neither, the code of the best value is recommended.
    specs: names of codes to measure; None: those that a user would choose among, and with
        allowed_bytes of 64 or less PolarB… of up to these bytes.
    max_rows, max_queries: searched at most; None: 20,000 and 1,000.
    total_rows: how many there will be; 0: the sample is all.
    progress: True for a bar, or a function that hears the share done and stops by False.

    Takes a minute for 384 dimensions on two cores by the defaults; Ctrl-C ends it, though not while
    one code is trained. Raises BadArgumentError for too few rows (about 22·k are needed) or wrong
    names, CancelledError. The header's polar_advice_create says how it is measured.
    """
    sample = as_floats("x", x)
    if sample.ndim != 2 or not 1 <= sample.shape[1] <= 65535:
        raise BadArgumentError(f"x: shape {sample.shape} is not allowed; (n, dim), dim 1 to 65535")
    n, dim = sample.shape
    asked = None if queries is None else as_rows("queries", queries, dim)

    options = default_options(_structs.AdviceOptions, lib.polar_advice_options_init_sized)
    options.k = as_int("k", k, 1, 2**40)
    options.wanted_recall = wanted_recall
    options.allowed_bytes = allowed_bytes
    options.total_rows = as_int("total_rows", total_rows, 0, 2**40)
    options.seed = as_int("seed", seed, 0, 2**64 - 1)
    options.num_threads = as_int("num_threads", num_threads, 0, 1024)
    if max_rows is not None:
        options.max_rows = as_int("max_rows", max_rows, 10, 2**40)
    if max_queries is not None:
        options.max_queries = as_int("max_queries", max_queries, 10, 2**40)
    if specs is not None:
        names = [as_text("specs", name) for name in specs]
        options.specs = (ctypes.c_char_p * len(names))(*names)
        options.num_specs = len(names)

    advice = ctypes.c_void_p()
    with LongCall("advise", progress, Use("advise", 0)) as call:
        options.progress = call.function
        call.check(
            lib.polar_advice_create(
                dim,
                as_metric(metric),
                n,
                address(sample),
                0 if asked is None else len(asked),
                None if asked is None else address(asked),
                ctypes.byref(options),
                ctypes.byref(advice),
            )
        )
    try:
        return _read_advice(advice)
    finally:
        lib.polar_advice_destroy(advice)


def _read_advice(advice: ctypes.c_void_p) -> Advice:
    info = sized(_structs.AdviceInfo)
    check(lib.polar_advice_get_info(advice, ctypes.byref(info)))
    rows = tuple(_read_row(advice, row) for row in range(info.rows))
    return Advice(
        rows=rows,
        recommended=rows[info.recommended] if info.recommended >= 0 else None,
        reason=info.reason.decode(),
        held_out_queries=bool(info.held_out_queries),
        queries=info.queries,
        base_rows=info.base_rows,
        train_rows=info.train_rows,
    )


def _read_row(advice: ctypes.c_void_p, row: int) -> AdviceRow:
    raw = sized(_structs.AdviceRow)
    check(lib.polar_advice_get_row(advice, row, ctypes.byref(raw)))
    values = {name: getattr(raw, name) for name in AdviceRow._fields}
    for name in ("spec", "problem"):
        values[name] = values[name].decode()
    for name in ("needs_training", "pays", "is_recommended"):
        values[name] = bool(values[name])
    return AdviceRow(**values)
