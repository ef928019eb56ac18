# SPDX-License-Identifier: MIT
"""One class for each library that is compared: build, bytes a vector, and search calls to time.

A contender is named KIND:WHAT, as in polar:Polar2, turbovec:4, turbovec:4+calibrated and
faiss:RaBitQfs4, where WHAT is one of our descriptions, bits, or a FAISS factory string.
"""
import re

import numpy as np

CALIBRATION_ROWS = 1024  # what turbovec's documentation calls enough
CALIBRATION_SEED = 1


class Contender:
    """calls() gives a function and the arguments of its calls, so that timing adds next to nothing."""

    name = None
    bits = None      # nominal bits a dimension, for ratios; None: no ratio
    is_ours = False

    def build(self, base):
        raise NotImplementedError

    def bytes_per_vector(self):
        raise NotImplementedError

    def settings(self):
        """What decides the result beside the name."""
        return {}

    def calls(self, blocks, k):
        """One call for each block of queries, (rows, dim)."""
        raise NotImplementedError

    def search(self, blocks, k):
        """The ids found, (queries, k)."""
        raise NotImplementedError


class BufferContender(Contender):
    """A library that writes scores and ids into arrays of the caller."""

    def call(self, queries, k, scores, ids):
        raise NotImplementedError

    def calls(self, blocks, k):
        self._blocks = blocks  # the calls hold bare addresses
        self._buffers = [(np.empty((len(b), k), np.float32), np.empty((len(b), k), np.int64))
                         for b in blocks]
        pairs = [self.call(b, k, *buffers) for b, buffers in zip(blocks, self._buffers)]
        return pairs[0][0], [arguments for _, arguments in pairs]

    def search(self, blocks, k):
        function, calls = self.calls(blocks, k)
        for arguments in calls:
            function(*arguments)
        return np.concatenate([ids for _, ids in self._buffers])


class Polar(BufferContender):
    is_ours = True

    def __init__(self, library, description, dim):
        self.name = description
        match = re.match(r"Polar(\d+(?:\.\d+)?)(?:\+(\d+))?", description)
        self.bits = float(match[1]) + float(match[2] or 0) if match else None
        self._index = library.index(description, dim)

    def build(self, base):
        self._index.train(base)
        self._index.add(base)

    def bytes_per_vector(self):
        return float(self._index.code_size())

    def call(self, queries, k, scores, ids):
        return self._index.search_call(queries, k, scores, ids)


class Turbovec(Contender):
    def __init__(self, turbovec, what, dim):
        bits, _, extra = what.partition("+")
        if extra not in ("", "calibrated"):
            raise ValueError(f"turbovec:{what} (allowed: BITS or BITS+calibrated)")
        self.name = f"turbovec {bits}" + (" calibrated" if extra else "")
        self.bits = float(bits)
        self._calibrate = bool(extra)
        self._index = turbovec.TurboQuantIndex(dim=dim, bit_width=int(bits))

    def build(self, base):
        if self._calibrate:
            order = np.random.default_rng(CALIBRATION_SEED).permutation(len(base))
            self._index.calibrate(base[order[:CALIBRATION_ROWS]])
        half = len(base) // 2
        self._index.add(base[:half])
        half_bytes = len(self._index.to_bytes())
        self._index.add(base[half:])
        # The growth of its file: what is stored once stays out.
        self._bytes = (len(self._index.to_bytes()) - half_bytes) / (len(base) - half)
        self._index.prepare()

    def bytes_per_vector(self):
        return self._bytes

    def settings(self):
        return {"calibration_rows": CALIBRATION_ROWS if self._calibrate else 0}

    def calls(self, blocks, k):
        return self._index.search, [(block, k) for block in blocks]

    def search(self, blocks, k):
        return np.concatenate([self._index.search(block, k)[1] for block in blocks])


class Faiss(BufferContender):
    def __init__(self, faiss, factory, dim):
        self.name = f"FAISS {factory}"
        self.bits = faiss_bits(factory, dim)
        self._faiss = faiss
        self._index = faiss.index_factory(dim, factory, faiss.METRIC_INNER_PRODUCT)

    def build(self, base):
        self._index.train(base)
        self._index.add(base)

    def bytes_per_vector(self):
        return float(self._index.sa_code_size())

    def call(self, queries, k, scores, ids):
        # search() checks and converts its arguments each time; search_c is what it then calls.
        pointers = [self._faiss.swig_ptr(array) for array in (queries, scores, ids)]
        return self._index.search_c, (len(queries), pointers[0], k, pointers[1], pointers[2])


def faiss_bits(factory, dim):
    """Nominal bits a dimension of the last part of a factory string, None where not known."""
    code = factory.split(",")[-1]
    if code == "Flat":
        return 32.0
    if match := re.fullmatch(r"RaBitQ(?:fs)?(\d*)(?:_\d+)?", code):
        return float(match[1] or 1)
    if match := re.fullmatch(r"SQ(\d+)", code):
        return float(match[1])
    if match := re.fullmatch(r"PQ(\d+)x(\d+).*", code):
        return int(match[1]) * int(match[2]) / dim
    return None


def default_contenders(dim):
    """Ours, then rivals of 2 and 4 bits a dimension, then exact search.

    RaBitQ's analysis wants a random rotation first and FAISS leaves that to the caller; it helps on
    some data and harms on other, so both stand here.
    """
    names = ["polar:Polar2", "polar:Polar4"]
    for bits in (2, 4):
        names += [f"turbovec:{bits}", f"turbovec:{bits}+calibrated", f"faiss:RaBitQfs{bits}",
                  f"faiss:RR,RaBitQfs{bits}", f"faiss:PQ{dim * bits // 4}x4fs"]
    return names + ["faiss:Flat"]


def make_contender(name, dim, modules):
    """modules: {kind: the imported module or library, or the exception that importing it raised}."""
    kind, _, what = name.partition(":")
    classes = {"polar": Polar, "turbovec": Turbovec, "faiss": Faiss}
    if kind not in classes or not what:
        raise ValueError(f"{name} (allowed: polar:DESCRIPTION, turbovec:BITS, faiss:FACTORY)")
    module = modules[kind]
    if isinstance(module, Exception):
        raise module
    return classes[kind](module, what, dim)
