# SPDX-License-Identifier: MIT
"""Files of vectors, and polar convert."""

import importlib
import os
import pathlib
import struct
import unittest
import unittest.mock

import numpy as np
from command_support import CommandTest, needs
from support import make_rows

from polarquant.command import vectors as vectors_module
import polarquant
from polarquant.command.failure import CommandError
from polarquant.command.vector_files import open_vectors


class VectorFilesTest(CommandTest):
    def check_formats(self, *names):
        x, source = self.rows(1000, 17)
        for name in names:
            with self.subTest(name):
                _, said = self.polar("convert", source, self.path(name))
                self.assertIn("1000 vectors of 17 dimensions", said)
                vectors = open_vectors(self.path(name))
                self.assertEqual((vectors.count, vectors.dim), (1000, 17))
                expected = x.astype(np.float16) if "f16" in name else x
                np.testing.assert_array_equal(vectors.rows(), expected)
                np.testing.assert_array_equal(vectors.rows(313, 701), expected[313:701])
                some = np.array([0, 4, 511, 512, 999])
                np.testing.assert_array_equal(vectors.take(some), expected[some])
                with unittest.mock.patch.object(vectors_module, "BLOCK_BYTES", 17 * 4 * 300):
                    blocks = list(vectors.blocks())
                    np.testing.assert_array_equal(vectors.take(some), expected[some])
                self.assertEqual([first for first, _ in blocks], [0, 300, 600, 900])
                np.testing.assert_array_equal(np.concatenate([b for _, b in blocks]), expected)
                self.polar("convert", self.path(name), self.path("back.npy"))
                np.testing.assert_array_equal(np.load(self.path("back.npy")), expected)

    def test_plain_formats(self):
        self.check_formats("x.npy", "x.fvecs", "x.fbin", "x.f16bin")

    def test_formats_of_bytes(self):
        x = np.random.default_rng(1).integers(0, 256, (50, 9), dtype=np.uint8)
        dims = np.full((50, 1), 9, "<i4").view(np.uint8)
        data = {
            "x.bvecs": np.hstack([dims, x]).tobytes(),
            "x.u8bin": struct.pack("<II", 50, 9) + x.tobytes(),
            "x.i8bin": struct.pack("<II", 50, 9) + x.tobytes(),
        }
        for name, written in data.items():
            pathlib.Path(self.path(name)).write_bytes(written)
            expected = x.view(np.int8) if "i8bin" in name else x
            with self.subTest(name):
                vectors = open_vectors(self.path(name))
                np.testing.assert_array_equal(vectors.rows(), expected)
                np.testing.assert_array_equal(vectors.take(np.array([3, 49])), expected[[3, 49]])
                self.polar("convert", self.path(name), self.path("back.fvecs"))
                back = open_vectors(self.path("back.fvecs")).rows()
                np.testing.assert_array_equal(back, expected)
                self.assert_refused(
                    "is not written", "convert", self.path(name), self.path("y.u8bin")
                )
        rows = bytearray(data["x.bvecs"])
        rows[13 * 7] = 8
        pathlib.Path(self.path("x.bvecs")).write_bytes(rows)
        self.assert_refused("row 7 has 8", "convert", self.path("x.bvecs"), self.path("y.npy"))

    @needs("h5py")
    def test_hdf5(self):
        self.check_formats("x.hdf5", "x.h5")
        h5py = importlib.import_module("h5py")
        path = self.path("several.hdf5")
        with h5py.File(path, "w") as file:
            file["train"], file["test"] = make_rows(30, 8), make_rows(5, 8)
            file["neighbors"] = np.zeros((5, 3), np.int32)
        self.assertEqual(open_vectors(path).count, 30)
        self.assertEqual(open_vectors(path, "test").count, 5)
        self.assertEqual(open_vectors(path, prefer=("test",)).count, 5)
        self.assert_refused("'neighbors', 'test', 'train'", "info", path, "--dataset", "best")

    @needs("pyarrow")
    def test_parquet(self):
        self.check_formats("x.parquet")
        pyarrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
        path = self.path("several.parquet")
        x = make_rows(10, 4)
        table = {"id": list(range(10)), "a": x.tolist(), "b": (2 * x).tolist()}
        parquet.write_table(pyarrow.table(table), path, row_group_size=3)
        np.testing.assert_array_equal(open_vectors(path, "b").rows(2, 9), 2 * x[2:9])
        self.assert_refused("'a', 'b'", "info", path)
        for name, lists, text in [
            ("null", [[1.0, 2.0], None], "empty in row 1"),
            ("hole", [[1.0, None], [1.0, 2.0]], "empty place in row 0"),
            ("short", [[1.0, 2.0], [1.0], [1.0, 2.0, 3.0]], "1 numbers in row 1"),
            ("none", [], "no rows"),
        ]:
            column = pyarrow.array(lists, pyarrow.list_(pyarrow.float32()))
            parquet.write_table(pyarrow.table({"a": column}), path)
            with self.subTest(name):
                self.assert_refused(text, "convert", path, self.path("x.npy"))

    @needs("pyarrow")
    def test_arrow_files_and_columns_of_ids(self):
        pyarrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
        x = make_rows(10, 4)
        lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(x.ravel()), 4)
        ids = [7 * i + 3 for i in range(10)]
        table = pyarrow.table({"vector": lists, "id": ids, "name": [str(i) for i in ids]})
        with pyarrow.ipc.new_file(self.path("x.arrow"), table.schema) as writer:
            writer.write_table(table, max_chunksize=3)
        parquet.write_table(table, self.path("x.parquet"), row_group_size=4)
        for name in ("x.arrow", "x.parquet"):
            with self.subTest(name):
                vectors = open_vectors(self.path(name))
                np.testing.assert_array_equal(vectors.rows(2, 9), x[2:9])
                self.assertEqual(vectors.ids("id").rows(2, 9).tolist(), ids[2:9])
                with self.assertRaisesRegex(CommandError, "no column of integers 'name'"):
                    vectors.ids("name")
        table = table.set_column(1, "id", pyarrow.array([*ids[:6], None, *ids[7:]]))
        parquet.write_table(table, self.path("x.parquet"), row_group_size=4)
        with self.assertRaisesRegex(polarquant.BadArgumentError, "'id' is empty in row 6"):
            open_vectors(self.path("x.parquet")).ids("id").rows(0, 10)
        with self.assertRaisesRegex(CommandError, "no columns"):
            open_vectors(self.rows(5, 3)[1]).ids("id")

    def test_a_missing_library_is_named(self):
        for name, module in (("x.hdf5", "h5py"), ("x.parquet", "pyarrow")):
            _, source = self.rows(5, 3)
            open(self.path(name), "wb").close()
            with unittest.mock.patch.dict("sys.modules", {module: None}):
                self.assert_refused(f"pip install {module}", "info", self.path(name))
                os.unlink(self.path(name))
                self.assert_refused(f"pip install {module}", "convert", source, self.path(name))
            self.assertFalse(os.path.exists(self.path(name)))

    def test_types_and_rows(self):
        x, source = self.rows(100, 6)
        target = self.path("x.npy")
        self.polar("convert", source, target, "--dtype", "float16", "--rows", "40")
        self.assertEqual((np.load(target).shape, np.load(target).dtype), ((40, 6), np.float16))
        self.polar("convert", target, self.path("y.npy"))
        self.assertEqual(np.load(self.path("y.npy")).dtype, np.float16)
        np.save(source, np.arange(12).reshape(3, 4))
        np.testing.assert_array_equal(
            open_vectors(source).rows(1, 3), [[4, 5, 6, 7], [8, 9, 10, 11]]
        )
        x[7, 1] = 1e6
        np.save(source, x)
        self.assert_refused("do not fit float16", "convert", source, target, "--dtype", "float16")
        self.assertEqual(np.load(target).shape, (40, 6))
        self.assertEqual(sorted(os.listdir(self.folder)), ["rows.npy", "x.npy", "y.npy"])

    def test_damaged_files_are_refused(self):
        _, source = self.rows(10, 4)
        row = struct.pack("<i4f", 4, 1, 2, 3, 4)
        cases = {
            "a.npy": (b"", "cannot be read as .npy"),
            "b.npy": (pathlib.Path(source).read_bytes()[:-8], "cannot be read as .npy"),
            "c.fvecs": (b"", "is empty"),
            "d.fvecs": (row[:-4], "is not .fvecs"),
            "e.fvecs": (row[:-1], "is not .fvecs: 19 bytes"),
            "f.fvecs": (row + struct.pack("<i4f", 3, 1, 2, 3, 4), "row 1 has 3 numbers"),
            "g.fvecs": (struct.pack("<i", -1), "is not .fvecs"),
            "h.fbin": (struct.pack("<II2f", 2, 2, 1, 2), "2 rows of 2"),
            "i.fbin": (b"12", "0 rows of 0"),
            "m.bvecs": (struct.pack("<i4B", 4, 1, 2, 3, 4)[:-1], "is not .bvecs: 7 bytes"),
            "n.bvecs": (b"12", "is not .bvecs: 2 bytes"),
            "o.u8bin": (struct.pack("<II3B", 2, 2, 1, 2, 3), "2 rows of 2 u1"),
            "j.hdf5": (b"not HDF5", ""),
            "k.parquet": (b"not Parquet", ""),
            "l.txt": (b"1 2 3", "neither an index file"),
        }
        for name, (data, text) in cases.items():
            with open(self.path(name), "wb") as file:
                file.write(data)
            with self.subTest(name):
                kind = "convert" if text.startswith("row") else "info"
                more = [self.path("out.npy")] if kind == "convert" else []
                self.assert_refused(text, kind, self.path(name), *more)
        with open(source, "wb") as file:
            np.savez(file, first=np.zeros((3, 4), np.float32), second=np.zeros(2))
        for arguments in (("info", source), ("convert", source, self.path("out.npy"))):
            self.assert_refused("is an archive of arrays, .npz", *arguments)
        np.save(source, np.zeros(5, np.float32))
        with self.assertRaisesRegex(CommandError, r"\(rows, dim\)"):
            open_vectors(source)
        np.save(source, np.array([["a", "b"]]))
        with self.assertRaises(CommandError):
            open_vectors(source)
        np.save(source, make_rows(3, 4))
        self.assert_refused("'x'", "info", source, "--dataset", "x")
        self.assert_refused(".fvecs", "convert", source, self.path("out.txt"))


if __name__ == "__main__":
    unittest.main()
