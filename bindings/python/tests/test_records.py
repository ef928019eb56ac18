# SPDX-License-Identifier: MIT
"""What the vector stores of frameworks share, in memory."""

import enum
import tempfile
import unittest

import numpy as np
from support import make_rows, needs_indexes

import polarquant
from polarquant._kept_rows import Kind, rows_to_train
from polarquant._kept_values import kept_value
from polarquant._records import Records

DIM = 16


def put(records, first, rows):
    """Rows under the ids "first", "first + 1", …"""
    ids = [str(first + i) for i in range(len(rows))]
    records.put(ids, rows, [{"n": id} for id in ids])


def found_ids(records, query, k=5, **options):
    return [row.record.id for row in records.find(query, k, **options)]


class KeptValuesTest(unittest.TestCase):
    def test_what_json_holds_is_kept_and_copied(self):
        value = {"a": [1, 2.5, None, True, "é", {"b": []}], "big": 2**200, "": -0.0}
        kept = kept_value("m", value)
        self.assertEqual(kept, value)
        self.assertIsNot(kept["a"], value["a"])
        self.assertIsNot(kept["a"][5], value["a"][5])

    def test_other_classes_of_the_same_become_these(self):
        class Colour(str, enum.Enum):
            RED = "red"

        class Level(enum.IntEnum):
            HIGH = 3

        given = [Colour.RED, Level.HIGH, np.int64(7), np.float32(0.5), np.float64(2), np.bool_(1)]
        kept = kept_value("m", given)
        self.assertEqual(kept, ["red", 3, 7, 0.5, 2.0, True])
        self.assertEqual([type(item) for item in kept], [str, int, int, float, float, bool])

    def test_what_would_come_back_changed_is_refused_by_name(self):
        deep = []
        for _ in range(200):
            deep = [deep]
        itself = []
        itself.append(itself)
        for value, texts in (
            ({"a": {"b": (1, 2)}}, ("m['a']['b']", "(1, 2)", "tuple")),
            ({"a": [0, {1, 2}]}, ("m['a'][1]", "set")),
            ({"a": {5: 1}}, ("m['a']", "key 5", "int")),
            ({None: 1}, ("m", "key None")),
            ({"a": b"x"}, ("m['a']", "bytes")),
            ({"a": np.zeros(2)}, ("m['a']", "ndarray")),
            ({"a": "x\ud83d"}, ("m['a']", "'\\ud83d' at 1")),
            ({"\udc80": 1}, ("m: key", "half")),
            (10**5000, ("m", "bits")),
            (deep, ("m[0]", "deep")),
            (itself, ("m[0]", "deep")),
        ):
            with self.subTest(texts), self.assertRaises(polarquant.BadArgumentError) as caught:
                kept_value("m", value)
            for text in texts:
                self.assertIn(text, str(caught.exception))


