# SPDX-License-Identifier: MIT
"""Codes 1000 vectors at 2 bits a dimension; the program keeps the codes and their codec."""

import pickle

import numpy as np
import polarquant

# Stands in for your embeddings.
x = np.random.default_rng(1).standard_normal((1000, 384), dtype=np.float32)

codec = polarquant.Codec("Polar2", dim=384, metric="cosine")
codec.train(x)  # optional: learns the mean
codes = codec.encode(x)  # uint8, (1000, codec.code_size)

# The nearest to row 7 is row 7.
scores, ids = codec.search(x[7], codes, k=3)
for score, id in zip(scores, ids):
    print(f"row {id}, cosine about {score:.2f}")

# Codes are read by a codec with the same state: store it beside them.
state = codec.save_state()
again = polarquant.Codec.load_state(state)
assert np.array_equal(again.decode(codes[:5]), codec.decode(codes[:5]))
assert pickle.loads(pickle.dumps(codec)).info.state_id == codec.info.state_id

# The mean of 100 rows, without decoding them all.
mean = codec.combine(np.full(100, 0.01), codes[:100])
print(f"the mean's length is {np.linalg.norm(mean):.2f}")
