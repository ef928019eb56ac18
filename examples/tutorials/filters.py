# SPDX-License-Identifier: MIT
"""Searches among a part of the rows: filters by conditions, ids and ranges. Run it in the repository."""

import numpy as np
import polarquant

# 1. Vectors, and columns beside them: an entry for each row.
x = np.load("bench/data/base.npy").astype(np.float32)  # (9000, 384)
q = np.load("bench/data/query.npy")[0]  # (384,)
random = np.random.default_rng(1)
year = random.integers(2010, 2026, len(x))
shop = random.choice(["north", "south", "web"], len(x))

index = polarquant.Index("Polar4", 384, "ip")
index.add(x)

# 2. A condition gives a bool array, which is a filter.
scores, ids = index.search(q, k=5, filter=year >= 2020)
print(year[ids])

allowed = (year >= 2020) & (shop != "web")
scores, ids = index.search(q, k=5, filter=allowed)
print(shop[ids])

# 3. Ids, in any order.
scores, ids = index.search(q, k=3, filter=[8000, 17, 4711, 42])
print(sorted(ids))

# 4. A range: the rows that were added last.
scores, ids = index.search(q, k=3, filter=range(8000, 9000))
print(ids.min() >= 8000)

# 5. Rows under ids of yours.
number = 100_000 + 10 * np.arange(len(x))  # the article's
articles = polarquant.Index("Polar4", 384, "ip")
articles.add_with_ids(x, number)

scores, ids = articles.search(q, k=5, filter=number[allowed])
print(np.isin(ids, number[allowed]).all())
scores, ids = articles.search(q, k=5, filter=range(100_000, 110_000))
print(ids.max() < 110_000)

# 6. Fewer rows allowed than asked for.
scores, ids = index.search(q, k=5, filter=[8000, 17, 42])
print(ids[3:], scores[3:])

found = [(id, score) for id, score in zip(ids, scores) if id >= 0]
print(len(found), "found")

# 7. Inverted files and graphs find k rows wherever as many are allowed.
few = random.permutation(len(x))[:20]
for spec in ["IVF64,Polar4", "HNSW32,Polar4"]:
    other = polarquant.Index(spec, 384, "ip")
    other.train(x)
    other.add(x)
    scores, ids = other.search(q, k=10, filter=few)
    print(f"{spec}: {np.isin(ids, few).sum()} found")

# 8. Everything within a radius, and removals, take filters too.
lims, scores, ids = index.range_search(q[None], 0.3, filter=allowed)
print(np.all(scores > 0.3))

removed = articles.remove_ids(number[year < 2012])
print(removed == np.sum(year < 2012), len(articles))
