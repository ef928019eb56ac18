# SPDX-License-Identifier: MIT
"""Builds an index in shards from a Spark DataFrame and searches it; here on this machine."""

import os
import sys
import tempfile

import numpy as np
from polarquant.distributed import spark as spark_shards
from pyspark.sql import SparkSession

# Else Spark's workers run the python3 of the PATH, which may have no polarquant.
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()

# Stands in for your embeddings, a table of ids and vectors.
x = np.random.default_rng(1).standard_normal((8000, 64), dtype=np.float32)
rows = enumerate(x.tolist())
df = session.createDataFrame(rows, "id long, vector array<float>")

folder = tempfile.mkdtemp()
manifest = spark_shards.build(df, folder, index="IVF16,Polar4", metric="l2", id_column="id")

queries = df.where("id < 100")
found = spark_shards.search(queries, manifest, 3, query_id_column="id", nprobe=4)
nearest = found.where("rank = 1 and query_id = 7").first()
print(f"row {nearest.id} of {df.count()}")
session.stop()
