# SPDX-License-Identifier: MIT
"""Vectors to codes that the caller keeps, and scores of such codes."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from polarquant import _structs
from polarquant._arrays import (
    Codes,
    CodesLike,
    Floats,
    Ids,
    address,
    as_codes,
    as_floats,
    as_int,
    as_rows,
    as_rows_or_vector,
    as_text,
    as_vector,
    count_codes,
)
from polarquant._handle import Handle, create
from polarquant._library import check, default_options, lib, read_text, work_options
from polarquant._progress import LongCall, ProgressLike
from polarquant._search import make_search_options, run_range_search, run_search
from polarquant.codec_info import CodecInfo, Plan, read_info, read_plan, read_state
from polarquant.errors import BadArgumentError, PolarError
from polarquant.filters import FilterLike
from polarquant.metric import Metric, MetricLike, as_metric
from polarquant.query import Query

#: Coordinates encoded by one call of the C library: about a tenth of a second.
_ENCODE_BATCH = 4_000_000


class Codec(Handle):
    """Turns vectors into codes, and scores and searches codes. It holds no vectors.

    spec: of the code, as "Polar2" or "Polar4+2-dense"; `polarquant.spec_help` lists all.
    dim: dimensions, 1 to 65535.
    metric: "ip" (inner product), "l2" or "cosine".
    seed: of the random rotation, 0 to 2^64 − 1.
    centre: (dim,), or None: learned by `train` where `learn_centre`, else 0.
    norm_unit: typical distance of a row from the centre, 2^-40 to 2^40; 0: learned, 1 before.
    num_threads: of its calls, 0 to 1024; 0 is OpenMP's default.

    Raises BadArgumentError for a name, size or number that is not allowed.

    Codes are plain bytes, the same on every machine: a uint8 array of shape (n, code_size), to be
    copied, cut and joined by row. "PolarPair…g128" codes groups of 128 rows: its codes have the
    shape (bytes,), and calls that read them need the number of rows, `n`.

    Threads may use one codec at the same time; `train` waits for the others. A codec can be pickled:
    the copy has its state, and num_threads 0.
    """

    _destroy = lib.polar_codec_destroy

    def __init__(
        self,
        spec: str,
        dim: int,
        metric: MetricLike = Metric.INNER_PRODUCT,
        *,
        seed: int = 1,
        centre: npt.ArrayLike | None = None,
        norm_unit: float = 0.0,
        learn_centre: bool = True,
        num_threads: int = 0,
    ) -> None:
        dim = as_int("dim", dim, 1, 65535)
        options = default_options(_structs.CodecOptions, lib.polar_codec_options_init_sized)
        options.seed = as_int("seed", seed, 0, 2**64 - 1)
        options.norm_unit = norm_unit
        options.learn_centre = bool(learn_centre)
        self._num_threads = as_int("num_threads", num_threads, 0, 1024)
        if centre is not None:
            centre = as_vector("centre", centre, dim)
            options.centre = address(centre)
        handle = create(
            lib.polar_codec_create,
            as_text("spec", spec),
            dim,
            as_metric(metric),
            ctypes.byref(options),
        )
        super().__init__("Codec", handle)
        self._read_shape()

    #: Of its calls; set by __init__ alone.
    _num_threads = 0

    def _work_options(self) -> Any:
        return ctypes.byref(work_options(self._num_threads)) if self._num_threads else None

    def _read_shape(self) -> None:
        info = self.info
        self._dim, self._metric = info.dim, info.metric
        self._group_rows, self._code_size = info.group_rows, info.code_bytes

    @property
    def spec(self) -> str:
        """Its name, in canonical form."""
        with self._use.shared as handle:
            return read_text(lib.polar_codec_spec, handle)

    @property
    def dim(self) -> int:
        """Dimensions of a vector."""
        return self._dim

    @property
    def metric(self) -> Metric:
        """How scores are measured."""
        return self._metric

    @property
    def code_size(self) -> int:
        """Bytes of one code, factors included."""
        return self._code_size

    @property
    def is_trained(self) -> bool:
        """False only while `encode` must wait for `train`."""
        return self.info.is_trained

    @property
    def info(self) -> CodecInfo:
        """All that there is to know, at this moment."""
        with self._use.shared as handle:
            return read_info(handle)

    @property
    def centre(self) -> Floats:
        """A copy of the centre, (dim,); zeros when there is none."""
        out = np.empty(self._dim, dtype=np.float32)
        self._read(lib.polar_codec_get_centre, address(out))
        return out

    @property
    def memory_bytes(self) -> int:
        """Memory held: rotation, tables, centre."""
        out = ctypes.c_size_t()
        self._read(lib.polar_codec_memory_bytes, ctypes.byref(out))
        return out.value

    def __repr__(self) -> str:
        if self.closed:
            return "Codec(closed)"
        return f"Codec({self.spec!r}, dim={self._dim}, metric={self._metric.name.lower()!r})"

    def train(self, x: npt.ArrayLike, *, progress: ProgressLike = None) -> None:
        """Learns centre, unit and, where the codec has them, codebooks from rows x, (n, dim).

        Optional for most codecs; needed by "PolarPair…", "PolarTree…-online" and "…-pca", which
        wants 2·dim rows, better 10·dim. progress: as for `encode`; Ctrl-C ends it too. Raises
        StateMismatchError once this codec has encoded anything, BadArgumentError for rows that are
        not finite, CancelledError.
        """
        rows = as_rows("x", x, self._dim)
        asked = ("train", progress, self._num_threads, rows.size)
        self._change_long(*asked, lib.polar_codec_train, len(rows), address(rows))
        self._read_shape()

    @property
    def plan(self) -> Plan:
        """What a "…-pca" codec learned; UnsupportedError for others, NotTrainedError before."""
        with self._use.shared as handle:
            return read_plan(handle)

    def drift(self, x: npt.ArrayLike) -> float:
        """How well a "…-pca" codec fits rows x, (n, dim): their error, by that of rows which
        training held out.

        Near 1: as well as then; above 1.2 or so it is time to train a new codec.
        """
        rows = as_rows("x", x, self._dim)
        out = ctypes.c_double()
        options = self._work_options()
        self._read(lib.polar_codec_drift, len(rows), address(rows), options, ctypes.byref(out))
        return out.value

    def encoded_bytes(self, n: int) -> int:
        """Bytes of n encoded rows."""
        out = ctypes.c_size_t()
        n = as_int("n", n, 0, 2**63 - 1)
        self._read(lib.polar_codec_encoded_bytes, n, ctypes.byref(out))
        return out.value

    def encode(self, x: npt.ArrayLike, *, progress: ProgressLike = None) -> Codes:
        """Codes of rows x, (n, dim): uint8, (n, code_size), or (bytes,) for "…g128".

        progress: True for a bar, or a function that hears the share done and stops by False.
        Raises BadArgumentError that names the row for one that is not finite or is longer than
        scores can hold (2^61), NotTrainedError, CancelledError; Ctrl-C ends it. `train` comes before: it is
        refused after the first rows were encoded.
        """
        rows = as_rows("x", x, self._dim)
        n = len(rows)
        codes = np.empty(self.encoded_bytes(n), dtype=np.uint8)
        # Whole groups, so that the parts' codes are those of the whole.
        batch = max(1, _ENCODE_BATCH // (self._dim * 1024)) * 1024
        if n <= batch:
            self._encode_into(rows, codes)
        else:
            self._encode_batches(rows, batch, codes, progress)
        return codes.reshape(n, self._code_size) if self._group_rows == 1 else codes

    def _encode_into(self, rows: Floats, codes: Codes) -> None:
        self._read(
            lib.polar_codec_encode,
            len(rows),
            address(rows),
            self._work_options(),
            address(codes),
            codes.nbytes,
        )

    def _encode_batches(
        self, rows: Floats, batch: int, codes: Codes, progress: ProgressLike
    ) -> None:
        with LongCall("encode", progress, self._use) as call:
            end = 0
            for first in range(0, len(rows), batch):
                part = rows[first : first + batch]
                begin, end = end, end + self.encoded_bytes(len(part))
                try:
                    self._encode_into(part, codes[begin:end])
                except PolarError as error:
                    if first == 0:
                        raise
                    raise type(error)(f"{error} (rows are counted from row {first})") from None
                call.advance((first + len(part)) / len(rows))

    def decode(self, codes: CodesLike, n: int | None = None, *, unbiased: bool = False) -> Floats:
        """Vectors of codes, float32, (n, dim).

        The reconstruction of least error, nearest to x on average, or with `unbiased` the one whose
        inner products are unbiased. n: number of rows; needed for "…g128" alone.
        """
        array, n = self._as_coded(codes, n)
        out = np.empty((n, self._dim), dtype=np.float32)
        given = (n, address(array), array.nbytes, int(bool(unbiased)), self._work_options())
        self._read(lib.polar_codec_decode, *given, address(out))
        return out

    def prepare_query(self, q: npt.ArrayLike) -> Query:
        """A query, (dim,), to be scored many times."""
        vector = as_vector("q", q, self._dim)
        with self._use.shared as handle:
            return Query._adopt(create(lib.polar_query_prepare, handle, address(vector)))

    def prepare_query_from_code(
        self, codes: CodesLike, row: int = 0, n: int | None = None
    ) -> Query:
        """The query that is the vector of row `row`, 0 to n − 1, of codes, (n, code_size).

        n: number of rows; needed for "…g128" alone.
        """
        array, n = self._as_coded(codes, n)
        row = as_int("row", row, 0, n - 1)
        with self._use.shared as handle:
            function = lib.polar_query_prepare_from_code
            return Query._adopt(create(function, handle, n, address(array), array.nbytes, row))

    def score(self, query: Query | npt.ArrayLike, codes: CodesLike, n: int | None = None) -> Floats:
        """Scores of every coded row, float32: (n,) for a `Query` or a vector, (dim,); (nq, n) for
        queries, (nq, dim). codes: (n, code_size), or (bytes,) with n.

        Estimates of ⟨q, x⟩, of the cosine, or of ‖q − x‖², which can be slightly below 0. Raises
        StateMismatchError for a query of another codec.
        """
        array, n = self._as_coded(codes, n)
        if isinstance(query, Query):
            return self._score_prepared(query, array, n)
        given = as_rows_or_vector("query", query, self._dim)
        scores = np.empty((len(np.atleast_2d(given)), n), dtype=np.float32)
        for out, q in zip(scores, np.atleast_2d(given)):
            with self.prepare_query(q) as prepared:
                out[:] = self._score_prepared(prepared, array, n)
        return scores[0] if given.ndim == 1 else scores

    def _score_prepared(self, query: Query, codes: Codes, n: int) -> Floats:
        scores = np.empty(n, dtype=np.float32)
        with self._use.shared as handle, query._use.shared as query_handle:
            coded = (n, address(codes), codes.nbytes, self._work_options())
            check(lib.polar_codec_score(handle, query_handle, *coded, address(scores)))
        return scores

    def score_codes(
        self,
        a: CodesLike,
        b: CodesLike | None = None,
        na: int | None = None,
        nb: int | None = None,
    ) -> Floats:
        """Scores between every row of a, (na, code_size), and every row of b, (nb, code_size), by
        default a: float32, (na, nb).

        na, nb: numbers of rows; needed for "…g128" alone.
        """
        first, na = self._as_coded(a, na)
        second, nb = (first, na) if b is None else self._as_coded(b, nb)
        scores = np.empty((na, nb), dtype=np.float32)
        self._read(
            lib.polar_codec_score_codes,
            *(na, address(first), first.nbytes),
            *(nb, address(second), second.nbytes),
            self._work_options(),
            address(scores),
        )
        return scores

    def search(
        self,
        queries: npt.ArrayLike,
        codes: CodesLike,
        k: int,
        n: int | None = None,
        *,
        filter: FilterLike = None,
        exactness: float | None = None,
        num_threads: int = 0,
        progress: ProgressLike = None,
    ) -> tuple[Floats, Ids]:
        """The k best coded rows for each query: scores, float32, and row positions, int64.

        queries: (nq, dim), results (nq, k); or (dim,), results (k,). codes: (n, code_size), or
        (bytes,) with their number n. Best first, ties by lower row;
        where there are fewer than k rows, id −1 with score −inf (L2: +inf).
        filter: rows that may be returned, see `polarquant.filters`.
        exactness: how surely rows are left out unscored, 0 to infinity, which scores every row;
        None is the library's default. docs/search.md has the rest.
        num_threads: 0 to 1024; 0 is the codec's.
        progress: True for a bar, or a function that hears the share done and stops by False.
        Raises BadArgumentError, NotTrainedError, CancelledError; Ctrl-C ends a long search.
        """
        array, rows = self._as_coded(codes, n)
        with self._use.shared as handle:
            where, size = address(array), array.nbytes

            def function(nq: int, q: int, k: int, options: Any, scores: int, ids: int) -> int:
                status: int = lib.polar_codec_search(
                    handle, nq, q, rows, where, size, k, options, scores, ids
                )
                return status

            asked = (filter, exactness, num_threads or self._num_threads, progress)
            return run_search(function, self._use, queries, self._dim, k, rows, *asked)

    def range_search(
        self,
        queries: npt.ArrayLike,
        codes: CodesLike,
        radius: float,
        n: int | None = None,
        *,
        filter: FilterLike = None,
        exactness: float | None = None,
        num_threads: int = 0,
        progress: ProgressLike = None,
    ) -> tuple[Ids, Floats, Ids]:
        """All coded rows within a radius of each query: score > radius, for L2 squared distance <
        radius.

        queries: (nq, dim), or (dim,) for one. Returns lims, (nq + 1,), scores and row positions of all
        queries together: those of query q are lims[q] to lims[q + 1] − 1, best first. Searches twice, the
        first time to count. codes, n, filter, exactness, num_threads, progress, and what is raised: as for `search`.
        """
        array, rows = self._as_coded(codes, n)
        options = make_search_options(exactness, num_threads or self._num_threads)
        with self._use.shared as handle:

            def function(nq: int, q: int, *arguments: Any) -> int:
                coded = (rows, address(array), array.nbytes)
                status: int = lib.polar_codec_range_search(handle, nq, q, *coded, *arguments)
                return status

            asked = (radius, rows, filter, options, progress)
            return run_range_search(function, self._use, queries, self._dim, *asked)

    def combine(self, weights: npt.ArrayLike, codes: CodesLike, n: int | None = None) -> Floats:
        """Σᵢ weights[i]·x̂ᵢ over coded rows, float32, without decoding them all.

        weights: (n,), the sum (dim,); or (nw, n), sums (nw, dim). codes: (n, code_size), or (bytes,)
        with n.
        Raises BadArgumentError for a shape, and for weights that are not finite.
        """
        array, n = self._as_coded(codes, n)
        given = as_floats("weights", weights)
        if not 1 <= given.ndim <= 2 or given.shape[-1] != n:
            raise BadArgumentError(
                f"weights: shape {given.shape} is not allowed; (nw, {n}) or ({n},)"
            )
        out = np.empty((*given.shape[:-1], self._dim), dtype=np.float32)
        nw = 1 if given.ndim == 1 else len(given)
        coded = (n, address(array), array.nbytes, nw, address(given), self._work_options())
        self._read(lib.polar_codec_combine, *coded, address(out))
        return out

    def save_state(self) -> bytes:
        """Everything that decides the bytes of codes. Keep it: codes cannot be read without."""
        with self._use.shared as handle:
            return read_state(handle)

    @classmethod
    def load_state(cls, state: CodesLike) -> Codec:
        """The codec of a saved state, bytes or uint8 of shape (bytes,); num_threads 0.

        Raises CorruptDataError, NewerFormatError.
        """
        data = as_codes("state", state)
        codec = cls._adopt(create(lib.polar_codec_load_state, address(data), data.nbytes))
        codec._read_shape()
        return codec

    def check_same_state(self, other: Codec) -> None:
        """Raises StateMismatchError, which names what differs, unless their codes mix."""
        with self._use.shared as handle, other._use.shared as other_handle:
            check(lib.polar_codec_check_same_state(handle, other_handle))

    def __reduce__(self) -> tuple[Any, ...]:
        return Codec.load_state, (self.save_state(),)

    def _as_coded(self, codes: CodesLike, n: int | None) -> tuple[Codes, int]:
        """Codes as one array, and their number of rows."""
        if n is None and self._group_rows > 1:
            raise BadArgumentError(
                f"n: None is not allowed where {self._group_rows} rows share a code; the number of rows"
            )
        array = as_codes("codes", codes)
        if n is None:
            return array, count_codes(array, self._code_size)
        n = as_int("n", n, 0, 2**63 - 1)
        wanted = self.encoded_bytes(n)
        if array.nbytes != wanted:
            raise BadArgumentError(f"codes: {array.nbytes} bytes; {n} rows have {wanted}")
        return array, n
