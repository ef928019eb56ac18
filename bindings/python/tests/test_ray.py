# SPDX-License-Identifier: MIT
"""Builds on a Ray cluster of two nodes."""

import importlib.util
import os
import pathlib
import tempfile
import unittest

import numpy as np
from support import make_rows, needs_indexes

import polarquant

_HAS_RAY = all(importlib.util.find_spec(name) for name in ("ray", "pyarrow"))
DIM = 32
N = 12_000


@needs_indexes
@unittest.skipUnless(_HAS_RAY, "ray is not installed")
class RayTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import ray
        from ray.cluster_utils import Cluster

        cls.ray = ray
        environment = {name: os.environ.get(name, "") for name in ("PYTHONPATH", "POLARQUANT_LIBRARY")}
        store = {"object_store_memory": 100_000_000}
        cls.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **store})
        cls.node = cls.cluster.add_node(num_cpus=1, **store)
        ray.init(
            address=cls.cluster.address,
            log_to_driver=False,
            logging_level="ERROR",
            runtime_env={"env_vars": environment},
        )
        ray.data.DataContext.get_current().enable_progress_bars = False
        cls.x = make_rows(N, DIM)
        cls.ids = np.random.default_rng(2).permutation(3 * N)[:N]

    @classmethod
    def tearDownClass(cls):
        cls.ray.shutdown()
        cls.cluster.shutdown()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"

    def parquet_files(self):
        import pyarrow
        from pyarrow import parquet

        paths = []
        for number, rows in enumerate(np.split(np.arange(N), [5000, 5001])):
            lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(self.x[rows].ravel()), DIM)
            table = pyarrow.table({"vector": lists, "id": self.ids[rows]})
            paths.append(self.folder / f"{number}.parquet")
            parquet.write_table(table, paths[-1], row_group_size=700)
        return paths

    def check_as_one(self, ids):
        """The sharded index answers as one index of the same state."""
        sharded = polarquant.ShardedIndex.open(self.out / "manifest.json")
        whole = polarquant.Index.load_empty(self.out / "state.polar")
        if ids is None:
            whole.add(self.x)
        else:
            whole.add_with_ids(self.x, ids)
        for options in ({"nprobe": 4}, {"filter": range(2000, 5000)}):
            found = sharded.search(self.x[:40], 10, **options)
            expected = whole.search(self.x[:40], 10, **options)
            np.testing.assert_array_equal(found[1], expected[1])
            np.testing.assert_array_equal(found[0], expected[0])

    def test_files_become_shards(self):
        from polarquant.distributed import ray as ray_shards

        paths = self.parquet_files()
        for id_column in (None, "id"):
            heard = []
            manifest = ray_shards.build(
                paths,
                self.out,
                index="IVF16,Polar4",
                metric="l2",
                id_column=id_column,
                num_shards=5,
                train_rows=3000,
                progress=heard.append,
            )
            self.assertEqual([shard.rows for shard in manifest.shards], [2400] * 5)
            self.assertEqual((manifest.rows, heard[-1]), (N, 1))
            self.check_as_one(None if id_column is None else self.ids)

    def test_a_dataset_becomes_shards(self):
        from polarquant.distributed import ray as ray_shards

        dataset = self.ray.data.read_parquet([str(path) for path in self.parquet_files()])
        manifest = ray_shards.build(
            dataset, self.out, index="IVF16,Polar4", id_column="id", num_shards=3, train_rows=5000
        )
        self.assertEqual((manifest.rows, len(manifest.shards)), (N, 3))
        sharded = polarquant.ShardedIndex.open(self.out / "manifest.json")
        found = sharded.search(self.x[:40], 1, nprobe=16)[1][:, 0]
        np.testing.assert_array_equal(found, self.ids[:40])

    def test_a_node_that_dies_is_no_matter(self):
        from polarquant.distributed import ray as ray_shards

        paths = self.parquet_files()
        extra = self.cluster.add_node(num_cpus=2, object_store_memory=100_000_000)
        killed = []

        def kill(done):
            if not killed:
                self.cluster.remove_node(extra, allow_graceful=False)
                killed.append(done)

        ray_shards.build(
            paths, self.out, index="IVF16,Polar4", id_column="id", num_shards=8, progress=kill
        )
        self.assertTrue(killed)
        self.check_as_one(self.ids)

    def test_what_it_refuses(self):
        from polarquant.distributed import ray as ray_shards

        np.save(self.folder / "a.npy", self.x)
        np.save(self.folder / "b.npy", self.x[:, :8])
        with self.assertRaisesRegex(polarquant.BadArgumentError, "is one path"):
            ray_shards.build(self.folder / "a.npy", self.out, index="Polar4")
        for paths, index, text in (
            (["a.npy", "b.npy"], "Polar4", "32 numbers, .* of 8"),
            (["a.npy"], "Polar99", "Polar99"),
            (["a.npy"], "HNSW8,Polar4", "in parts"),
            (["none.npy"], "Polar4", "none.npy"),
        ):
            with self.subTest(text), self.assertRaisesRegex(Exception, text):
                ray_shards.build([self.folder / path for path in paths], self.out, index=index)
        self.assertFalse((self.out / "manifest.json").exists())


if __name__ == "__main__":
    unittest.main()
