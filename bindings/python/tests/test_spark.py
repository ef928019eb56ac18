# SPDX-License-Identifier: MIT
"""Builds and searches by Spark: in one process, and on a cluster of two executors."""

import importlib.util
import json
import os
import shutil
import unittest
import unittest.mock

import numpy as np
from support import has_java, needs_indexes

import polarquant

_MODULES = ("pyspark", "pandas", "pyarrow")
_MISSING = [name for name in _MODULES if importlib.util.find_spec(name) is None]
if not has_java():
    _MISSING.append("Java")
needs_spark = unittest.skipIf(_MISSING, f"{', '.join(_MISSING)}: not installed")

if _MISSING:
    SparkCase = unittest.TestCase
else:
    import pyarrow
    import spark_faults
    from spark_support import DIM, N, PARTS, SparkCase

    from polarquant.distributed import spark as spark_shards
    from polarquant.distributed import spark_tasks


def build(df, out, **options):
    defaults = {"index": "IVF16,Polar4", "metric": "l2", "train_rows": 2000}
    return spark_shards.build(df, out, **{**defaults, **options})


@needs_indexes
@needs_spark
class LocalTest(SparkCase):
    # A task is tried three times, as a cluster does.
    MASTER = "local[2,3]"

    def test_every_metric(self):
        for metric in ("l2", "inner_product", "cosine"):
            for id_column, num_shards in ((None, None), ("id", 3)):
                with self.subTest(metric, id_column=id_column):
                    # Into the folder of the one before, whose files go.
                    asked = {"metric": metric, "id_column": id_column, "num_shards": num_shards}
                    place = build(self.df, self.out, **asked)
                    self.assertEqual(place, f"{self.out}/manifest.json")
                    ids = None if id_column is None else self.ids
                    read = self.check_as_one(place, ids, nprobe=4)
                    self.assertEqual((read.rows, read.metric), (N, metric))

    def test_partitions_become_shards(self):
        read = self.check_as_one(build(self.df, self.out), None, filter=range(2000, 3500))
        # The empty one none.
        self.assertEqual(
            [shard.rows for shard in read.shards], [end - first for first, end in PARTS]
        )

    def test_rows_are_dealt(self):
        for id_column in (None, "id"):
            shutil.rmtree(self.out, ignore_errors=True)
            place = build(self.df, self.out, index="Polar2", id_column=id_column, num_shards=4)
            ids = None if id_column is None else self.ids
            read = self.check_as_one(place, ids, filter=np.arange(0, 3000, 2))
            self.assertEqual(len(read.shards), 4)
            for shard in read.shards:
                self.assertAlmostEqual(shard.rows, N / 4, delta=N / 12)

    def test_a_build_repeats(self):
        """To the byte; arrays of doubles are those of floats."""
        checksums = []
        for number, kind in enumerate(("float", "double")):
            df = self.df.withColumn("vector", self.df.vector.cast(f"array<{kind}>"))
            read = polarquant.manifest.Manifest.read(build(df, self.folder / str(number)))
            checksums.append([shard.checksum for shard in (read.state, *read.shards)])
        self.assertEqual(checksums[0], checksums[1])

    def test_what_it_refuses(self):
        from pyspark.sql import functions as sql

        number = 2605
        df, id = self.df, int(self.ids[number])

        def changed(column, value):
            return df.withColumn(column, sql.expr(f"if(id = {id}, {value}, {column})"))

        place = f"row {number - 2601} of partition 3"
        for df_given, options, text in (
            (
                changed("vector", "null"),
                {"id_column": "id"},
                f"'vector' is empty in the row of id {id}$",
            ),
            (changed("vector", "null"), {"num_shards": 2}, f"'vector' is empty in {place}$"),
            (
                changed("vector", "slice(vector, 1, 5)"),
                {"id_column": "id"},
                f"5 numbers .* id {id}; 32 are",
            ),
            (changed("vector", "transform(vector, v -> float('nan'))"), {}, f"finite in {place}$"),
            (changed("id", "null"), {"id_column": "id"}, f"'id' is empty in {place}$"),
            (df.where("id < 0"), {}, "has no rows"),
            (df, {"vector_column": "v"}, "'v' is not there; vector, id are"),
            (df, {"vector_column": "id"}, "of type bigint; an array of numbers"),
            (df, {"id_column": "vector"}, r"of type array<float>; integers"),
            (df, {"num_shards": 0}, "num_shards"),
            (df, {"index": "Polar99"}, "Polar99"),
            (df, {"index": "HNSW8,Polar4"}, "in parts"),
        ):
            with self.subTest(text), self.assertRaisesRegex(polarquant.PolarError, text):
                build(df_given, self.out, train_rows=N, **{"index": "Polar4", **options})
        self.assertFalse((self.out / "manifest.json").exists())

    def test_other_rows_than_were_counted(self):
        with unittest.mock.patch.object(spark_tasks, "code", spark_faults.lose_rows):
            with self.assertRaisesRegex(
                polarquant.BadArgumentError, f"{N} rows were .* {N - 3} coded"
            ):
                build(self.df, self.out)
        self.assertEqual(os.listdir(self.out), [])

    def test_searches(self):
        place = build(self.df, self.out, id_column="id")
        names = self.spark.createDataFrame(
            [(f"q{number}", self.x[number].tolist()) for number in range(3)],
            "id string, e array<double>",
        )
        asked = {"query_id_column": "id", "vector_column": "e"}
        found = (
            spark_shards.search(names, place, 1, nprobe=16, **asked).orderBy("query_id").collect()
        )
        self.assertEqual([row.query_id for row in found], ["q0", "q1", "q2"])
        self.assertEqual([row.id for row in found], self.ids[:3].tolist())
        few = spark_shards.search(names, place, 9, filter=self.ids[:4], nprobe=16, **asked)
        self.assertEqual(few.groupBy("query_id").count().collect()[0]["count"], 4)
        empty = names.selectExpr("id", "if(id = 'q1', null, e) e")
        with self.assertRaisesRegex(Exception, "'e' is empty in the query 'q1'"):
            spark_shards.search(empty, place, 1, **asked).collect()
        with self.assertRaisesRegex(polarquant.BadArgumentError, "'query' is not there; id, e"):
            spark_shards.search(names, place, 1, query_id_column="query", vector_column="e")
        with self.assertRaisesRegex(polarquant.BadArgumentError, "k"):
            spark_shards.search(names, place, 0, **asked)
        with self.assertRaises(polarquant.NotFoundError):
            spark_shards.search(names, self.folder / "none.json", 1, **asked)

    def test_searches_within_a_radius(self):
        """The rows of one index, to the bit, in its order; few and many of them."""
        for description, metric, id_column in (
            ("Polar2", "cosine", None),
            ("IVF16,Polar4", "l2", "id"),
        ):
            shutil.rmtree(self.out, ignore_errors=True)
            asked = {"index": description, "metric": metric, "id_column": id_column}
            place = build(self.df, self.out, **asked)
            options = {"nprobe": 4} if description.startswith("IVF") else {}
            with polarquant.ShardedIndex.open(place) as sharded:
                scores, _ = sharded.search(self.x[:150], 200, **options)
                for rank, keep in ((3, None), (150, self.ids[::2])):
                    radius = np.median(scores[:, rank])
                    with self.subTest(description, radius=radius):
                        self.check_radius(sharded, place, radius, filter=keep, **options)

    def check_radius(self, sharded, place, radius, **options):
        queries = self.queries(150)
        asked = {"radius": radius, "query_id_column": "query", **options}
        found = spark_shards.search(queries, place, **asked)
        self.assertEqual(found.columns, ["query_id", "rank", "id", "score"])
        columns = list(zip(*found.orderBy("query_id", "rank").collect()))
        lims, scores, ids = sharded.range_search(self.x[:150], radius, **options)
        counts = np.diff(lims)
        self.assertGreater(len(ids), 50)
        np.testing.assert_array_equal(columns[0], np.repeat(np.arange(150), counts))
        np.testing.assert_array_equal(
            columns[1], np.arange(len(ids)) - np.repeat(lims[:-1], counts) + 1
        )
        np.testing.assert_array_equal(columns[2], ids)
        np.testing.assert_array_equal(np.float32(columns[3]), scores)

    def test_a_radius_that_finds_nothing_or_is_refused(self):
        place = build(self.df, self.out)
        queries, asked = self.queries(3), {"query_id_column": "query"}
        self.assertEqual(spark_shards.search(queries, place, radius=-1, **asked).collect(), [])
        for options in ({"k": 3}, {"k_factor": 2}, {"radius": float("nan")}):
            with (
                self.subTest(options),
                self.assertRaisesRegex(polarquant.BadArgumentError, "radius"),
            ):
                spark_shards.search(queries, place, **{"radius": 1, **asked, **options})

    def test_many_answers_come_in_several_batches(self):
        place = build(self.df, self.out)
        read = polarquant.manifest.Manifest.read(place)
        columns = spark_tasks.Columns("vector", "query")
        batches = self.queries(30).selectExpr("vector", "query id").toArrow().to_batches()
        context = unittest.mock.Mock(**{"cpus.return_value": 1})
        for goal in (spark_tasks.Goal(7, None), spark_tasks.Goal(None, 1e9)):
            job = spark_tasks.Search(place, read, columns, goal, {"nprobe": 16}, None)
            with unittest.mock.patch.object(spark_tasks, "_context", lambda: context):
                whole = pyarrow.Table.from_batches(spark_tasks.search(job, iter(batches)))
                with unittest.mock.patch.object(spark_tasks, "_ANSWERS", 11):
                    parts = list(spark_tasks.search(job, iter(batches)))
            self.assertLessEqual(max(part.num_rows for part in parts), 11)
            self.assertEqual(pyarrow.Table.from_batches(parts), whole)

    def test_a_worker_opens_the_shards_once(self):
        place = build(self.df, self.out)
        queries = self.queries().repartition(8)
        for _ in range(2):
            spark_shards.search(queries, place, 3, query_id_column="query").collect()

        asked = self.spark.range(0, 8, 1, 8).mapInArrow(
            spark_faults.opened, "worker long, found long"
        )
        workers = dict(map(tuple, asked.collect()))
        # 16 tasks, of which the first of each worker opened them.
        self.assertEqual(sum(workers.values()), 16 - len(workers), workers)

    def test_tasks_use_their_threads(self):
        place = build(self.df, self.out)
        context = unittest.mock.Mock(**{"cpus.return_value": 3})
        columns = spark_tasks.Columns("vector", "query")
        job = spark_tasks.Search(
            place,
            polarquant.manifest.Manifest.read(place),
            columns,
            spark_tasks.Goal(2, None),
            {},
            None,
        )
        batches = self.queries().selectExpr("vector", "query id").toArrow().to_batches()
        with unittest.mock.patch.object(spark_tasks, "_context", lambda: context):
            with unittest.mock.patch.object(polarquant.Index, "search", autospec=True) as called:
                called.side_effect = lambda index, x, k, **given: (np.zeros((len(x), k)),) * 2
                list(spark_tasks.search(job, iter(batches)))
        self.assertEqual({call.kwargs["num_threads"] for call in called.call_args_list}, {3})

    def test_a_worker_that_dies_is_no_matter(self):
        with unittest.mock.patch.object(spark_tasks, "code", spark_faults.kill_worker):
            place = build(self.df, self.out, id_column="id")
        self.assertTrue(os.path.exists(spark_faults.marker(self.out)))
        self.check_as_one(place, self.ids)


