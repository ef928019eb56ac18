# SPDX-License-Identifier: MIT
"""Vectors in HDF5 files, which h5py reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from polarquant._arrays import Floats
from polarquant.command.failure import import_for
from polarquant.command.vectors import Shape, Vectors, choose_name

#: What is written where no name is given.
_HDF5_DATASET = "train"


class Hdf5Vectors(Vectors):
    """A dataset of two dimensions."""

    def __init__(self, path: str, file: Any, dataset: Any) -> None:
        super().__init__(path, dataset.shape[0], dataset.shape[1], str(dataset.dtype))
        self._file = file
        self._dataset = dataset

    def read(self, first: int, end: int) -> Floats:
        with np.errstate(over="ignore"):  # what does not fit is refused as not finite
            return np.asarray(self._dataset[first:end]).astype(np.float32)


def _open_hdf5_file(path: str) -> tuple[Any, dict[str, Any]]:
    """The file, and its datasets of vectors."""
    h5py = import_for("h5py", "h5py", f"{path}: HDF5")
    file = h5py.File(path, "r")
    found: dict[str, Any] = {}

    def look_at(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.ndim == 2 and item.dtype.kind in "fiu":
            found[name] = item

    file.visititems(look_at)
    return file, found


def has_hdf5_dataset(path: str, dataset: str) -> bool:
    """Whether a file has vectors of this name."""
    file, found = _open_hdf5_file(path)
    with file:
        return dataset in found


def open_hdf5(path: str, dataset: str, prefer: tuple[str, ...]) -> Vectors:
    file, found = _open_hdf5_file(path)
    name = choose_name(path, "dataset", dataset, list(found), prefer)
    return Hdf5Vectors(path, file, found[name])


def write_hdf5(path: str, shape: Shape, dataset: str, blocks: Iterator[Floats]) -> None:
    h5py = import_for("h5py", "h5py", "HDF5")
    with h5py.File(path, "w") as file:
        size = (shape.rows, shape.dim)
        made = file.create_dataset(dataset or _HDF5_DATASET, size, dtype=shape.dtype)
        done = 0
        for block in blocks:
            made[done : done + len(block)] = block
            done += len(block)
