# SPDX-License-Identifier: MIT
"""A Spark of this machine, and rows for it. Needs pyspark."""

import os
import pathlib
import sys
import tempfile
import unittest
import warnings

import numpy as np
import pyarrow
import pyspark
from pyarrow import parquet
from pyspark.sql import SparkSession
from support import make_rows

import polarquant
from polarquant.manifest import Manifest

DIM = 32
N = 4000
#: Rows of the files: one after the other they are all rows.
PARTS = [(0, 2600), (2600, 2601), (2601, N)]
_PATHS = (pathlib.Path(__file__).parent, pathlib.Path(polarquant.__file__).parents[1])


class SparkCase(unittest.TestCase):
    """Starts Spark, with `MASTER` and `OPTIONS`, and files of rows."""

    MASTER = ""
    OPTIONS = {}

    @classmethod
    def setUpClass(cls):
        if cls is SparkCase:
            raise unittest.SkipTest("has no tests")
        warnings.simplefilter("ignore", FutureWarning)
        # Workers find the package and the faults as this process does. Spark's Java process, which is
        # started once, hands its environment on.
        os.environ.update(
            PYSPARK_PYTHON=sys.executable,
            SPARK_HOME=os.path.dirname(pyspark.__file__),
            PYTHONPATH=os.pathsep.join(map(str, _PATHS)),
        )
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        builder = SparkSession.builder.master(cls.MASTER)
        options = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": folder.name,
            **cls.OPTIONS,
        }
        for name, value in options.items():
            builder = builder.config(name, value)
        cls.spark = builder.getOrCreate()
        cls.addClassCleanup(cls.spark.stop)
        cls.spark.sparkContext.setLogLevel("OFF")
        cls.x = make_rows(N, DIM)
        cls.ids = np.random.default_rng(2).permutation(3 * N)[:N]
        cls.parts = [cls._part(folder.name, *part) for part in PARTS]
        # Partitions of very different sizes, one of them empty.
        empty = cls.parts[1].where("id < 0")
        cls.df = cls.parts[0].union(empty).union(cls.parts[1]).union(cls.parts[2])

    @classmethod
    def _part(cls, folder, first, end):
        path = f"{folder}/{first}.parquet"
        rows = cls.x[first:end]
        lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(rows.ravel()), DIM)
        table = pyarrow.table({"vector": lists, "id": cls.ids[first:end]})
        parquet.write_table(table, path, compression="none")
        return cls.spark.read.parquet(path)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"

    def queries(self, count=40):
        rows = [(number, self.x[number].tolist()) for number in range(count)]
        return self.spark.createDataFrame(rows, "query long, vector array<float>").repartition(2)

    def check_as_one(self, place, ids, **options):
        """The shards answer as one index of the same state, in this process and in Spark's. Nothing but
        the manifest's files lies there."""
        from polarquant.distributed import spark as spark_shards

        read = Manifest.read(place)
        named = {"manifest.json", read.state.path, *(shard.path for shard in read.shards)}
        self.assertEqual(set(os.listdir(self.out)), named)
        self.assertEqual(len(named), 2 + len(read.shards))
        whole = polarquant.Index.load_empty(self.out / read.state.path)
        if ids is None:
            whole.add(self.x)
        else:
            whole.add_with_ids(self.x, ids)
        answers = spark_shards.search(self.queries(), place, 10, query_id_column="query", **options)
        found = list(zip(*answers.orderBy("query_id", "rank").collect()))
        with polarquant.ShardedIndex.open(place) as sharded:
            for wanted in (sharded, whole):
                scores, wanted_ids = wanted.search(self.x[:40], 10, **options)
                np.testing.assert_array_equal(found[2], wanted_ids.ravel())
                np.testing.assert_array_equal(np.float32(found[3]), scores.ravel())
        np.testing.assert_array_equal(found[0], np.repeat(np.arange(40), 10))
        np.testing.assert_array_equal(found[1], np.tile(np.arange(1, 11), 40))
        return read
