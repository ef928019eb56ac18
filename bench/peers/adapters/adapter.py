# SPDX-License-Identifier: MIT
"""What the runner asks of a library."""

import numpy as np


class Adapter:
    """An index for inner product, built once and searched with several settings.

    Constructors take (what, dim, threads): the part of the name after the colon, the dimensions of
    a vector, and the threads to build and search with. They refuse what they do not know.
    """

    is_ours = False
    #: Names of the search parameters that `set_params` knows.
    params = ()
    #: Whether `build` can train on a part of the base.
    trains_on_part = False

    def library(self):
        """Name and version, as on PyPI."""
        raise NotImplementedError

    def build(self, base):
        """Trains on base, (n, dim) float32, and adds it; row i gets id i. With `trains_on_part` it trains on
        `training_rows(base)`."""
        raise NotImplementedError

    def limit_training(self, rows):
        """Called before `build` where it is to train on so many rows of the base."""
        if not self.trains_on_part:
            raise ValueError(f"{self.what}: its library trains on all rows that it is given")
        self._train_rows = rows

    def training_rows(self, base):
        """Those of the base to train on: all, or as many as were asked for, drawn at random but always the
        same, in their order."""
        if self._train_rows is None or self._train_rows >= len(base):
            return base
        drawn = np.random.default_rng(0).choice(len(base), self._train_rows, replace=False)
        return base[np.sort(drawn)]

    def prepare_changes(self):
        """Called before `build` where rows will be upserted and removed by their ids."""
        raise ValueError(f"{self.what}: rows cannot be changed by their ids")

    def upsert(self, ids, x):
        """Puts x, (n, dim), in the place of rows with these ids, (n,), or adds them."""
        raise NotImplementedError

    def remove(self, ids):
        """Removes the rows with these ids, (n,), which are there."""
        raise NotImplementedError

    def stored_bytes(self):
        """Size of the built index as the library writes it; None where it writes none."""
        return None

    def bytes_per_vector(self, base):
        """(bytes that one more vector costs, how that was found).

        Here: the size of the whole index less that of one over half of the rows, so that what is
        stored once (centroids, codebooks, rotations) drops out.
        """
        half = len(base) // 2
        smaller = type(self)(self.what, self.dim, self.threads)
        smaller.build(base[:half])
        growth = (self.stored_bytes() - smaller.stored_bytes()) / (len(base) - half)
        return growth, "growth of the file from half of the rows to all"

    def set_params(self, **params):
        """Search parameters of the next searches."""
        if params:
            raise ValueError(f"{sorted(params)} (allowed: none)")

    def search(self, queries, k, filter=None):
        """Ids of the k nearest, (nq, k), best first; −1 where there is none. Libraries without
        filters need not take one."""
        raise NotImplementedError

    def make_filter(self, allowed):
        """What `search` takes as a filter, for one search; allowed, (n,) bool, says which ids."""
        raise ValueError(f"{self.what}: has no filters")

    def keep_filter(self, allowed):
        """The same for many searches."""
        return self.make_filter(allowed)

    def __init__(self, what, dim, threads):
        self.what = what
        self.dim = dim
        self.threads = threads
        self._train_rows = None

    def refuse(self, allowed):
        raise ValueError(f"{self.what} (allowed: {allowed})")


class GrowingAdapter(Adapter):
    """One that is trained first, so that its size without rows is known."""

    trains_on_part = True
    _size_without_rows = None

    def bytes_per_vector(self, base):
        growth = (self.stored_bytes() - self._size_without_rows) / len(base)
        return growth, "growth of what the library writes, from no rows to all"
