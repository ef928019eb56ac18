# SPDX-License-Identifier: MIT
"""What the vectors' writer and Python's reader share: made rows, a hash, numbers as texts, and the calls
that a case names. README.md says what each is; nothing here is the library's."""

import base64
import json
import pathlib

import numpy as np

import polarquant

FOLDER = pathlib.Path(__file__).resolve().parent
_MASK = (1 << 64) - 1


def numbers(seed, count):
    """float32 numbers of about the normal distribution, each a sum of four 16-bit numbers of splitmix64's
    next word, less its mean, over 2^16: exact in every language."""
    out = np.empty(count, dtype=np.float32)
    state = seed
    for i in range(count):
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        z ^= z >> 31
        fields = (z & 0xFFFF) + (z >> 16 & 0xFFFF) + (z >> 32 & 0xFFFF) + (z >> 48)
        out[i] = (fields - 2 * 0xFFFF) / 65536
    return out


def rows(made, dim):
    """(n, dim) of {"seed", "n"}, with "shift" added to every number, and "set": [row, column, number]."""
    x = numbers(made["seed"], made["n"] * dim).reshape(-1, dim)
    x += np.float32(made.get("shift", 0))
    if "set" in made:
        row, column, value = made["set"]
        x[row, column] = np.float32(as_float(value))
    return x


def fnv1a(data):
    """FNV-1a of 64 bits, in 16 hexadecimal digits."""
    value = 0xCBF29CE484222325
    for byte in bytes(data):
        value = ((value ^ byte) * 0x100000001B3) & _MASK
    return f"{value:016x}"


def as_float(value):
    """A number, or a text: hexadecimal ("0x1.8p+3"), "inf", "-inf" or "nan"."""
    return float.fromhex(value) if isinstance(value, str) else float(value)


def as_bytes(text):
    return base64.b64decode(text, validate=True)


def as_filter(given):
    """A filter of a case as the Python package takes it."""
    if given is None or given["kind"] == "none":
        return None
    if given["kind"] == "bitset":
        words = np.array([int(word, 16) for word in given["words"]], dtype="<u8")
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        return bits[: given["num_bits"]].astype(bool)
    if given["kind"] == "ids":
        return np.array(given["ids"], dtype=np.int64)
    if given["kind"] == "range":
        return range(given["first"], given["end"])
    return lambda id: id % given["multiples_of"] == 0


def as_options(given):
    options = {key: given[key] for key in ("num_threads", "nprobe") if key in given}
    if "exactness" in given:
        options["exactness"] = as_float(given["exactness"])
    if "filter" in given:
        options["filter"] = as_filter(given["filter"])
    return options


def as_metric(number):
    return polarquant.Metric(number) if number in (0, 1, 2) else number


def make_codec(case):
    """The codec of a case, trained as it says."""
    if "state" in case:
        return polarquant.Codec.load_state(as_bytes(case["state"]))
    options = dict(case.get("codec_options", {}))
    if "centre" in options:
        options["centre"] = rows(options["centre"], case["dim"])[0]
    codec = polarquant.Codec(case["spec"], case["dim"], as_metric(case["metric"]), **options)
    if "train" in case:
        codec.train(rows(case["train"], case["dim"]))
    return codec


def do_step(index, dim, step):
    """One change of an index; rows that were removed, or None."""
    name = step["call"]
    x = rows(step["rows"], dim) if "rows" in step else None
    if name == "train":
        return index.train(x)
    if name == "train_with_centroids":
        return index.train_with_centroids(rows(step["centroids"], dim), x)
    if name == "add":
        return index.add(x)
    if name == "add_with_ids":
        return index.add_with_ids(x, step["ids"])
    if name == "update":
        return index.update(step["ids"], x)
    if name == "remove":
        return index.remove_ids(np.array(step["ids"], dtype=np.int64))
    if name == "remove_filtered":
        return index.remove_ids(as_filter(step["filter"]))
    assert name == "set_nprobe", name
    index.nprobe = step["nprobe"]
    return None


def make_index(case):
    index = polarquant.Index(case["description"], case["dim"], as_metric(case["metric"]))
    for step in case.get("steps", []):
        removed = do_step(index, case["dim"], step)
        assert removed == step.get("removed"), (removed, step)
    return index


def read(name):
    cases = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert cases["format"] == 1, cases["format"]
    return cases["cases"]
