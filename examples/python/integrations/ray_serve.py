# SPDX-License-Identifier: MIT
"""A search service over HTTP, of an index in shards, on a Ray cluster; here on this machine.

Ray Serve has a package of its own: pip install 'polarquant[ray]' 'ray[serve]'."""

import asyncio
import json
import tempfile
import urllib.request

import numpy as np
import ray
from polarquant.distributed import ray as ray_shards
from ray import serve


@serve.deployment(ray_actor_options={"num_cpus": 0.5})
class Search:
    def __init__(self, manifest):
        self.index = ray_shards.RayIndex(manifest, replicas=2, timeout_s=5, hedge_after_s=0.2)

    async def __call__(self, request):
        asked = await request.json()
        scores, ids = await asyncio.to_thread(self.index.search, asked["vectors"], asked["k"])
        return {"ids": ids.tolist(), "scores": scores.tolist()}


ray.init("local", num_cpus=4, log_to_driver=False)

# Stands in for your embeddings; the index may have been built long before.
x = np.random.default_rng(1).standard_normal((4000, 128), dtype=np.float32)
folder = tempfile.mkdtemp()
np.save(f"{folder}/rows.npy", x)
ray_shards.build([f"{folder}/rows.npy"], folder, index="Polar4", metric="l2", num_shards=2)

serve.run(Search.bind(f"{folder}/manifest.json"), route_prefix="/search")
question = json.dumps({"vectors": x[7:9].tolist(), "k": 3}).encode()
with urllib.request.urlopen("http://127.0.0.1:8000/search", data=question) as answer:
    print("rows", [ids[0] for ids in json.load(answer)["ids"]])
ray.shutdown()
