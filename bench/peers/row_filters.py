# SPDX-License-Identifier: MIT
"""The filters of the suite `filter`: which rows they keep, and the true neighbours among these."""

import dataclasses

import numpy as np

import peer_data

SHARES = (0.5, 0.1, 0.01, 0.001, 0.0005)
SEED = 1


def random_rows(base, count, random):
    return random.permutation(len(base))[:count]


def clustered_rows(base, count, random):
    """Those most like one row, about the mean: as texts of one topic or one customer are. Few queries
    are near them."""
    mean = base.mean(axis=0)
    likeness = (base - mean) @ (base[random.integers(len(base))] - mean)
    return np.argsort(-likeness, kind="stable")[:count]


KINDS = {"random": random_rows, "clustered": clustered_rows}


@dataclasses.dataclass(frozen=True)
class RowFilter:
    kind: str  # of KINDS
    share: float  # of the rows, that it keeps

    def allowed(self, base):
        """(n,) bool, True for rows that are kept: at least one."""
        mask = np.zeros(len(base), bool)
        count = max(1, round(self.share * len(base)))
        mask[KINDS[self.kind](base, count, np.random.default_rng(SEED))] = True
        return mask


FILTERS = tuple(RowFilter(kind, share) for kind in KINDS for share in SHARES)


def parse(text):
    """Filters from "random/0.5;clustered/0.01"."""
    found = []
    for part in filter(None, (each.strip() for each in text.split(";"))):
        kind, _, share = part.partition("/")
        try:
            found.append(RowFilter(kind, float(share)))
        except ValueError:
            found.append(RowFilter("", 0))
        if found[-1].kind not in KINDS or not 0 < found[-1].share <= 1:
            raise ValueError(
                f"--filters {part} (allowed: KIND/SHARE with random or clustered, 0 to 1)"
            )
    return found


@dataclasses.dataclass(frozen=True)
class Case:
    """What searches are measured with: a filter or none, and what they are to find."""

    truth: np.ndarray  # (nq, k or the rows allowed)
    allowed: np.ndarray | None = None  # (n,) bool
    description: dict | None = None  # in the result


def cases(filters, base, queries, k, cache, say):
    """A case for each filter."""
    for row_filter in filters:
        allowed = row_filter.allowed(base)
        (rows,) = np.nonzero(allowed)
        kept = np.ascontiguousarray(base[rows])
        count = min(k, len(rows))
        hashes = [peer_data.array_hash(x) for x in (kept, queries)]
        path = peer_data.cached_neighbours(hashes, count, cache)
        truth = rows[peer_data.neighbours(kept, queries, count, path, say)]
        yield Case(truth, allowed, {**dataclasses.asdict(row_filter), "rows": len(rows)})


def empty_share(found, truth):
    """Of the places that true neighbours could fill, the share that has no id."""
    filled = np.minimum((found >= 0).sum(axis=1), truth.shape[1])
    return 1 - float(filled.sum()) / truth.size


def check_allowed(found, allowed):
    """Raises where ids were found that the filter leaves out."""
    ids = found[found >= 0]
    wrong = len(ids) - int(allowed[ids].sum())
    if wrong:
        raise RuntimeError(f"{wrong} of {len(ids)} ids are of rows that the filter leaves out")
