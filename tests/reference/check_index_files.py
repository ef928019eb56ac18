# SPDX-License-Identifier: MIT
"""Reads index files by index_file.py and compares with what the library says of the same index.

Usage: check_index_files.py <path to libpolarquant.so>. For each index: the file's row codes against
the codec's own of the same rows, its ids, and each row decoded from the file's bytes alone (state,
cells, rotation) against polar_index_reconstruct.
"""

import ctypes
import os
import sys
import tempfile

import numpy as np

import fast_rotation
import golden_rows
import index_file
import library
import polar_trellis
from check_support import Report, gaussian, norms

SPECS = ("Polar0.5", "Polar1.5", "Polar2", "Polar3", "Polar4", "Polar5", "Polar8", "Polar2+2",
         "Polar4+2")
SIZES = ((7, 3), (64, 64), (100, 70), (300, 130))  # (dim, rows)
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
DECODE_BOUND = 2e-6  # of the row's norm


class Index:
    def __init__(self, lib, description, dim, metric):
        self.library, self.lib, self.dim = lib, lib.lib, dim
        self.handle = ctypes.c_void_p()
        self.call("polar_index_create", description.encode(), ctypes.c_int32(dim),
                  ctypes.c_int32(metric), ctypes.byref(self.handle))

    def call(self, name, *arguments):
        self.library.check(getattr(self.lib, name)(*arguments))

    def __del__(self):
        self.lib.polar_index_destroy(self.handle)

    def train(self, x):
        self.call("polar_index_train", self.handle, ctypes.c_int64(len(x)),
                  ctypes.c_void_p(x.ctypes.data), None)

    def add(self, x, ids):
        if ids is None:
            self.call("polar_index_add", self.handle, ctypes.c_int64(len(x)),
                      ctypes.c_void_p(x.ctypes.data), None)
        else:
            self.call("polar_index_add_with_ids", self.handle, ctypes.c_int64(len(x)),
                      ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(ids.ctypes.data), None)

    def save(self, path):
        self.call("polar_index_save", self.handle, path.encode(), None)

    def reconstruct(self, row_id):
        x = np.zeros(self.dim, np.float32)
        self.call("polar_index_reconstruct", self.handle, ctypes.c_int64(row_id),
                  ctypes.c_void_p(x.ctypes.data))
        return x


def decode(file):
    """The reconstructions of least error, from the file alone."""
    state, layout = file.state, file.layout
    stored = layout.factors(file.codes.reshape(-1), file.rows, state.metric == library.L2)
    centre = state.centre.astype(np.float64)
    units = polar_trellis.factor_units(layout, 2.0**state.unit_exponent, centre,
                                       state.metric == library.L2)
    rotation = fast_rotation.hadamard(state.dim, state.seed)
    directions = layout.directions(file.codes.reshape(-1), file.rows)
    scale = stored[:, :1] * units[0] * (1 - layout.error)
    return centre + scale * (directions @ rotation)


def saved_bytes(index):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "index")
        index.save(path)
        with open(path, "rb") as saved:
            return saved.read()


def check_saved(report, lib, codebooks, spec, dim, rows, metric, with_ids):
    rng = np.random.default_rng(dim)
    x = gaussian(rng, rows, dim) + np.float32(0.25)
    ids = rng.permutation(10 * rows)[:rows].astype(np.int64) if with_ids else None
    index = Index(lib, spec, dim, metric)
    index.train(x)
    index.add(x, ids)
    file = index_file.FlatIndex(saved_bytes(index), codebooks)
    state = file.state
    codec = lib.codec(spec, dim, metric, centre=state.centre, seed=state.seed,
                      norm_unit=2.0**state.unit_exponent)
    same_codes = np.array_equal(file.codes.reshape(-1), codec.encode(x))
    same_ids = np.array_equal(file.ids, np.arange(rows) if ids is None else ids)
    expected = np.array([index.reconstruct(int(i)) for i in file.ids], np.float64)
    off = float(np.max(norms(decode(file) - expected) / norms(expected)))
    ok = same_codes and same_ids and file.rows == rows and off <= DECODE_BOUND
    report.case(f"{spec} d={dim} n={rows} ids={with_ids}", ok and file.description == spec,
                f"codes {same_codes}, ids {same_ids}, decoded rows off by {off:.1e}")


