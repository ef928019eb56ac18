# SPDX-License-Identifier: MIT
"""Progress, Ctrl-C, threads and forked processes."""

import contextlib
import io
import multiprocessing
import os
import signal
import sys
import threading
import time
import unittest
import unittest.mock

import numpy as np
from support import make_rows, needs_indexes

import polarquant
from polarquant import _search

N, DIM = 20000, 64


def _search_in_child(searched, queries, queue):
    queue.put(searched.search(queries, 3)[1])


def _search_in_children(searched, queries):
    """What two forked processes find."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    arguments = (searched, queries, queue)
    children = [context.Process(target=_search_in_child, args=arguments) for _ in range(2)]
    for child in children:
        child.start()
    try:
        return [queue.get(timeout=60) for _ in children]
    finally:
        for child in children:
            child.join(10)
            if child.is_alive():
                child.kill()


class LongCallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.codec = polarquant.Codec("Polar2", DIM)
        cls.codes = cls.codec.encode(make_rows(N, DIM))
        cls.blocks = polarquant.CodeBlocks(cls.codec, cls.codes)
        cls.queries = make_rows(400, DIM, seed=2)

    def test_progress_is_told(self):
        heard = []
        with_progress = self.blocks.search(self.queries, 3, progress=heard.append)
        np.testing.assert_array_equal(with_progress[1], self.blocks.search(self.queries, 3)[1])
        self.assertEqual(heard, sorted(heard))
        self.assertAlmostEqual(heard[-1], 1.0)

    def test_false_stops(self):
        with self.assertRaises(polarquant.CancelledError):
            self.blocks.search(self.queries, 3, progress=lambda done: False)
        self.blocks.search(self.queries, 3, progress=lambda done: None)

    def test_what_progress_raises_reaches_the_caller(self):
        def broken(done):
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            self.blocks.search(self.queries, 3, progress=broken)
        with self.assertRaisesRegex(TypeError, "progress"):
            self.blocks.search(self.queries, 3, progress=3)

    def test_a_bar_is_shown(self):
        for without_tqdm in (False, True):
            hidden = {"tqdm": None, "tqdm.auto": None} if without_tqdm else {}
            shown = io.StringIO()
            with unittest.mock.patch.dict(sys.modules, hidden), contextlib.redirect_stderr(shown):
                self.blocks.search(self.queries, 3, progress=True)
            self.assertIn("search: ", shown.getvalue())
            self.assertIn("100%", shown.getvalue())

    def test_ctrl_c_ends_a_long_search(self):
        handler = signal.getsignal(signal.SIGINT)

        def interrupt(done):
            heard.append(done)
            os.kill(os.getpid(), signal.SIGINT)

        heard = []
        # So many that one thread's first report comes before its end.
        queries = np.concatenate([self.queries] * 20)
        with self.assertRaises(KeyboardInterrupt):
            self.blocks.search(queries, 3, num_threads=1, progress=interrupt)
        self.assertLess(heard[-1], 1.0)
        self.assertIs(signal.getsignal(signal.SIGINT), handler)

    def test_ctrl_c_is_heard_without_progress(self):
        with unittest.mock.patch.object(_search, "_LONG_WORK", 1):
            killer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
            with self.assertRaises(KeyboardInterrupt):
                killer.start()
                while True:
                    self.blocks.search(self.queries, 3)
            killer.join()

    def test_other_threads_run_during_a_call(self):
        counted = []
        stop = threading.Event()

        def count():
            while not stop.is_set():
                counted.append(None)
                time.sleep(0.0005)

        thread = threading.Thread(target=count)
        thread.start()
        try:
            before = len(counted)
            self.codec.encode(np.concatenate([make_rows(20000, DIM)] * 2))
            during = len(counted) - before
        finally:
            stop.set()
            thread.join()
        self.assertGreater(during, 3)

    def test_threads_search_while_one_changes_the_rows(self):
        blocks = polarquant.CodeBlocks(self.codec, self.codes[:64])
        expected = self.codec.search(self.queries[0], self.codes[:64], 1)[1][0]
        wrong = []

        def search():
            for _ in range(200):
                ids = blocks.search(self.queries[0], 1, filter=range(64))[1]
                if ids[0] != expected:
                    wrong.append(ids)

        threads = [threading.Thread(target=search) for _ in range(3)]
        for thread in threads:
            thread.start()
        for first in range(64, 6464, 64):
            blocks.append(self.codes[first : first + 64])
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        np.testing.assert_array_equal(blocks.get(), self.codes[:6464])

    def test_a_callback_cannot_change_what_is_searched(self):
        def change(done):
            self.blocks.append(self.codes[:1])

        with self.assertRaisesRegex(RuntimeError, "callback"):
            self.blocks.search(self.queries, 3, progress=change)
        nested = []
        self.blocks.search(
            self.queries,
            3,
            progress=lambda done: nested.append(self.blocks.search(self.queries[0], 1)),
        )
        self.assertTrue(nested)
        self.blocks.append(self.codes[:0])

    def test_a_forked_process_searches(self):
        expected = self.blocks.search(self.queries, 3)[1]
        for ids in _search_in_children(self.blocks, self.queries):
            np.testing.assert_array_equal(ids, expected)


@needs_indexes
class IndexLongCallTest(unittest.TestCase):
    def test_indexes_tell_progress_and_stop(self):
        index = polarquant.Index("Polar2", DIM)
        index.add(make_rows(N, DIM))
        heard = []
        index.search(make_rows(400, DIM), 3, progress=heard.append)
        self.assertAlmostEqual(heard[-1], 1.0)
        with self.assertRaises(polarquant.CancelledError):
            index.search(make_rows(400, DIM), 3, progress=lambda done: False)

    def test_range_searches_tell_progress_and_stop(self):
        index = polarquant.Index("Polar2", DIM)
        index.add(make_rows(N, DIM))
        queries = make_rows(400, DIM)
        heard = []
        with_progress = index.range_search(queries, 20.0, progress=heard.append)
        without = index.range_search(queries, 20.0)
        for one, other in zip(with_progress, without):
            np.testing.assert_array_equal(one, other)
        self.assertEqual(heard, sorted(heard))
        self.assertAlmostEqual(heard[-1], 1.0)
        with self.assertRaises(polarquant.CancelledError):
            index.range_search(queries, 20.0, progress=lambda done: done < 0.7)

        def interrupt(done):
            os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt):
            index.range_search(queries, 20.0, progress=interrupt)

    def changes(self):
        """Calls that train and add, by kinds of index: (name, the index before it, the call)."""
        x = make_rows(3000, DIM)
        ids = np.arange(len(x))

        def trained(spec):
            index = polarquant.Index(spec, DIM)
            if not index.is_trained:
                index.train(x)
            return index

        for spec in ("IVF16,Polar2-pca", "Polar2-pca", "IVF16,Flat", "PQ4x4", "IVF16_HNSW8,Polar2"):
            untrained = polarquant.Index(spec, DIM)
            yield spec, untrained, lambda i, progress: i.train(x, progress=progress)
        for spec in ("Polar4", "IVF16,Polar4", "NSG16,Polar4", "IDMap2,Polar4", "PCA32,Polar4"):
            yield spec, trained(spec), lambda i, progress: i.add(x, progress=progress)
        for spec in ("Polar4", "IVF16,Polar4", "IDMap2,Polar4"):
            add = lambda i, progress: i.add_with_ids(x, ids, progress=progress)
            yield spec, trained(spec), add

    def test_trainings_and_adds_tell_progress(self):
        for spec, index, change in self.changes():
            with self.subTest(spec):
                heard = []
                change(index, heard.append)
                self.assertEqual(heard, sorted(heard))
                self.assertEqual(heard[-1], 1.0)

    def test_trainings_and_adds_stop_and_change_nothing(self):
        for spec, index, change in self.changes():
            with self.subTest(spec):
                before = (index.ntotal, index.is_trained)
                with self.assertRaises(polarquant.CancelledError):
                    change(index, lambda done: False)
                self.assertEqual((index.ntotal, index.is_trained), before)
                change(index, None)

    def test_ctrl_c_ends_trainings_and_adds(self):
        def interrupt(done):
            os.kill(os.getpid(), signal.SIGINT)

        for spec, index, change in self.changes():
            with self.subTest(spec):
                before = index.ntotal
                with self.assertRaises(KeyboardInterrupt):
                    change(index, interrupt)
                self.assertEqual(index.ntotal, before)

    def test_codec_training_stops(self):
        codec = polarquant.Codec("Polar2-pca", DIM)
        with self.assertRaises(polarquant.CancelledError):
            codec.train(make_rows(3000, DIM), progress=lambda done: False)
        self.assertFalse(codec.is_trained)
        codec.train(make_rows(3000, DIM), progress=lambda done: None)

    def test_progress_of_a_change_may_read_but_not_change_what_changes(self):
        index = polarquant.Index("Polar4", DIM)
        with self.assertRaisesRegex(RuntimeError, "callback"):
            index.train(make_rows(3000, DIM), progress=lambda done: index.ntotal)
        with self.assertRaisesRegex(RuntimeError, "callback"):
            index.add(make_rows(3000, DIM), progress=lambda done: index.add(make_rows(1, DIM)))
        self.assertEqual(index.ntotal, 0)
        seen = []
        index.add(make_rows(3000, DIM), progress=lambda done: seen.append(index.ntotal))
        self.assertIn(set(seen), ({0}, {0, 3000}, {3000}))
        index = polarquant.Index("Polar4", DIM)
        other = polarquant.Index("Polar4", DIM)
        index.add(make_rows(3000, DIM), progress=lambda done: other.add(make_rows(10, DIM)))
        self.assertEqual(index.ntotal, 3000)
        self.assertGreaterEqual(other.ntotal, 10)

    def test_ctrl_c_is_heard_by_a_range_search_without_progress(self):
        index = polarquant.Index("Polar2", DIM)
        index.add(make_rows(N, DIM))
        queries = make_rows(400, DIM)
        with unittest.mock.patch.object(_search, "_LONG_WORK", 1):
            killer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
            with self.assertRaises(KeyboardInterrupt):
                killer.start()
                while True:
                    index.range_search(queries, 20.0)
            killer.join()

    def test_threads_search_while_one_adds(self):
        x = make_rows(3000, DIM)
        index = polarquant.Index("Polar4", DIM, "cosine")
        index.add(x[:100])
        wrong = []

        def search():
            while index.ntotal < len(x):
                if index.search(x[7], 1)[1][0] != 7:
                    wrong.append(index.ntotal)

        threads = [threading.Thread(target=search) for _ in range(2)]
        for thread in threads:
            thread.start()
        for first in range(100, len(x), 100):
            index.add(x[first : first + 100])
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_forked_process_searches_an_index(self):
        index = polarquant.Index("Polar2,RFlat", DIM)
        x = make_rows(N, DIM)
        index.add(x)
        expected = index.search(x[:300], 3)[1]
        for ids in _search_in_children(index, x[:300]):
            np.testing.assert_array_equal(ids, expected)


if __name__ == "__main__":
    unittest.main()