@needs_indexes
@needs_spark
class ClusterTest(SparkCase):
    MASTER = "local-cluster[2,1,1024]"
    OPTIONS = {
        "spark.executor.memory": "1g",
        "spark.speculation": "true",
        "spark.speculation.interval": "200ms",
        "spark.speculation.quantile": "0.5",
    }

    def check_fault(self, fault, **options):
        """The index is whole, and no file is left over, though something went wrong."""
        with unittest.mock.patch.object(spark_tasks, "code", fault):
            place = build(self.df, self.out, **options)
        self.assertTrue(os.path.exists(spark_faults.marker(self.out)))
        return self.check_as_one(place, self.ids if "id_column" in options else None, nprobe=4)

    def test_a_task_that_fails_is_run_again(self):
        self.check_fault(spark_faults.fail_after_writing, id_column="id")

    def test_an_executor_that_dies_is_no_matter(self):
        self.check_fault(spark_faults.kill_executor, num_shards=5)

    def test_a_task_that_runs_twice_counts_once(self):
        self.check_fault(spark_faults.be_slow)

    def test_shards_that_are_lost_or_of_another_state(self):
        place = build(self.df, self.out, id_column="id")
        content = json.loads((self.out / "manifest.json").read_text())
        path = self.out / content["shards"][0]["path"]

        def check(text):
            with self.assertRaisesRegex(Exception, text):
                spark_shards.search(self.queries(), place, 3, query_id_column="query").collect()

        rows = path.read_bytes()
        path.unlink()
        check(f"InputOutputError: .*{path.name}: cannot be read")
        path.write_bytes(rows[:-100])
        check(f"CorruptDataError: .*{path.name}: .* the manifest has")
        other = polarquant.Index("IVF16,Polar4", DIM, "l2")
        other.train(self.x[:1000])
        state = polarquant.shards.write_state(other, self.folder / "other.polar")
        entry = polarquant.shards.build_shard([(self.x[:2600], self.ids[:2600])], state, path)
        content["shards"][0].update(bytes=entry.bytes, checksum=entry.checksum)
        (self.out / "manifest.json").write_text(json.dumps(content))
        check(f"StateMismatchError: .*{path.name}")


if __name__ == "__main__":
    unittest.main()
