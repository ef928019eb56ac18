# SPDX-License-Identifier: MIT
"""The folders of vector stores: whole at any time, and nothing of the user's touched."""

import errno
import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import numpy as np
from support import make_rows, needs_indexes

import polarquant
from polarquant._records import Records

DIM = 16
#: A process that saves stores of its own number of records until it is stopped.
_SAVES = """
import sys, numpy as np
from polarquant._records import Records
folder, count = sys.argv[1], int(sys.argv[2])
records = Records(sys.argv[3], "l2")
rows = np.random.default_rng(count).standard_normal((count, 16), dtype=np.float32)
records.put([str(i) for i in range(count)], rows, [{"of": count}] * count)
print("ready", flush=True)
while True:
    records.save(folder)
"""


def make_records(n=30, description="Polar4", metric="cosine"):
    records = Records(description, metric)
    ids = [str(i) for i in range(n)]
    records.put(ids, make_rows(n, DIM), [{"text": f"é {id}"} for id in ids])
    return records


def start(program, *arguments):
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@needs_indexes
class RecordFilesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "store"

    def names(self):
        return sorted(os.listdir(self.folder))

    def assert_same(self, records, again):
        self.assertEqual(again.all(), records.all())
        for query in make_rows(3, DIM, seed=4):
            self.assertEqual(again.find(query, 5), records.find(query, 5))

    def test_all_comes_back(self):
        for description in ("Polar4", "IVF4,Polar4", "HNSW8,Polar4"):
            for n in (1, 30, 200):
                with self.subTest(description, n=n):
                    records = make_records(n, description)
                    records.remove(["0"] if n > 1 and "HNSW" not in description else [])
                    records.save(self.folder)
                    self.assertEqual(len(self.names()), 2)
                    again = Records.load(self.folder)
                    self.assert_same(records, again)
                    self.assertEqual(again.index is None, records.index is None)
                    again.put(["new"], make_rows(1, DIM, seed=9), [{}])
                    self.assertEqual(
                        again.find(make_rows(1, DIM, seed=9)[0], 1)[0].record.id, "new"
                    )
        Records("Polar4", "l2").save(self.folder)
        self.assertEqual((len(Records.load(self.folder)), self.names()), (0, ["records.json"]))

    def test_rows_held_as_floats_train_after_a_load(self):
        make_records(100, "IVF4,Polar4").save(self.folder)
        self.assertEqual(json.loads((self.folder / "records.json").read_bytes())["format"], 2)
        records = Records.load(self.folder)
        self.assertIsNone(records.index)
        rows = make_rows(60, DIM, seed=3)
        records.put([f"new {i}" for i in range(60)], rows, [{}] * 60)
        self.assertEqual(records.index.ntotal, 160)
        records.save(self.folder)
        told = json.loads((self.folder / "records.json").read_bytes())
        self.assertEqual((told["format"], len(self.names())), (1, 2))
        self.assert_same(records, Records.load(self.folder))
        rows_file = self.folder / told["index"]
        make_records(20, "IVF4,Polar4").save(self.folder)
        self.assertFalse(rows_file.exists())
        told = json.loads((self.folder / "records.json").read_bytes())
        for broken in (
            np.zeros((20, 17)),
            np.zeros((19, DIM), "f"),
            np.full((20, DIM), np.nan, "f"),
        ):
            np.save(self.folder / told["index"], broken)
            with self.assertRaises(polarquant.CorruptDataError):
                Records.load(self.folder)

    def test_a_folder_of_an_earlier_version_loads(self):
        records = make_records()
        self.folder.mkdir()
        records.index.save(self.folder / "rows-0123456789abcdef.polar")
        told = {
            "format": 1,
            "description": "Polar4",
            "metric": "cosine",
            "next": 30,
            "index": "rows-0123456789abcdef.polar",
            "records": [list(record) for record in records.all()],
        }
        text = json.dumps(told, ensure_ascii=False)
        (self.folder / "records.json").write_text(text, encoding="utf-8")
        again = Records.load(self.folder)
        self.assert_same(records, again)
        again.save(self.folder)
        self.assertEqual(len(self.names()), 2)
        self.assertNotIn("rows-0123456789abcdef.polar", self.names())
        self.assert_same(records, Records.load(self.folder))

    def test_nothing_is_removed_or_replaced_but_what_a_store_wrote(self):
        self.folder.mkdir()
        theirs = ("rows-2024.polar", "rows-0123456789abcdef.polar", "rows-x.json", ".polar-x")
        for name in theirs:
            (self.folder / name).write_text("the user's")
        records = make_records()
        for _ in range(3):
            records.save(self.folder)
        for name in theirs:
            self.assertEqual((self.folder / name).read_text(), "the user's")
        self.assertEqual(len(self.names()), len(theirs) + 2)
        for text in ("[1, 2]", '{"records": []}', "no JSON", ""):
            (self.folder / "records.json").write_text(text)
            before = self.names()
            with (
                self.subTest(text),
                self.assertRaisesRegex(polarquant.BadArgumentError, "records.json"),
            ):
                records.save(self.folder)
            self.assertEqual((self.folder / "records.json").read_text(), text)
            self.assertEqual(self.names(), before)
        self.folder = self.folder.with_name("file")
        self.folder.write_text("the user's")
        with self.assertRaises(polarquant.InputOutputError):
            records.save(self.folder)
        self.assertEqual(self.folder.read_text(), "the user's")

    def test_a_failed_save_leaves_nothing_behind(self):
        full = OSError(28, "No space left on device")
        for name in ("json.dump", "os.fsync", "os.replace"):
            for description in ("Polar4", "IVF4,Polar4"):
                records = make_records(30, description)
                with self.subTest(name):
                    with mock.patch(name, side_effect=full):
                        with self.assertRaisesRegex(polarquant.InputOutputError, "No space"):
                            records.save(self.folder)
                    self.assertFalse(self.folder.exists())
                    records.save(self.folder)
                    before = {file: (self.folder / file).read_bytes() for file in self.names()}
                    for error in (full, KeyboardInterrupt()):
                        with (
                            mock.patch(name, side_effect=error),
                            self.assertRaises((polarquant.InputOutputError, KeyboardInterrupt)),
                        ):
                            records.save(self.folder)
                        after = {file: (self.folder / file).read_bytes() for file in self.names()}
                        self.assertEqual(after, before)
                    for file in before:
                        (self.folder / file).unlink()
                    self.folder.rmdir()

    def test_a_folder_that_cannot_be_synced_keeps_both_versions(self):
        make_records(20).save(self.folder)
        before = set(self.names())
        original = os.fsync
        error = OSError(errno.EIO, "Input/output error")

        def fail_for_folders(descriptor):
            if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                raise error
            original(descriptor)

        with mock.patch("os.fsync", fail_for_folders):
            with self.assertRaisesRegex(polarquant.InputOutputError, "new files are in place"):
                make_records(30).save(self.folder)
            self.assertEqual(len(Records.load(self.folder)), 30)
            self.assertEqual(len(before - set(self.names())), 0)
            error = OSError(errno.EINVAL, "Invalid argument")
            make_records(40).save(self.folder)
        self.assertEqual((len(Records.load(self.folder)), len(self.names())), (40, 2))

    def test_a_save_that_was_killed_is_written_over(self):
        records = make_records()
        records.save(self.folder)
        told = json.loads((self.folder / "records.json").read_bytes())
        for ending in (".polar", ".npy", ".json"):
            (self.folder / (told["next_index"] + ending)).write_text("cut short")
        self.assert_same(records, Records.load(self.folder))
        records.save(self.folder)
        self.assertEqual(len(self.names()), 2)
        self.assert_same(records, Records.load(self.folder))

    def test_processes_are_killed_while_they_save(self):
        most = 0
        for turn in range(25):
            process = start(
                _SAVES, self.folder, 40 + turn % 2, "IVF4,Polar4" if turn % 3 else "Polar4"
            )
            self.assertEqual(process.stdout.readline(), "ready\n")
            time.sleep(0.002 * turn)
            process.kill()
            process.wait()
            process.stdout.close()
            if (self.folder / "records.json").exists():
                most = max(most, len(self.names()))
                records = Records.load(self.folder)
                self.assertEqual({row.payload["of"] for row in records.all()}, {len(records)})
            else:  # the first: no name was promised
                for name in self.names() if self.folder.exists() else []:
                    (self.folder / name).unlink()
        # Vectors, those before, those to come in either form, and records to come.
        self.assertLessEqual(most, 6)
        make_records().save(self.folder)
        self.assertEqual(len(self.names()), 2, self.names())

    def test_threads_save_to_one_folder(self):
        stores = [make_records(n) for n in (10, 20, 30, 40)]
        errors = []

        def save(store):
            try:
                for _ in range(8):
                    store.save(self.folder)
            except Exception as error:
                errors.append(error)

        # Of one store and of several.
        threads = [threading.Thread(target=save, args=(stores[i % 4],)) for i in range(6)]
        for thread in threads:
            thread.start()
        while not (self.folder / "records.json").exists():
            time.sleep(0.001)
        while any(thread.is_alive() for thread in threads):
            self.assertIn(len(Records.load(self.folder)), (10, 20, 30, 40))
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])
        self.assertEqual(len(self.names()), 2)
        again = Records.load(self.folder)
        self.assert_same(stores[len(again) // 10 - 1], again)

    def test_processes_save_and_a_reader_loads_whole_versions(self):
        counts = (5, 50, 300)
        processes = [start(_SAVES, self.folder, count, "Polar4") for count in counts]
        try:
            for process in processes:
                self.assertEqual(process.stdout.readline(), "ready\n")
            while not (self.folder / "records.json").exists():
                time.sleep(0.01)
            seen = set()
            for turn in range(150):
                records = Records.load(self.folder, memory_map=bool(turn % 2))
                payloads = {record.payload["of"] for record in records.all()}
                self.assertEqual(payloads, {len(records)})
                seen |= payloads
            self.assertLessEqual(seen, set(counts))
            self.assertEqual([process.poll() for process in processes], [None] * 3)
        finally:
            for process in processes:
                process.send_signal(signal.SIGKILL)
                process.wait()
                process.stdout.close()
        # Nobody holds the folder any more.
        make_records().save(self.folder)
        self.assertEqual(len(Records.load(self.folder)), 30)

    def test_a_process_that_was_forked_holds_nothing_up(self):
        records = make_records()
        original = os.replace
        children = []

        def fork_and_replace(*paths):
            children.append(os.fork())
            if children[-1] == 0:
                time.sleep(60)
                os._exit(0)
            original(*paths)

        with mock.patch("os.replace", fork_and_replace):
            records.save(self.folder)
        try:
            thread = threading.Thread(target=records.save, args=(self.folder,), daemon=True)
            thread.start()
            thread.join(30)
            self.assertFalse(thread.is_alive())
        finally:
            for child in children:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)

    def test_names_of_any_bytes_and_links(self):
        target = self.folder.with_name("caf\udce9")
        target.mkdir()
        self.folder.symlink_to(target.name)
        records = make_records()
        for _ in range(2):
            records.save(self.folder)
        self.assertTrue(self.folder.is_symlink())
        self.assert_same(records, Records.load(target))
        target_file = self.folder.with_name("moved.json")
        (self.folder / "records.json").rename(target_file)
        (self.folder / "records.json").symlink_to(target_file)
        records.remove(["3"])
        records.save(self.folder)
        self.assertTrue((self.folder / "records.json").is_symlink())
        self.assert_same(records, Records.load(self.folder))


if __name__ == "__main__":
    unittest.main()
