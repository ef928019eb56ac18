# SPDX-License-Identifier: MIT
"""polar build --memory, and polar merge."""

import os
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock

import numpy as np
from command_support import CommandTest, needs
from support import needs_indexes

import polarquant
from polarquant.command import build_parts

_LIMIT = ["--memory", "512M"]


@needs_indexes
class BuildInPartsTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.x, self.source = self.rows(40_000, 32)
        self.command = ["build", self.source, self.path("a.polar"), "--index", "IVF16,Polar4"]
        # Parts of a few thousand rows.
        for name, value in (("_LEAST_PART_BYTES", 1 << 20), ("_PROGRAM_BYTES", 380 << 20)):
            patch = unittest.mock.patch.object(build_parts, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def bytes_of(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def whole_file(self, *more):
        self.polar("build", self.source, self.path("whole"), "--index", "IVF16,Polar4", *more)
        return self.bytes_of("whole")

    def test_it_has_the_same_bytes(self):
        np.save(self.path("ids.npy"), np.arange(40_000)[::-1] * 3)
        for more in ([], ["--ids", self.path("ids.npy"), "--verify"], ["--metric", "l2"]):
            _, said = self.polar(*self.command, *_LIMIT, *more)
            self.assertIn("40000 vectors of 32 dimensions as IVF16,Polar4", said)
            self.assertEqual(self.bytes_of("a.polar"), self.whole_file(*more))
            self.assertFalse(os.path.exists(self.path("a.polar.parts")))

    def test_a_stopped_build_goes_on(self):
        built = build_parts.IndexBuilder.add
        calls = []

        def stop(builder, rows, **options):
            if len(calls) == 2:
                raise KeyboardInterrupt
            calls.append(len(rows))
            built(builder, rows, **options)

        with unittest.mock.patch.object(build_parts.Vectors, "block_rows", 9000):
            with unittest.mock.patch.object(build_parts.IndexBuilder, "add", stop):
                _, said = self.polar(*self.command, *_LIMIT, code=130)
        self.assertIn("18,000 of 40,000 rows are in parts", said)
        self.assert_refused("build with other index", *self.command[:4], "Polar4", *_LIMIT)
        self.assert_refused("other metric", *self.command, *_LIMIT, "--metric", "l2")
        _, said = self.polar(*self.command, *_LIMIT)
        self.assertIn("goes on after row 18,000", said)
        self.assertEqual(self.bytes_of("a.polar"), self.whole_file())

    def test_a_killed_build_goes_on(self):
        command = [sys.executable, "-m", "polarquant", *self.command, *_LIMIT]
        for _ in range(3):
            build = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 30
            while not os.path.exists(self.path("a.polar.parts/build.json")):
                if build.poll() is not None or time.monotonic() > deadline:
                    break
                time.sleep(0.01)
            build.send_signal(signal.SIGKILL)
            build.wait()
        self.polar(*self.command, *_LIMIT)
        self.assertEqual(self.bytes_of("a.polar"), self.whole_file())

    def test_another_build_is_begun_anew(self):
        interrupt = unittest.mock.patch.object(
            build_parts.IndexBuilder, "finish", side_effect=KeyboardInterrupt
        )
        with interrupt:
            self.polar(*self.command, *_LIMIT, code=130)
        self.polar(*self.command, *_LIMIT, "--restart", "--metric", "l2")
        self.assertEqual(self.bytes_of("a.polar"), self.whole_file("--metric", "l2"))

    def test_what_it_refuses(self):
        self.assert_refused("512M and more", *self.command, "--memory", "511M", code=2)
        self.assert_refused("is no size", *self.command, "--memory", "much", code=2)
        self.assert_refused("--restart", *self.command, "--restart")
        self.assert_refused("in parts", *self.command[:4], "HNSW8,Polar4", *_LIMIT)
        with unittest.mock.patch.object(build_parts, "_PROGRAM_BYTES", 512 << 20):
            self.assert_refused("--memory: 512M is not enough", *self.command, *_LIMIT)

    def test_a_build_like_another_merges_with_it(self):
        self.polar(*self.command, "--metric", "l2")
        other, source = self.rows(9000, 32, seed=2, name="other.npy")
        for more in ([], _LIMIT):
            out = self.path("b.polar")
            _, said = self.polar("build", source, out, "--like", self.path("a.polar"), *more)
            self.assertIn("9000 vectors of 32 dimensions as IVF16,Polar4", said)
            self.polar("merge", self.path("a.polar"), out, "-o", self.path("all.polar"))
            with polarquant.Index.load(self.path("all.polar")) as index:
                self.assertEqual((index.ntotal, index.metric.name), (49_000, "L2"))
                self.assertEqual(index.search(other[5:6], 1, nprobe=16)[1][0, 0], 40_005)
        like = ["--like", self.path("a.polar")]
        self.assert_refused("place of --index", "build", source, out, *like, "--index", "Polar4")
        _, narrow = self.rows(10, 8, name="narrow.npy")
        self.assert_refused("vectors of 8", "build", narrow, out, *like)

    def test_a_manifest_is_searched(self):
        index = polarquant.Index("IVF16,Polar4", 32, "cosine")
        index.train(self.x)
        state = polarquant.shards.write_state(index, self.path("state"))
        made = [polarquant.shards.build_shard([self.x[:500]], state, self.path("shard"))]
        polarquant.shards.write_manifest(self.path("manifest.json"), state, made)
        np.save(self.path("query.npy"), self.x[7:8])
        out, _ = self.polar("search", self.path("manifest.json"), self.path("query.npy"), "-k", "1")
        self.assertIn("\t7\t", out)

    @needs("pyarrow")
    def test_ids_of_a_column(self):
        import pyarrow
        from pyarrow import parquet

        lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(self.x.ravel()), 32)
        ids = np.arange(40_000) * 11 + 1
        table = pyarrow.table({"vector": lists, "key": ids})
        parquet.write_table(table, self.path("x.parquet"), row_group_size=7000)
        source, out = self.path("x.parquet"), self.path("b.polar")
        command = ["build", source, out, "--index", "Polar4", "--id-column", "key"]
        self.polar(*command)
        whole = self.bytes_of("b.polar")
        self.polar(*command, *_LIMIT)
        self.assertEqual(self.bytes_of("b.polar"), whole)
        with polarquant.Index.load(out) as index:
            self.assertEqual(index.search(self.x[77:78], 1)[1][0][0], 77 * 11 + 1)

    def test_files_are_merged(self):
        index = polarquant.Index("IVF16,Polar4", 32, "cosine")
        index.train(self.x)
        paths = [self.path("first"), self.path("second")]
        for path, rows in zip(paths, (self.x[:15_000], self.x[15_000:])):
            with index.clone() as shard:
                shard.add(rows)
                shard.save(path)
        _, said = self.polar("merge", *paths, "-o", self.path("all"))
        self.assertRegex(said, r"all: 40000 vectors as IVF16,Polar4, .* of 2 files")
        index.add(self.x)
        index.save(self.path("whole"))
        self.assertEqual(self.bytes_of("all"), self.bytes_of("whole"))
        polarquant.Index("IVF16,Polar4", 32, "cosine").save(paths[0])
        self.assert_refused("second: merge: one", "merge", *paths, "-o", self.path("all"))
        self.assert_refused("required: -o", "merge", *paths, code=2)


if __name__ == "__main__":
    unittest.main()