def check_saved_floats(report, lib, codebooks):
    """An untrained index's first rows."""
    x = gaussian(np.random.default_rng(1), 40, 20)
    for ids in (None, np.arange(40, dtype=np.int64) * 7):
        index = Index(lib, "Polar2", 20, library.L2)
        index.add(x, ids)
        file = index_file.FlatIndex(saved_bytes(index), codebooks)
        same_ids = np.array_equal(file.ids, np.arange(40) if ids is None else ids)
        report.case(f"rows as floats, ids={ids is not None}",
                    np.array_equal(file.floats, x) and same_ids and not file.has_encoded,
                    f"{file.rows} rows")


def decode_lists(file):
    """As decode, each row about its list's centre."""
    state, layout = file.state, file.layout
    stored = layout.factors(file.codes.reshape(-1), file.rows, state.metric == library.L2)
    units = polar_trellis.factor_units(layout, 2.0**state.unit_exponent, np.zeros(file.dim),
                                       state.metric == library.L2)
    rotation = fast_rotation.hadamard(state.dim, state.seed)
    directions = layout.directions(file.codes.reshape(-1), file.rows)
    scale = stored[:, :1] * units[0] * (1 - layout.error)
    centres = file.centroids.astype(np.float64) * np.float64(file.centroid_scale)
    return centres[file.list_of_row] + scale * (directions @ rotation)


def check_inverted_file(report, lib, codebooks, spec, dim, rows, metric, with_ids):
    rng = np.random.default_rng(dim)
    x = gaussian(rng, rows, dim) + np.float32(0.25)
    ids = rng.permutation(10 * rows)[:rows].astype(np.int64) if with_ids else None
    index = Index(lib, "IVF5," + spec, dim, metric)
    index.call("polar_index_train", index.handle, ctypes.c_int64(rows),
               ctypes.c_void_p(x.ctypes.data), None)
    index.add(x, ids)
    file = index_file.InvertedFile(saved_bytes(index), codebooks)
    expected_ids = np.arange(rows) if ids is None else np.sort(ids)
    same_ids = np.array_equal(np.sort(file.ids), expected_ids)
    if with_ids:
        same_ids = same_ids and np.array_equal(file.keys, expected_ids)
    expected = np.array([index.reconstruct(int(i)) for i in file.ids], np.float64)
    off = float(np.max(norms(decode_lists(file) - expected) / norms(expected)))
    report.case(f"IVF5,{spec} d={dim} n={rows} ids={with_ids}",
                same_ids and file.rows == rows and off <= DECODE_BOUND,
                f"ids {same_ids}, decoded rows off by {off:.1e}")


def check_saved_nsg(report, lib, codebooks):
    dim, rows = 40, 200
    x = gaussian(np.random.default_rng(dim), rows, dim)
    index = Index(lib, "NSG16,Polar4", dim, library.L2)
    index.train(x)
    index.add(x, None)
    file = index_file.NsgIndex(saved_bytes(index), codebooks)
    state = file.state
    codec = lib.codec("Polar4", dim, library.L2, centre=state.centre, seed=state.seed,
                      norm_unit=2.0**state.unit_exponent)
    same_codes = np.array_equal(file.codes.reshape(-1), codec.encode(x))
    reached = file.reached()
    degree = max(len(links) for links in file.links)
    report.case("NSG16,Polar4", same_codes and reached == rows and degree <= file.numbers["R"] == 16,
                f"codes {same_codes}, {reached} of {rows} rows reached, up to {degree} links")


def golden(folder, name):
    with open(os.path.join(GOLDEN, folder, name + ".polarquant"), "rb") as file:
        return file.read()


def is_made_of(decoded, centres, layout, rows, seed=7):
    """Whether decoded rows, of the numbers rows, are near those of the golden files, and how near:
    the error's share of what was coded, x − c, and its bound."""
    x = golden_rows.clustered_rows(len(decoded), decoded.shape[1], seed).astype(np.float64)[rows]
    error = float(np.sum((decoded - x) ** 2) / np.sum((x - centres) ** 2))
    return error < 1.2 * layout.error, f"error {error:.2g} of {1.2 * layout.error:.2g}"


# Links of the golden graphs are made by a rule; see tests/faiss/stored_indexes.h.
STEPS = 2 ** np.arange(8)


