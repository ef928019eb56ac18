# SPDX-License-Identifier: MIT
"""Records of vector stores in a database: as those in memory, and kept."""

import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np
from support import make_rows, needs_sqlite

from polarquant import BadArgumentError, InputOutputError, StateMismatchError, UnsupportedError
from polarquant._records import Records
from polarquant._sqlite_records import SqliteRecords

DIM = 24


@needs_sqlite
class SqliteRecordsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "docs.db"

    def open(self, description="Polar4", metric="cosine"):
        records = SqliteRecords(description, metric, self.path)
        self.addCleanup(records.close)
        return records

    def test_any_sequence_of_calls_gives_what_records_in_memory_do(self):
        for metric in ("cosine", "ip", "l2"):
            chance = random.Random(3)
            kept = SqliteRecords("Polar4", metric, self.path.with_name(f"{metric}.db"))
            self.addCleanup(kept.close)
            memory = Records("Polar4", metric)
            pool = make_rows(2000, DIM)
            unused = iter(range(len(pool)))  # equal vectors would be found in any order
            for turn in range(120):
                kind = chance.randrange(6)
                if kind == 0:
                    ids = [str(chance.randrange(150)) for _ in range(5)]
                    self.assertEqual(kept.remove(ids), memory.remove(ids))
                elif kind == 1 and chance.random() < 0.1:
                    kept.clear()
                    memory.clear()
                else:
                    places = [next(unused) for _ in range(chance.randrange(12))]
                    ids = [str(chance.randrange(150)) for _ in places]
                    payloads = [{"turn": turn, "text": f"é{place}"} for place in places]
                    vectors = pool[places] if places else np.empty((0, DIM), np.float32)
                    kept.put(ids, vectors, payloads)
                    memory.put(ids, vectors, payloads)
                self.assertEqual(len(kept), len(memory))
                query = make_rows(1, DIM, turn + 1000)[0]
                for keep in (None, lambda record: record.payload["turn"] % 3 == 0):
                    found, expected = kept.find(query, 5, keep), memory.find(query, 5, keep)
                    self.assertEqual(
                        [row.record.id for row in found], [row.record.id for row in expected]
                    )
                    self.assertEqual(
                        [row.record.payload for row in found],
                        [row.record.payload for row in expected],
                    )
                    np.testing.assert_allclose(
                        [row.score for row in found],
                        [row.score for row in expected],
                        rtol=1e-5,
                        atol=1e-6,
                    )
                    ids = [row.record.id for row in found]
                    if ids:
                        vectors = kept.vectors(kept.get(ids))
                        self.assertEqual(vectors.shape, (len(ids), DIM))
            self.assertEqual(
                {record.id for record in kept.all()}, {record.id for record in memory.all()}
            )

    def test_what_was_put_is_there_for_others_and_afterwards(self):
        records = self.open()
        rows = make_rows(1200, DIM)
        records.put([str(i) for i in range(1200)], rows, [{"n": i} for i in range(1200)])
        code = (
            "import sys, numpy as np\n"
            "from polarquant._sqlite_records import SqliteRecords\n"
            "records = SqliteRecords('Polar4', 'cosine', sys.argv[1])\n"
            f"found = records.find(np.frombuffer(bytes.fromhex(sys.argv[2]), np.float32), 1)\n"
            "print(found[0].record.payload['n'])\n"
        )
        given = [sys.executable, "-c", code, str(self.path), rows[700].tobytes().hex()]
        printed = subprocess.run(given, check=True, capture_output=True, text=True, env=os.environ)
        self.assertEqual(printed.stdout, "700\n")

    def test_threads_take_turns(self):
        records = self.open()
        rows = make_rows(400, DIM)
        failed = []

        def work(first):
            try:
                for i in range(first, first + 100, 10):
                    ids = [str(i + j) for j in range(10)]
                    records.put(ids, rows[i : i + 10], [{}] * 10)
                    self.assertEqual(records.find(rows[i], 1)[0].record.id, str(i))
            except BaseException as error:  # noqa: BLE001
                failed.append(error)

        threads = [threading.Thread(target=work, args=(first,)) for first in range(0, 400, 100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        self.assertEqual(len(records), 400)

    def test_what_is_wrong_is_refused_and_changes_nothing(self):
        records = self.open()
        records.put(["a"], make_rows(1, DIM), [{}])
        with self.assertRaisesRegex(BadArgumentError, "vectors: shape \\(1, 3\\)"):
            records.put(["b"], make_rows(1, 3), [{}])
        with self.assertRaises(BadArgumentError):
            records.put(["b", "c"], [[1.0] * DIM, [float("nan")] * DIM], [{}, {}])
        with self.assertRaisesRegex(BadArgumentError, "ids: 2 ids"):
            records.put(["b", "c"], make_rows(1, DIM), [{}])
        with self.assertRaisesRegex(UnsupportedError, "nprobe"):
            records.find(make_rows(1, DIM)[0], 1, nprobe=3)
        self.assertEqual(len(records), 1)
        with self.assertRaisesRegex(StateMismatchError, "description: Polar2 is not allowed"):
            self.open("Polar2")
        with self.assertRaisesRegex(StateMismatchError, "metric: l2 is not allowed"):
            self.open(metric="l2")
        with self.assertRaisesRegex(UnsupportedError, "IVF16,Polar4 is not allowed with path"):
            self.open("IVF16,Polar4")
        with self.assertRaisesRegex(UnsupportedError, "is kept in"):
            records.save("elsewhere")
        with self.assertRaises(InputOutputError):
            SqliteRecords("Polar4", "cosine", self.path.parent / "none" / "docs.db")


if __name__ == "__main__":
    unittest.main()
