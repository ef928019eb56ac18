# SPDX-License-Identifier: MIT
"""What a result of `churn` says: figures of a point, by the clock that was asked for."""

KINDS = ("search", "update", "remove", "insert")  # of operations


def times(result, operation):
    """{mean_us, p50_us, p99_us} of an operation's summary, or None where there was none."""
    return operation[result["settings"].get("clock", "wall")]


def per_second(result, point):
    """Searches and changes in a second of the time that these took."""
    operations = [point["changing"][kind] for kind in KINDS]
    timed = [(each["count"], times(result, each)) for each in operations if each["count"]]
    return sum(n for n, _ in timed) / sum(n * found["mean_us"] / 1e6 for n, found in timed)


def change_mean_us(result, point):
    """Of an upsert or a removal, over all of them."""
    operations = [point["changing"][kind] for kind in KINDS[1:]]
    timed = [
        (each["count"], times(result, each)["mean_us"]) for each in operations if each["count"]
    ]
    return sum(n * mean for n, mean in timed) / sum(n for n, _ in timed)


def growth_bytes(point):
    return point["changing"]["windows"][-1]["growth_bytes"]


HEADER = (
    "operations/s",
    "p50 µs",
    "p99 µs",
    "p99 µs without changes",
    "µs a change",
    "recall@{k} before",
    "after",
    "MB gained",
)


def header(result):
    return [each.format(k=result["settings"]["k"]) for each in HEADER]


def cells(result, point):
    """The figures of a point, as texts under `header`."""
    search = times(result, point["changing"]["search"])
    numbers = (
        per_second(result, point),
        search["p50_us"],
        search["p99_us"],
        times(result, point["quiet"]["search"])["p99_us"],
        change_mean_us(result, point),
    )
    texts = [f"{number:,.0f}" for number in numbers]
    texts += [f"{value:.3f}".lstrip("0") for value in (point["recall"][0], point["recall_after"])]
    return texts + [f"{growth_bytes(point) / 1e6:.1f}"]
