# SPDX-License-Identifier: MIT
"""Builds on a Ray cluster of two nodes."""

import importlib.util
import os
import pathlib
import tempfile
import threading
import time
import unittest
import unittest.mock

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
        environment = {
            name: os.environ.get(name, "") for name in ("PYTHONPATH", "POLARQUANT_LIBRARY")
        }
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
        for options in ({"nprobe": 4} if whole.nlist else {}, {"filter": range(2000, 5000)}):
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
        # Fewer shards in the same folder: those of the earlier build go.
        asked = {"index": "Polar4", "metric": "l2", "train_rows": 3000}
        manifest = ray_shards.build(paths, self.out, num_shards=2, **asked)
        named = {"manifest.json", "state.polar", *(shard.path for shard in manifest.shards)}
        self.assertEqual(set(os.listdir(self.out)), named)
        self.assertEqual(len(manifest.shards), 2)
        self.check_as_one(None)

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

    def built(self, name="out", rows=None):
        """A manifest, and the index that it says."""
        rows = self.x if rows is None else rows
        place = self.folder / name
        place.mkdir()
        index = polarquant.Index("IVF16,Polar4", DIM, "l2")
        index.train(self.x[:3000])
        state = polarquant.shards.write_state(index, place / "state.polar")
        made = [
            polarquant.shards.build_shard([part], state, place / f"{number}.polar")
            for number, part in enumerate(np.array_split(rows, 3))
        ]
        polarquant.shards.write_manifest(place / "manifest.json", state, made)
        index.add(rows)
        return place / "manifest.json", index

    def test_actors_answer_as_one_index(self):
        from polarquant.distributed import ray as ray_shards

        manifest, index = self.built()
        with ray_shards.RayIndex(manifest, replicas=2) as sharded:
            self.assertEqual((sharded.ntotal, sharded.manifest.rows), (N, N))
            for options in ({}, {"nprobe": 5}, {"filter": np.arange(100, 900)}):
                found = sharded.search(self.x[:30], 7, **options)
                expected = index.search(self.x[:30], 7, **options)
                np.testing.assert_array_equal(found[1], expected[1])
                np.testing.assert_array_equal(found[0], expected[0])
            radius = float(index.search(self.x[3:4], 20)[0][0, -1])
            for found, expected in zip(
                sharded.range_search(self.x[3:4], radius), index.range_search(self.x[3:4], radius)
            ):
                np.testing.assert_array_equal(found, expected)
            with self.assertRaisesRegex(polarquant.BadArgumentError, "k"):
                sharded.search(self.x[:1], 0)
            with self.assertRaises(polarquant.BadArgumentError):
                sharded.search(self.x[:1, :5], 3)
        with self.assertRaisesRegex(polarquant.BadArgumentError, "closed"):
            sharded.search(self.x[:1], 3)
        with self.assertRaisesRegex(polarquant.BadArgumentError, "timeout_s"):
            ray_shards.RayIndex(manifest, timeout_s=0)
        with self.assertRaises(polarquant.NotFoundError):
            ray_shards.RayIndex(self.folder / "none.json")
        (self.folder / "out" / "1.polar").unlink()
        with self.assertRaisesRegex(Exception, "1.polar"):
            ray_shards.RayIndex(manifest, replicas=1)

    def test_groups_of_actors_answer_as_one_index(self):
        from polarquant.distributed import ray as ray_shards

        manifest, index = self.built()
        with ray_shards.RayIndex(manifest, groups=2, replicas=1) as sharded:
            self.assertEqual(sharded.ntotal, N)
            for rows, k in ((self.x[:30], 7), (self.x[3], 5), (self.x[:2], 2 * N)):
                found, expected = sharded.search(rows, k, nprobe=5), index.search(rows, k, nprobe=5)
                np.testing.assert_array_equal(found[1], expected[1])
                np.testing.assert_array_equal(found[0], expected[0])
            keep = np.arange(100, 9000, 3)
            radius = float(index.search(self.x[3:4], 20)[0][0, -1])
            for options in ({}, {"filter": keep}):
                for found, expected in zip(
                    sharded.range_search(self.x[:9], radius, **options),
                    index.range_search(self.x[:9], radius, **options),
                ):
                    np.testing.assert_array_equal(found, expected)
            scores, ids = sharded.search(self.x[:9], 6, filter=keep)
            self.assertTrue(np.isin(ids, keep).all())
            self.assertTrue(np.all(np.diff(scores, axis=1) >= 0))
            expected = index.search(self.x[:9], 6, filter=keep)[1]
            self.assertGreater(np.mean([np.isin(a, b).mean() for a, b in zip(ids, expected)]), 0.8)
            one = sharded.search(self.x[0], 6, filter=keep)
            np.testing.assert_array_equal(one[1], ids[0])
            with self.assertRaisesRegex(polarquant.BadArgumentError, "k"):
                sharded.search(self.x[:1], 0)

    def test_lost_and_damaged_files(self):
        from polarquant.distributed import ray as ray_shards

        manifest, index = self.built()
        expected = index.search(self.x[:5], 3, nprobe=16)[1]
        shard = self.folder / "out" / "1.polar"
        whole = shard.read_bytes()

        def search():
            np.testing.assert_array_equal(sharded.search(self.x[:5], 3, nprobe=16)[1], expected)

        with ray_shards.RayIndex(manifest, replicas=2) as sharded:
            search()
            # What is mapped stays; an actor that is made anew does not find its file.
            shard.unlink()
            self.ray.kill(sharded._pool.groups[0].actors[0], no_restart=False)
            for _ in range(20):
                search()
                time.sleep(0.1)
            self.ray.kill(sharded._pool.groups[0].actors[1], no_restart=False)
            with self.assertRaisesRegex(polarquant.InputOutputError, "1.polar"):
                for _ in range(200):
                    search()
                    time.sleep(0.1)
            # Damage in rows is found when they are searched.
            shard.write_bytes(whole[:-200] + bytes(200))
            with self.assertRaises((polarquant.CorruptDataError, polarquant.InputOutputError)):
                for _ in range(200):
                    search()
                    time.sleep(0.1)
            shard.write_bytes(whole)
            for _ in range(200):
                try:
                    search()
                    break
                except polarquant.PolarError:
                    time.sleep(0.1)
            search()

    def test_shards_are_divided_in_their_order(self):
        from polarquant.distributed.ray_index import _divided
        from polarquant.manifest import Manifest, Shard

        for rows in ([4000] * 3, [10, 1, 1, 1, 10], [0, 0, 7], [], [5], [100, 1, 1], [0, 0]):
            shards = tuple(Shard(str(i), count, 0, "") for i, count in enumerate(rows))
            manifest = Manifest("Polar4", DIM, "l2", Shard("state", 0, 0, ""), shards)
            for groups in (1, 2, 3, 7):
                divided = _divided(manifest, "m", groups)
                self.assertLessEqual(len(divided), groups)
                numbers = [number for each in divided for number in each.numbers]
                self.assertEqual(numbers, list(range(len(rows))))
                for each in divided:
                    self.assertEqual(each.first_row, sum(rows[: each.numbers[0] if rows else 0]))
        halves = _divided(
            Manifest("Polar4", DIM, "l2", Shard("s", 0, 0, ""), (Shard("", 9, 0, ""),) * 4), "m", 2
        )
        self.assertEqual([each.numbers for each in halves], [(0, 1), (2, 3)])

    def test_a_group_goes_on_when_an_actor_dies(self):
        from polarquant.distributed import ray as ray_shards

        manifest, index = self.built()
        expected = index.search(self.x[:5], 3, nprobe=4)[1]
        with ray_shards.RayIndex(manifest, groups=1, replicas=2) as whole:
            self.assertEqual(len(whole._pool.groups[0].actors), 2)
        with ray_shards.RayIndex(manifest, groups=2, replicas=1) as sharded:
            end = self.searching(sharded, [expected])
            for number in (0, 1):
                self.ray.kill(sharded._pool.groups[number].actors[0], no_restart=False)
                time.sleep(1.5)
            wrong, count = end()
            self.assertEqual(wrong, [])
            self.assertGreater(count, 1)

    def searching(self, sharded, wanted, threads=3):
        """Threads that search until stop is set; what they found wrong."""
        stop, wrong, counts = threading.Event(), [], [0] * threads

        def search(thread):
            while not stop.is_set():
                try:
                    found = sharded.search(self.x[:5], 3, nprobe=4)[1]
                    if not any(np.array_equal(found, each) for each in wanted):
                        wrong.append(found)
                except Exception as error:
                    wrong.append(error)
                counts[thread] += 1

        running = [threading.Thread(target=search, args=(i,)) for i in range(threads)]
        for thread in running:
            thread.start()

        def end():
            stop.set()
            for thread in running:
                thread.join(60)
            return wrong, sum(counts)

        return end

    def test_no_search_fails_when_actors_die(self):
        from polarquant.distributed import ray as ray_shards

        manifest, index = self.built()
        expected = index.search(self.x[:5], 3, nprobe=4)[1]
        with ray_shards.RayIndex(manifest, replicas=2) as sharded:
            end = self.searching(sharded, [expected])
            for number in (0, 1, 0):
                self.ray.kill(sharded._pool.groups[0].actors[number], no_restart=False)
                time.sleep(1.5)
            wrong, count = end()
            self.assertEqual(wrong, [])
            self.assertGreater(count, 3)

    def test_no_search_fails_when_the_manifest_changes(self):
        from polarquant.distributed import ray as ray_shards

        manifest, index = self.built()
        other, other_index = self.built("other", self.x[::-1])
        wanted = [each.search(self.x[:5], 3, nprobe=4)[1] for each in (index, other_index)]
        with ray_shards.RayIndex(manifest, replicas=1, num_cpus=1) as sharded:
            end = self.searching(sharded, wanted)
            time.sleep(0.5)
            sharded.change(other)
            np.testing.assert_array_equal(sharded.search(self.x[:5], 3, nprobe=4)[1], wanted[1])
            time.sleep(0.5)
            with self.assertRaises(polarquant.NotFoundError):
                sharded.change(self.folder / "none.json")
            wrong, count = end()
            self.assertEqual(wrong, [])
            self.assertGreater(count, 0)

    def test_a_slow_actor_is_not_waited_for(self):
        from polarquant.distributed import ray as ray_shards
        from polarquant.distributed import ray_actors

        manifest, index = self.built()
        expected = index.search(self.x[:5], 3)[1]

        class Slow(ray_actors.Actor):
            """The first call of each takes two seconds, where it is told so."""

            def call(self, *arguments):
                path = pathlib.Path(str(manifest) + ".slow")
                try:
                    path.unlink()
                except FileNotFoundError:
                    pass
                else:
                    time.sleep(2)
                return super().call(*arguments)

        with unittest.mock.patch.object(ray_actors, "Actor", Slow):
            slow = pathlib.Path(str(manifest) + ".slow")
            with ray_shards.RayIndex(manifest, replicas=2, hedge_after_s=0.1) as sharded:
                sharded.search(self.x[:5], 3)
                slow.touch()
                begin = time.monotonic()
                np.testing.assert_array_equal(sharded.search(self.x[:5], 3)[1], expected)
                self.assertLess(time.monotonic() - begin, 1.9)
            with ray_shards.RayIndex(manifest, replicas=1, timeout_s=0.5) as sharded:
                sharded.search(self.x[:5], 3)
                slow.touch()
                with self.assertRaisesRegex(TimeoutError, "0.5 s"):
                    sharded.search(self.x[:5], 3)

    def test_calls_that_are_not_wanted_are_dropped(self):
        from polarquant.distributed import ray as ray_shards
        from polarquant.distributed import ray_actors

        manifest, index = self.built()
        expected = index.search(self.x[:5], 3)[1]
        begun = self.folder / "begun"

        class Slow(ray_actors.Actor):
            """One of them, the first to make a file, takes two seconds for each call."""

            def __init__(self, *arguments):
                super().__init__(*arguments)
                try:
                    os.close(os.open(str(begun), os.O_CREAT | os.O_EXCL))
                    self.is_slow = True
                except FileExistsError:
                    self.is_slow = False

            def answer(self, *arguments):
                if self.is_slow:
                    with open(begun, "a") as file:
                        file.write("call\n")
                    time.sleep(2)
                return super().answer(*arguments)

        with unittest.mock.patch.object(ray_actors, "Actor", Slow):
            with ray_shards.RayIndex(manifest, replicas=2, hedge_after_s=0.2) as sharded:
                found = []
                threads = [
                    threading.Thread(target=lambda: found.append(sharded.search(self.x[:5], 3)[1]))
                    for _ in range(16)
                ]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                replicas = sharded._pool.groups[0]
                # What the slow one has begun counts, so that the next calls go to the other one.
                self.assertGreater(max(replicas._calls), 0)
                for _ in range(5):
                    begin = time.monotonic()
                    found.append(sharded.search(self.x[:5], 3)[1])
                    self.assertLess(time.monotonic() - begin, 1)
                for ids in found:
                    np.testing.assert_array_equal(ids, expected)
                time.sleep(6)
                # Eight or so were asked for, and perhaps one of the five: only the one that ran stays.
                self.assertLessEqual(begun.read_text().count("call"), 2)
                sharded.search(self.x[:5], 3)
                self.assertLessEqual(max(replicas._calls), 1)

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
