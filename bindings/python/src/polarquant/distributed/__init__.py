# SPDX-License-Identifier: MIT
"""Builds on several machines: an engine that is there already runs `polarquant.shards.build_shard` on
each. Every module needs its engine: `polarquant.distributed.ray` needs ray,
`polarquant.distributed.spark` pyspark."""
