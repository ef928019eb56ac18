# SPDX-License-Identifier: MIT
"""What codes of 1, 2 and 4 bits a dimension find of the 10 nearest rows. Run it in the repository."""

import numpy as np
import polarquant

x = np.load("bench/data/base.npy").astype(np.float32)  # (9000, 384)
q = np.load("bench/data/query.npy")  # (200, 384)

exact = np.argsort(-(q @ x.T), axis=1)[:, :10]
for code in ["Polar1", "Polar2", "Polar4"]:
    index = polarquant.Index(code, 384, "ip")
    index.add(x)
    scores, ids = index.search(q, k=10)
    found = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(ids, exact)])
    print(f"{code}: {index.code_size} bytes a vector, recall@10 {found:.2f}")
