# SPDX-License-Identifier: MIT
"""What is compared: our codes, and those of other libraries that are installed.

A contender is named LIBRARY:CODE, as polar:Polar2, faiss:SQ8 and turbovec:4; cuda:Polar2 is searched
on a GPU. Another library is a class with the same three methods and a row in a table.
"""

from __future__ import annotations

import importlib.util
import os
from typing import Callable, NamedTuple, Protocol

import numpy as np

from polarquant._arrays import Floats, Ids
from polarquant.command.failure import CommandError, import_for
from polarquant.index import Index
from polarquant.metric import Metric


class Contender(Protocol):
    """An index of one code. Vectors come normalized where the metric is cosine."""

    def build(self, train: Floats, base: Floats) -> None:
        """Trains on one part, (n, dim), and stores the other."""

    def bytes_per_vector(self) -> float:
        """Of a stored vector, with what belongs to it alone; without its id."""

    def search(self, queries: Floats, k: int) -> Ids:
        """Rows found, (nq, k)."""


class Setting(NamedTuple):
    """What holds for all contenders of a comparison."""

    dim: int
    metric: Metric
    #: Of searches; 0: all processors. Building takes all.
    threads: int
    #: The number of the CUDA device that searches what is named for one.
    device: int = 0


class _Polar:
    def __init__(self, code: str, setting: Setting) -> None:
        self._index = Index(code, setting.dim, setting.metric)
        self._threads = setting.threads

    def build(self, train: Floats, base: Floats) -> None:
        self._index.train(train)
        self._index.add(base)

    def bytes_per_vector(self) -> float:
        return float(self._index.code_size)

    def search(self, queries: Floats, k: int) -> Ids:
        return self._index.search(queries, k, num_threads=self._threads)[1]


class _PolarOnCuda(_Polar):
    """Built by the CPU, and searched on a device, from NumPy arrays to NumPy arrays."""

    def __init__(self, code: str, setting: Setting) -> None:
        super().__init__(code, setting)
        self._device = setting.device

    def build(self, train: Floats, base: Floats) -> None:
        super().build(train, base)
        self._on_device = self._index.to_cuda(self._device)

    def search(self, queries: Floats, k: int) -> Ids:
        found: Ids = self._on_device.search(queries, k, num_threads=self._threads)[1]
        return found


class _Faiss:
    def __init__(self, code: str, setting: Setting) -> None:
        # Read when its OpenMP begins: training PQ is thousands of tiny parallel loops, between which
        # threads that spin make a busy machine crawl.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        self._faiss = faiss = import_for("faiss", "faiss-cpu", f"faiss:{code}")
        self._threads = setting.threads or len(os.sched_getaffinity(0))
        is_l2 = setting.metric == Metric.L2
        metric = faiss.METRIC_L2 if is_l2 else faiss.METRIC_INNER_PRODUCT
        self._index = faiss.index_factory(setting.dim, code, metric)
        if hasattr(self._index, "pq"):
            # It warns of fewer rows than it likes once for each of its parts.
            self._index.pq.cp.min_points_per_centroid = 1

    def build(self, train: Floats, base: Floats) -> None:
        self._faiss.omp_set_num_threads(len(os.sched_getaffinity(0)))
        self._index.train(train)
        self._index.add(base)

    def bytes_per_vector(self) -> float:
        return float(self._index.sa_code_size())

    def search(self, queries: Floats, k: int) -> Ids:
        self._faiss.omp_set_num_threads(self._threads)
        found: Ids = self._index.search(queries, k)[1]
        return found


class _Turbovec:
    #: What its documentation calls enough.
    _CALIBRATION_ROWS = 1024

    def __init__(self, code: str, setting: Setting) -> None:
        bits, _, extra = code.partition("+")
        if not bits.isdigit() or extra not in ("", "calibrated"):
            raise CommandError(f"turbovec:{code}: BITS or BITS+calibrated is allowed")
        if setting.metric == Metric.L2:
            raise CommandError("turbovec: searches by inner product alone, not by l2")
        if setting.threads:
            # Read when its pool of threads begins.
            os.environ["RAYON_NUM_THREADS"] = str(setting.threads)
        turbovec = import_for("turbovec", "turbovec", f"turbovec:{code}")
        self._index = turbovec.TurboQuantIndex(dim=setting.dim, bit_width=int(bits))
        self._is_calibrated = bool(extra)

    def build(self, train: Floats, base: Floats) -> None:
        if self._is_calibrated:
            self._index.calibrate(train[: self._CALIBRATION_ROWS])
        half = len(base) // 2
        self._index.add(base[:half])
        size = len(self._index.to_bytes())
        self._index.add(base[half:])
        # The growth of its file: what is stored once stays out.
        self._bytes = (len(self._index.to_bytes()) - size) / (len(base) - half)
        self._index.prepare()

    def bytes_per_vector(self) -> float:
        return float(self._bytes)

    def search(self, queries: Floats, k: int) -> Ids:
        return np.asarray(self._index.search(queries, k)[1]).astype(np.int64)