def check_golden_flat(report, codebooks, folder):
    for name in ("polar2_ids", "polar4", "polar2+2", "empty"):
        file = index_file.FlatIndex(golden(folder, name), codebooks)
        near, text = True, "empty"
        if file.rows > 0:
            near, text = is_made_of(decode(file), file.state.centre, file.layout,
                                    np.arange(file.rows))
        report.case(f"golden {folder} {name}", near and len(file.codes) == file.rows,
                    f"{file.rows} rows, {text}")
    # Of an odd number of dimensions.
    file = index_file.FlatIndex(golden(folder, "polar8"), codebooks)
    report.case(f"golden {folder} polar8", len(file.codes) == file.rows == 20, f"{file.rows} rows")


def check_golden_graphs(report, codebooks, folder):
    file = index_file.NsgIndex(golden(folder, "nsg"), codebooks)
    right = all(np.array_equal(links, (row + STEPS[STEPS < file.rows]) % file.rows)
                for row, links in enumerate(file.links))
    near, text = is_made_of(decode(file), file.state.centre, file.layout, np.arange(file.rows))
    right = right and near and file.entry_point == 20 and file.numbers["search_L"] == 33
    report.case(f"golden {folder} nsg", right, f"{file.rows} rows, {text}")

    file = index_file.HnswIndex(golden(folder, "hnsw"), codebooks)
    right = file.rows == 40
    for row, levels in enumerate(file.links.by_row):
        right = right and len(levels) == (2 if row % 8 == 0 else 1)
        for links, capacity, stride in zip(levels, (8, 4), (1, 8)):
            steps = stride * STEPS[:capacity]
            right = right and np.array_equal(links, (row + steps[steps < file.rows]) % file.rows)
    near, text = is_made_of(decode(file), file.state.centre, file.layout, np.arange(file.rows))
    right = right and near
    right = right and (file.entry_point, file.entry_level, file.ef_search) == (0, 1, 33)
    report.case(f"golden {folder} hnsw", right, f"{file.rows} rows, {text}")


def check_golden_inverted_files(report, codebooks, folder):
    rows = 90
    scattered = (rows - np.arange(rows)) * 7 + 100_000_000_000
    for name, lists, ids in (("ivf", 5, np.arange(rows)), ("ivf_ids", 5, scattered),
                             ("ivf_hnsw", 9, np.arange(rows))):
        file = index_file.InvertedFile(golden(folder, name), codebooks)
        same_ids = np.array_equal(np.sort(file.ids), np.sort(ids))
        row_of_id = {int(row_id): row for row, row_id in enumerate(ids)}
        centres = (file.centroids * file.centroid_scale)[file.list_of_row]
        near, text = is_made_of(decode_lists(file), centres, file.layout,
                                [row_of_id[int(row_id)] for row_id in file.ids])
        made = golden_rows.clustered_rows(lists, file.dim, 3)
        same_lists = file.centroids.shape == made.shape and np.allclose(file.centroids, made,
                                                                        rtol=1e-6, atol=1e-6)
        report.case(f"golden {folder} {name}", near and same_ids and same_lists and file.nprobe == 3,
                    f"{file.rows} rows, ids {same_ids}, centroids {same_lists}, {text}")


def check_golden(report, codebooks):
    for folder in ("format1", "state4"):
        check_golden_flat(report, codebooks, folder)
        check_golden_graphs(report, codebooks, folder)
        check_golden_inverted_files(report, codebooks, folder)
    # Blocks of bytes are split in files of version 3: the codes are the same.
    for name, kind in (("polar8", index_file.FlatIndex), ("polar8_blocks", index_file.FlatIndex),
                       ("ivf_polar8", index_file.InvertedFile)):
        split, whole = (kind(golden(folder, name), codebooks) for folder in ("format3", "state4"))
        right = split.version == 3 and whole.version == 1
        report.case(f"golden format3 {name}", right and np.array_equal(split.codes, whole.codes),
                    f"{split.rows} rows")


def main():
    lib = library.Library(sys.argv[1])
    codebooks = polar_trellis.Codebooks()
    report = Report()
    for spec in SPECS:
        for number, (dim, rows) in enumerate(SIZES):
            check_saved(report, lib, codebooks, spec, dim, rows,
                        library.L2 if number % 2 else library.INNER_PRODUCT, number >= 2)
            if rows > 64:
                check_inverted_file(report, lib, codebooks, spec, dim, 3 * rows,
                                    library.L2 if number % 2 else library.INNER_PRODUCT, number > 2)
    check_saved_floats(report, lib, codebooks)
    check_saved_nsg(report, lib, codebooks)
    check_golden(report, codebooks)
    report.finish()


if __name__ == "__main__":
    main()