@needs_indexes
class RecordsTest(unittest.TestCase):
    def test_every_string_works_from_the_first_row_on(self):
        rows = make_rows(400, DIM)
        for description in (
            *("IVF2,Polar4", "IVF2,Flat", "HNSW8,Polar4", "Polar4-pca", "HNSW8,Polar4-pca"),
            *("IVF2,Polar4-pca", "Polar4", "Polar2,RFlat", "SQ8", "PolarPair4x4", "PCA8,Polar4"),
        ):
            with self.subTest(description):
                records = Records(description, "cosine")
                for i in range(12):
                    put(records, i, rows[i : i + 1])
                    self.assertEqual(found_ids(records, rows[i], 1), [str(i)])
                put(records, 12, rows[12:])
                self.assertIsNotNone(records.index)
                self.assertEqual((len(records), records.index.ntotal), (400, 400))
                right = sum(found_ids(records, row, 1) == [str(i)] for i, row in enumerate(rows))
                self.assertGreater(
                    right, 150 if "IVF" in description or "PCA" in description else 300
                )

    def test_an_index_is_trained_once_it_is_worth_it(self):
        rows = make_rows(700, DIM)
        for description, wanted in (
            ("IVF4,Polar4", 156),
            ("Polar4-pca", 160),
            ("IVF5,Polar4-pca", 195),
            ("IVF2,PQ4x4np", 624),
        ):
            with self.subTest(description):
                records = Records(description, "l2")
                put(records, 0, rows[: wanted - 1])
                self.assertIsNone(records.index)
                put(records, wanted - 1, rows[wanted - 1 : wanted])
                self.assertEqual(records.index.ntotal, wanted)

        for description, wanted in (
            ("OPQ4,IVF4,PQ4", 9984),
            ("PQ4x10", 39936),
            ("PCA8,Polar4", 160),
        ):
            kind = Kind(description, DIM, polarquant.Metric.L2)
            self.assertEqual(rows_to_train(kind), wanted)

    def test_rows_held_as_floats_are_searched_exactly(self):
        rows, queries = make_rows(120, DIM) * 3, make_rows(5, DIM, seed=2)
        for metric in ("ip", "l2", "cosine"):
            records = Records("IVF4,Polar4", metric)
            put(records, 0, rows[:70])
            put(records, 20, rows[70:90])  # in the place of 20 to 39
            records.remove(["5", "6", "none"])
            put(records, 70, rows[90:])
            held = {str(i): rows[i] for i in range(70) if not 20 <= i < 40 and i not in (5, 6)}
            held.update({str(20 + i): rows[70 + i] for i in range(20)})
            held.update({str(70 + i): rows[90 + i] for i in range(30)})
            self.assertEqual((len(records), records.index), (98, None))
            for query in queries:
                with self.subTest(metric):
                    near = {id: query @ row for id, row in held.items()}
                    if metric == "l2":
                        near = {id: -((query - row) ** 2).sum() for id, row in held.items()}
                    elif metric == "cosine":
                        norm = np.linalg.norm
                        near = {id: near[id] / norm(row) / norm(query) for id, row in held.items()}
                    expected = sorted(near, key=near.get, reverse=True)
                    found = records.find(query, 10, nprobe=1, exactness=2.0, ef_search=16)
                    self.assertEqual([row.record.id for row in found], expected[:10])
                    sign = -1 if metric == "l2" else 1
                    np.testing.assert_allclose(
                        [row.score for row in found],
                        [sign * near[id] for id in expected[:10]],
                        rtol=1e-4,
                        atol=1e-4,
                    )
                    odd = [id for id in expected if int(id) % 2][:4]
                    keep = records.find(query, 4, lambda record: int(record.id) % 2 == 1)
                    self.assertEqual([row.record.id for row in keep], odd)
            vectors = records.vectors(records.get(["70", "20"]))
            expected = rows[[90, 70]]
            if metric == "cosine":
                expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
            np.testing.assert_allclose(vectors, expected, rtol=1e-6)

    def test_floats_of_any_size_are_searched(self):
        for scale in (1e-30, 1.0, 1e18, 1e30):
            rows = make_rows(150, DIM) * np.float32(scale)
            for metric in ("ip", "l2", "cosine"):
                records = Records("IVF4,Polar4", metric)
                put(records, 0, rows)
                x, q = rows.astype(np.float64), rows[3].astype(np.float64)
                near = -((x - q) ** 2).sum(axis=1) if metric == "l2" else x @ q
                if metric == "cosine":
                    near = near / np.linalg.norm(x, axis=1)
                expected = np.argsort(-near, kind="stable")[:9]
                with self.subTest(metric, scale=scale), np.errstate(over="ignore"):
                    self.assertEqual(found_ids(records, rows[3], 9), [str(i) for i in expected])

    def test_what_is_refused_changes_nothing(self):
        rows = make_rows(200, DIM)
        for description in ("Polar4", "IVF4,Polar4"):
            records = Records(description, "cosine")
            put(records, 0, rows[:50])
            broken = rows[50:52].copy()
            broken[1, 3] = np.nan
            for call in (
                lambda: put(records, 0, broken),
                lambda: put(records, 0, rows[:, :15]),
                lambda: records.put([5], rows[:1], [{}]),
                lambda: records.put(["\ud800"], rows[:1], [{}]),
                lambda: records.find(broken[1], 3),
                lambda: records.find(rows[0, :15], 3),
            ):
                with self.subTest(description), self.assertRaises(polarquant.BadArgumentError):
                    call()
            with self.assertRaises(TypeError):
                records.find(rows[0], 3, no_option=1)
            self.assertEqual(len(records), 50)
            self.assertEqual(found_ids(records, rows[7], 1), ["7"])

    def test_any_sequence_of_calls_is_what_a_dict_would_be(self):
        for description, seed in (
            ("IVF2,Polar8", 1),
            ("Polar4+2-pca", 2),
            ("Polar8", 3),
            ("IVF3,Flat", 4),
        ):
            random = np.random.default_rng(seed)
            records, model, count = Records(description, "l2"), {}, 0
            for turn in range(150):
                call = random.choice(["put", "put", "put", "remove", "refuse", "save", "clear"])
                ids = [str(number) for number in random.integers(0, 400, random.integers(1, 20))]
                rows = random.standard_normal((len(ids), DIM), dtype=np.float32)
                if call == "put":
                    payloads = [{"n": count + i} for i in range(len(ids))]
                    records.put(ids, rows, payloads)
                    model.update(zip(ids, zip(rows, payloads)))
                    count += len(ids)
                elif call == "remove":
                    here = len(set(ids) & model.keys())
                    self.assertEqual(records.remove(ids), here)
                    for id in ids:
                        model.pop(id, None)
                elif call == "refuse":
                    rows[-1, 0] = np.nan
                    with self.assertRaises(polarquant.BadArgumentError):
                        records.put(ids, rows, [{}] * len(ids))
                elif call == "save":
                    with tempfile.TemporaryDirectory() as folder:
                        records.save(folder)
                        trust = description == "IVF3,Flat"
                        records = Records.load(folder, trust_faiss=trust)
                elif turn % 5 == 0:
                    records.clear()
                    model = {}
                with self.subTest(description, turn=turn, call=call):
                    held = {record.id: record.payload for record in records.all()}
                    self.assertEqual(held, {id: payload for id, (_, payload) in model.items()})
                    for id in list(model)[-3:]:
                        found = records.find(model[id][0], 3)
                        self.assertIn(id, [row.record.id for row in found])

    def test_an_index_that_cannot_be_made_or_trained_is_told_of(self):
        rows = make_rows(200, DIM)
        with self.assertRaises(polarquant.BadArgumentError):
            put(Records("IVF4,Nonsense", "l2"), 0, rows)
        records = Records("IVF4,Polar4", "l2")
        put(records, 0, rows[:150])
        original = polarquant.Index.train
        self.addCleanup(setattr, polarquant.Index, "train", original)

        def fail(index, x):
            raise MemoryError("no room")

        polarquant.Index.train = fail
        with self.assertRaises(MemoryError):
            put(records, 150, rows[150:])
        polarquant.Index.train = original
        self.assertEqual((len(records), found_ids(records, rows[3], 1)), (150, ["3"]))
        put(records, 150, rows[150:])
        self.assertEqual(records.index.ntotal, 200)


if __name__ == "__main__":
    unittest.main()
