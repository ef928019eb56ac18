# SPDX-License-Identifier: MIT
"""A manifest that replaces an earlier one: which files of the earlier build go."""

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
from polarquant.distributed.rebuild import finish_build

DIM = 32


@needs_indexes
class RebuildTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "out"
        self.folder.mkdir()
        self.x = make_rows(300, DIM)
        self.index = polarquant.Index("Polar4", DIM, "l2")
        self.index.train(self.x)

    def built(self, folder, state, names):
        """Files in a folder, and their manifest."""
        entry = shards.write_state(self.index, f"{folder}/{state}")
        parts = zip(names, np.array_split(self.x, len(names)))
        made = [shards.build_shard([rows], entry, f"{folder}/{name}") for name, rows in parts]
        return finish_build(str(folder), entry, made)

    def test_files_that_the_new_manifest_does_not_name_go(self):
        self.built(self.folder, "state.polar", ["0.polar", "1.polar", "2.polar"])
        (self.folder / "notes.txt").write_text("of somebody else")
        self.built(self.folder, "state-2.polar", ["0.polar", "b.polar"])
        kept = {"manifest.json", "notes.txt", "state-2.polar", "0.polar", "b.polar"}
        self.assertEqual(set(os.listdir(self.folder)), kept)
        with polarquant.ShardedIndex.open(self.folder / "manifest.json") as sharded:
            scores, ids = sharded.search(self.x[:9], 1)
        np.testing.assert_array_equal(ids.ravel(), range(9))

    def test_files_elsewhere_stay(self):
        """Whatever a manifest names: files of other folders, folders, and the manifest itself."""
        self.built(self.folder, "state.polar", ["0.polar"])
        other = self.folder.parent / "other"
        other.mkdir()
        (self.folder / "below").mkdir()
        (self.folder / "a-folder").mkdir()
        places = [other / "far.polar", self.folder / "below/near.polar"]
        for path in (*places, self.folder / "a-folder/file", self.folder / "same.polar"):
            path.write_text("rows")
        place = self.folder / "manifest.json"
        content = json.loads(place.read_text())
        named = [
            "../other/far.polar",
            "below/near.polar",
            "a-folder",
            ".",
            "..",
            "",
            "manifest.json",
        ]
        named += [
            str(places[0]),
            "memory://bucket/x.polar",
            str(self.folder / "same.polar"),
            "none",
        ]
        content["shards"] = [{**content["shards"][0], "path": path} for path in named]
        content["rows"] *= len(named)
        place.write_text(json.dumps(content))
        self.built(self.folder, "state.polar", ["new.polar"])
        self.assertTrue(all(path.exists() for path in places))
        kept = {"manifest.json", "state.polar", "new.polar", "0.polar", "below", "a-folder"}
        self.assertEqual(set(os.listdir(self.folder)), kept)  # an absolute path of this folder went

    def test_a_manifest_that_cannot_be_read_removes_nothing(self):
        self.built(self.folder, "state.polar", ["0.polar"])
        for text in ("{", '{"format": "polarquant shards", "version": 2}'):
            (self.folder / "manifest.json").write_text(text)
            self.built(self.folder, "state.polar", ["1.polar"])
            self.assertTrue((self.folder / "0.polar").exists())

    def test_a_build_that_fails_removes_nothing(self):
        self.built(self.folder, "state.polar", ["0.polar"])
        lost = polarquant.manifest.Shard("none.polar", 3, 100, "0" * 16)
        with self.assertRaises(polarquant.PolarError):
            finish_build(str(self.folder), lost, [])
        polarquant.ShardedIndex.open(self.folder / "manifest.json").close()

    @needs("fsspec")
    def test_places_behind_urls(self):
        system = importlib.import_module("fsspec").filesystem("memory")
        place = "memory://polar-rebuild-test"
        self.built(place, "state.polar", ["0.polar", "1.polar"])
        self.built(place, "state.polar", ["1.polar"])
        names = sorted(os.path.basename(path) for path in system.ls(place, detail=False))
        self.assertEqual(names, ["1.polar", "manifest.json", "state.polar"])


if __name__ == "__main__":
    unittest.main()
