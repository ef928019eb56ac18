# SPDX-License-Identifier: MIT
"""A search service over HTTP, of an index in shards, on a Ray cluster; here on this machine."""

import asyncio
import json
import os
import tempfile
import urllib.request

import numpy as np
import polarquant
import ray
from polarquant.distributed.ray import RayIndex
from ray import serve


@serve.deployment(num_replicas=1, ray_actor_options={"num_cpus": 0.5})
class Search:
    def __init__(self, manifest):
        self.index = RayIndex(manifest, replicas=2, timeout_s=5, hedge_after_s=0.2)

    async def __call__(self, request):
        asked = await request.json()
        scores, ids = await asyncio.to_thread(self.index.search, asked["vectors"], asked["k"])
        return {"ids": ids.tolist(), "scores": scores.tolist()}


# Stands in for your embeddings, and for shards that were built elsewhere.
x = np.random.default_rng(1).standard_normal((4000, 128), dtype=np.float32)
folder = tempfile.mkdtemp()
index = polarquant.Index("Polar4", 128, "l2")
index.train(x)
state = polarquant.shards.write_state(index, os.path.join(folder, "state.polar"))
shards = [
    polarquant.shards.build_shard([part], state, os.path.join(folder, f"{number}.polar"))
    for number, part in enumerate(np.split(x, 2))
]
manifest = os.path.join(folder, "manifest.json")
polarquant.shards.write_manifest(manifest, state, shards)

ray.init("local", num_cpus=4, log_to_driver=False)
serve.run(Search.bind(manifest), route_prefix="/search")
question = json.dumps({"vectors": x[7:9].tolist(), "k": 3}).encode()
with urllib.request.urlopen("http://127.0.0.1:8000/search", data=question) as answer:
    print("rows", [ids[0] for ids in json.load(answer)["ids"]])
ray.shutdown()
