# SPDX-License-Identifier: MIT
"""Builds an index in shards on a Ray cluster; here on this machine."""

import os
import tempfile

import numpy as np
import polarquant
import ray
from polarquant.distributed import ray as ray_shards

# Stands in for your embeddings: files that each node of the cluster sees.
x = np.random.default_rng(1).standard_normal((8000, 128), dtype=np.float32)
folder = tempfile.mkdtemp()
paths = [os.path.join(folder, f"{part}.npy") for part in range(2)]
for path, rows in zip(paths, np.split(x, 2)):
    np.save(path, rows)

ray.init("local", num_cpus=2, log_to_driver=False)
out = os.path.join(folder, "index")
ray_shards.build(paths, out, index="IVF16,Polar4", metric="l2", num_shards=4)
ray.shutdown()

with polarquant.ShardedIndex.open(os.path.join(out, "manifest.json")) as sharded:
    scores, ids = sharded.search(x[7], k=3, nprobe=4)
    print(f"row {ids[0]}, {len(sharded.manifest.shards)} shards")
