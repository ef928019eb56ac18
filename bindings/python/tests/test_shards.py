# SPDX-License-Identifier: MIT
"""Shards and their manifest."""

import importlib
import json
import os
import pathlib
import tempfile
import unittest

import numpy as np
from command_support import needs
from support import make_rows, needs_indexes

import polarquant
from polarquant import shards

DIM = 48
N = 6000
PARTS = [(0, 1000), (1000, 1001), (1001, 4000), (4000, 4000), (4000, 6000)]


@needs_indexes
class ShardsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.x = make_rows(N, DIM)
        cls.ids = np.random.default_rng(1).permutation(3 * N)[:N]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def trained(self, description="IVF12,Polar4", metric="l2"):
        index = polarquant.Index(description, DIM, metric)
        index.train(self.x[:2000])
        return index

    def build(self, index, with_ids, place=None):
        """The manifest's path."""
        place = place or str(self.folder)
        state = shards.write_state(index, f"{place}/state.polar")
        entries = []
        for number, (first, end) in enumerate(PARTS):
            rows = self.x[first:end]
            batches = [(rows, self.ids[first:end])] if with_ids else [rows[:7], rows[7:]]
            entries.append(shards.build_shard(batches, state, f"{place}/{number}.polar"))
        shards.write_manifest(f"{place}/manifest.json", state, entries)
        return f"{place}/manifest.json"

    def test_answers_are_those_of_one_index(self):
        for description in ("IVF12,Polar4", "Polar2"):
            for with_ids in (False, True):
                with self.subTest(description, with_ids=with_ids):
                    index = self.trained(description)
                    sharded = polarquant.ShardedIndex.open(self.build(index, with_ids))
                    if with_ids:
                        index.add_with_ids(self.x, self.ids)
                    else:
                        index.add(self.x)
                    self.assertEqual((sharded.ntotal, sharded.share), (N, 1))
                    self.assertEqual(sharded.description, description)
                    for options in ({}, {"filter": range(500, 900)}, {"exactness": np.inf}):
                        for queries in (self.x[:1], self.x[:50]):
                            found = sharded.search(queries, 10, **options)
                            expected = index.search(queries, 10, **options)
                            np.testing.assert_array_equal(found[1], expected[1])
                            np.testing.assert_array_equal(found[0], expected[0])
                    radius = float(index.search(self.x[3:4], 20)[0][0, -1])
                    for found, expected in zip(
                        sharded.range_search(self.x[3:4], radius),
                        index.range_search(self.x[3:4], radius),
                    ):
                        np.testing.assert_array_equal(found, expected)
                    sharded.verify()
                    with self.assertRaises(polarquant.UnsupportedError):
                        sharded.remove_ids([1])
                    sharded.save(self.folder / "saved")
                    index.save(self.folder / "whole")
                    self.assertEqual(
                        (self.folder / "saved").read_bytes(), (self.folder / "whole").read_bytes()
                    )

    def test_some_shards(self):
        manifest = self.build(self.trained(), True)
        some = polarquant.ShardedIndex.open(manifest, shards=[2, 0])
        self.assertEqual(some.ntotal, 3999)
        self.assertAlmostEqual(some.share, 3999 / N)
        with self.assertRaisesRegex(polarquant.BadArgumentError, "5 is not there; 0 to 4"):
            polarquant.ShardedIndex.open(manifest, shards=[5])

    def test_what_is_wrong_is_named(self):
        manifest = self.build(self.trained(), True)
        path = self.folder / "2.polar"
        whole = path.read_bytes()

        def check(error, text):
            with self.assertRaisesRegex(error, text):
                polarquant.ShardedIndex.open(manifest)
            partial = polarquant.ShardedIndex.open(manifest, on_missing="partial")
            self.assertEqual((partial.ntotal, len(partial.missing)), (N - 2999, 1))
            self.assertEqual(partial.missing[0][0].path, "2.polar")
            self.assertIsInstance(partial.missing[0][1], error)
            self.assertAlmostEqual(partial.share, (N - 2999) / N)
            self.assertEqual(partial.search(self.x[:1], 3)[1][0, 0], self.ids[0])

        path.unlink()
        check(polarquant.InputOutputError, "2.polar: cannot be read")
        path.write_bytes(whole[: len(whole) // 2])
        check(polarquant.CorruptDataError, "2.polar: .* the manifest has")
        path.write_bytes(b"something else")
        check(polarquant.CorruptDataError, "2.polar: is no index file")
        # Of another state, with an entry that says so.
        other = polarquant.Index("IVF12,Polar4", DIM, "l2")
        other.train(self.x[100:3000])
        other_state = shards.write_state(other, self.folder / "other.polar")
        entry = shards.build_shard([(self.x[1001:4000], self.ids[1001:4000])], other_state, path)
        content = json.loads(pathlib.Path(manifest).read_text())
        content["shards"][2].update(bytes=entry.bytes, checksum=entry.checksum)
        pathlib.Path(manifest).write_text(json.dumps(content))
        check(polarquant.StateMismatchError, "2.polar")

    def test_damaged_rows_are_found_when_they_are_searched(self):
        manifest = self.build(self.trained(), False)
        path = self.folder / "2.polar"
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        sharded = polarquant.ShardedIndex.open(manifest)
        with self.assertRaisesRegex(polarquant.CorruptDataError, "checksum"):
            sharded.search(self.x, 3, nprobe=12)
        with self.assertRaises(polarquant.CorruptDataError):
            sharded.verify()

    def test_manifests_are_checked(self):
        manifest = pathlib.Path(self.build(self.trained(), False))
        content = json.loads(manifest.read_text())
        for change, error, text in (
            ({"format": "other"}, polarquant.CorruptDataError, "format"),
            ({"version": 2}, polarquant.NewerFormatError, "version 2"),
            ({"rows": 1}, polarquant.CorruptDataError, "says 1 rows"),
            ({"dim": "many"}, polarquant.CorruptDataError, "dim is 'many'"),
            ({"shards": 5}, polarquant.CorruptDataError, "entries"),
            ({"state": {}}, polarquant.CorruptDataError, "entries"),
        ):
            manifest.write_text(json.dumps({**content, **change}))
            with self.assertRaisesRegex(error, text):
                polarquant.ShardedIndex.open(manifest)
        manifest.write_text("no JSON")
        with self.assertRaisesRegex(polarquant.CorruptDataError, "is no manifest"):
            polarquant.ShardedIndex.open(manifest)
        with self.assertRaisesRegex(polarquant.NotFoundError, "none.json"):
            polarquant.ShardedIndex.open(self.folder / "none.json")
        with self.assertRaisesRegex(polarquant.BadArgumentError, "on_missing"):
            polarquant.ShardedIndex.open(manifest, on_missing="ignore")

    def test_the_same_batches_make_the_same_bytes(self):
        index = self.trained()
        state = shards.write_state(index, self.folder / "state.polar")
        one = shards.build_shard([self.x], state, self.folder / "one")
        two = shards.build_shard(
            [self.x[:10], self.x[10:]], state.path, self.folder / "two", memory_bytes=1 << 20
        )
        self.assertEqual((self.folder / "one").read_bytes(), (self.folder / "two").read_bytes())
        self.assertEqual((one.rows, one.checksum), (two.rows, two.checksum))
        self.assertIsNone(one.ids)
        index.add(self.x[:3])
        with self.assertRaisesRegex(polarquant.BadArgumentError, "holds 3 rows"):
            shards.write_state(index, self.folder / "full.polar")

    @needs("pyarrow")
    def test_batches_of_arrow(self):
        pyarrow = importlib.import_module("pyarrow")
        state = shards.write_state(self.trained(), self.folder / "state.polar")
        lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(self.x.ravel()), DIM)
        table = pyarrow.table({"vector": lists, "key": self.ids})
        batches = table.to_batches(max_chunksize=999)
        made = shards.build_shard(batches, state, self.folder / "a", id_column="key")
        pairs = shards.build_shard([(self.x, self.ids)], state, self.folder / "b")
        self.assertEqual((made.checksum, made.ids), (pairs.checksum, pairs.ids))
        self.assertEqual(made.ids, (self.ids.min(), self.ids.max()))
        made = shards.build_shard([table], state, self.folder / "c", id_column="key")
        self.assertEqual(made.checksum, pairs.checksum)
        listed = table.set_column(0, "vector", lists.cast(pyarrow.list_(pyarrow.float32())))
        made = shards.build_shard([listed], state, self.folder / "d", id_column="key")
        self.assertEqual(made.checksum, pairs.checksum)
        with self.assertRaisesRegex(polarquant.BadArgumentError, "'id' is not there; vector, key"):
            shards.build_shard(batches, state, self.folder / "e", id_column="id")
        rows = self.x[:10].tolist()
        rows[6] = None
        table = pyarrow.table({"vector": pyarrow.array(rows, pyarrow.list_(pyarrow.float32()))})
        with self.assertRaisesRegex(polarquant.BadArgumentError, "'vector' is empty in row 6"):
            shards.build_shard(table.to_batches(max_chunksize=4), state, self.folder / "f")

    @needs("fsspec")
    def test_places_behind_urls(self):
        fsspec = importlib.import_module("fsspec")
        place = "memory://polar-shards-test"
        manifest = self.build(self.trained(), True, place)
        content = json.loads(fsspec.filesystem("memory").cat_file(f"{place}/manifest.json"))
        self.assertEqual(content["shards"][1]["path"], "1.polar")
        # A shard without rows has the bytes of the state.
        checksums = {entry["checksum"] for entry in [content["state"], *content["shards"]]}
        cache = self.folder / "cache"
        for _ in range(2):
            sharded = polarquant.ShardedIndex.open(manifest, cache=cache)
            self.assertEqual(sharded.search(self.x[7:8], 1)[1][0, 0], self.ids[7])
        self.assertEqual(len(os.listdir(cache)), len(checksums))
        fsspec.filesystem("memory").rm_file(f"{place}/2.polar")
        with self.assertRaisesRegex(polarquant.InputOutputError, "2.polar"):
            polarquant.ShardedIndex.open(manifest)
        with self.assertRaisesRegex(polarquant.UnsupportedError, "nowhere://"):
            polarquant.ShardedIndex.open("nowhere://manifest.json")


if __name__ == "__main__":
    unittest.main()