def _polar_codes(dim: int) -> list[str]:
    plain = ["0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4", "5", "8"]
    trained = ["1", "2", "3", "4"] if dim > 64 else []
    published = ["PolarPair4x4", "PolarScalar4", "PolarTree4.2.2.2"]
    return [
        *(f"Polar{bits}" for bits in plain),
        *(f"Polar{bits}-pca" for bits in trained),
        *published,
    ]


def _cuda_codes(dim: int) -> list[str]:
    # Published codecs are not searched on devices.
    return [code for code in _polar_codes(dim) if code[len("Polar")].isdigit()]


def _faiss_codes(dim: int) -> list[str]:
    # "np": without an order of PQ's codes that takes minutes to learn and that searches do not use.
    # RaBitQ's analysis asks for a random rotation, and FAISS leaves that to its user; it helps on
    # some data and harms on other, so both stand here.
    product = [f"PQ{dim // part}x8np" for part in (8, 4) if dim % part == 0]
    rabitq = [f"{first}RaBitQ{bits}" for bits in ("", "2", "4") for first in ("", "RR,")]
    return [*product, *rabitq, "SQ4", "SQ8", "Flat"]


def _turbovec_codes(dim: int) -> list[str]:
    return ["2", "2+calibrated", "4", "4+calibrated"]


class Library(NamedTuple):
    """A library whose codes are compared."""

    #: For people.
    name: str
    #: The module that must be installed; "" for none.
    module: str
    make: Callable[[str, Setting], Contender]
    #: Codes that are compared where none are named.
    codes: Callable[[int], list[str]]


LIBRARIES = {
    "polar": Library("polarquant", "", _Polar, _polar_codes),
    "cuda": Library("polarquant", "", _PolarOnCuda, _cuda_codes),
    "faiss": Library("FAISS", "faiss", _Faiss, _faiss_codes),
    "turbovec": Library("turbovec", "turbovec", _Turbovec, _turbovec_codes),
}


class Named(NamedTuple):
    """A contender that is yet to be made."""

    library: str
    code: str

    @property
    def is_ours(self) -> bool:
        """Whether it is a code of polarquant's."""
        return self.library in ("polar", "cuda")

    @property
    def is_on_device(self) -> bool:
        """Whether a GPU searches it."""
        return self.library == "cuda"

    @property
    def label(self) -> str:
        """Its name for people."""
        if self.is_on_device:
            return f"{self.code} on CUDA"
        return self.code if self.is_ours else f"{LIBRARIES[self.library].name} {self.code}"

    def make(self, setting: Setting) -> Contender:
        """An empty index of it."""
        return LIBRARIES[self.library].make(self.code, setting)


def default_contenders(dim: int) -> tuple[list[Named], list[str]]:
    """Those that the CPU searches, of the libraries that are installed, and the names of the libraries
    that are not."""
    named, missing = [], []
    for key, library in LIBRARIES.items():
        if key == "cuda":
            continue
        if library.module and importlib.util.find_spec(library.module) is None:
            missing.append(library.name)
        else:
            named += [Named(key, code) for code in library.codes(dim)]
    return named, missing


def device_contenders(dim: int) -> list[Named]:
    """Those that a GPU searches."""
    return [Named("cuda", code) for code in LIBRARIES["cuda"].codes(dim)]


def parse_contenders(text: str, default: str = "polar") -> list[Named]:
    """Names parted by ";"; one without a library is of the default one."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        library, colon, code = part.partition(":")
        if not colon:
            library, code = default, part
        if library not in LIBRARIES or not code:
            allowed = ", ".join(f"{key}:CODE" for key in LIBRARIES)
            raise CommandError(f"{part!r}: no contender; {allowed} are allowed")
        found.append(Named(library, code))
    if not found:
        raise CommandError("no contenders are named")
    return found
