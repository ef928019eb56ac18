# SPDX-License-Identifier: MIT
"""Threads that read and change one object take turns."""

import threading
import time
import unittest

import numpy as np
from support import make_rows, needs_indexes

import polarquant
from polarquant._use import Use


def _wait_until(condition):
    """Ends when the condition holds; a hang guard, not a measure of time."""
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it never came to be")
        time.sleep(0.001)


class TurnsTest(unittest.TestCase):
    def setUp(self):
        self.use = Use("thing", 1)
        self.order = []
        self.threads = []

    def start(self, name, manager, hold=None):
        def body():
            try:
                with manager:
                    self.order.append(name)
                    if hold is not None:
                        hold.wait(60)
            except polarquant.BadArgumentError:
                self.order.append("refused " + name)

        thread = threading.Thread(target=body)
        thread.start()
        self.threads.append(thread)

    def join(self):
        for thread in self.threads:
            thread.join(60)
            self.assertFalse(thread.is_alive())

    def test_a_reader_goes_before_the_next_writer(self):
        hold = threading.Event()
        self.start("first", self.use.sole, hold)
        _wait_until(lambda: self.order)
        self.start("second", self.use.sole)
        _wait_until(lambda: len(self.use.writers) == 2)
        for _ in range(2):
            self.start("reader", self.use.shared)
        _wait_until(lambda: len(self.use.waiting) == 2)
        self.start("third", self.use.sole)
        _wait_until(lambda: len(self.use.writers) == 3)
        hold.set()
        self.join()
        self.assertEqual(self.order, ["first", "reader", "reader", "second", "third"])

    def test_a_writer_goes_before_readers_that_come_later(self):
        hold = threading.Event()
        self.start("early", self.use.shared, hold)
        _wait_until(lambda: self.order)
        self.start("writer", self.use.sole)
        _wait_until(lambda: self.use.writers)
        self.start("late", self.use.shared)
        _wait_until(lambda: self.use.waiting)
        hold.set()
        self.join()
        self.assertEqual(self.order, ["early", "writer", "late"])

    def test_a_change_beside_readers_waits_for_writers_alone(self):
        reads, changes = threading.Event(), threading.Event()
        self.start("early", self.use.shared, reads)
        _wait_until(lambda: self.order)
        self.start("beside", self.use.beside, changes)
        _wait_until(lambda: len(self.order) == 2)
        self.start("late", self.use.shared)
        _wait_until(lambda: len(self.order) == 3)
        self.start("sole", self.use.sole)
        _wait_until(lambda: len(self.use.writers) == 2)
        self.start("next", self.use.beside)
        _wait_until(lambda: len(self.use.writers) == 3)
        changes.set()
        time.sleep(0.02)  # the one that goes alone still waits for the reader
        self.assertEqual(self.order, ["early", "beside", "late"])
        reads.set()
        self.join()
        self.assertEqual(self.order, ["early", "beside", "late", "sole", "next"])
        self.assertEqual((self.use.writers, self.use.sole_writers), ([], set()))

    def test_a_writer_that_gives_up_lets_readers_in(self):
        hold = threading.Event()
        self.start("early", self.use.shared, hold)
        _wait_until(lambda: self.order)
        self.start("writer", self.use.sole)
        _wait_until(lambda: self.use.writers)
        self.start("late", self.use.shared)
        _wait_until(lambda: self.use.waiting)
        self.use.handle = None  # as close does
        hold.set()
        self.join()
        self.assertEqual(self.order, ["early", "refused writer", "refused late"])
        self.assertEqual((self.use.writers, self.use.waiting), ([], set()))
        self.assertEqual(self.use.readers, {})

    def test_neither_side_starves(self):
        done = {"read": 0, "write": 0}
        stop = threading.Event()

        def loop(name, manager):
            while not stop.is_set():
                with manager:
                    done[name] += 1

        for name in ("read", "write"):
            manager = self.use.shared if name == "read" else self.use.sole
            for _ in range(2):
                thread = threading.Thread(target=loop, args=(name, manager))
                thread.start()
                self.threads.append(thread)
        _wait_until(lambda: min(done.values()) > 200)
        stop.set()
        self.join()


@needs_indexes
class IndexTurnsTest(unittest.TestCase):
    def test_a_search_goes_beside_an_add(self):
        x = make_rows(2000, 32)
        index = polarquant.Index("Polar4", 32)
        index.add(x)
        begun, searched = threading.Event(), threading.Event()

        def hear(done):
            if done < 1:  # while rows are coded
                begun.set()
                searched.wait(60)

        adding = threading.Thread(target=lambda: index.add(x, progress=hear))
        adding.start()
        self.assertTrue(begun.wait(60))
        index.search(x[0], 1)
        self.assertEqual(index.ntotal, 2000)
        searched.set()
        adding.join()
        self.assertEqual(index.ntotal, 4000)

    def test_rows_that_come_between_the_two_searches_of_a_radius(self):
        x = make_rows(2000, 32)
        index = polarquant.Index("Polar4", 32, "l2")
        index.add(x)
        stop = threading.Event()

        def write():
            while not stop.is_set():
                index.add(x[:50])
                index.remove_ids(range(2000, 2050))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(300):
                lims, scores, ids = index.range_search(x[:20], 1e9)
                self.assertEqual((lims[-1], lims[-1]), (len(scores), len(ids)))
                counts = np.unique(np.diff(lims))
                self.assertEqual(len(counts), 1)
                self.assertIn(int(counts[0]), (2000, 2050))
        finally:
            stop.set()
            writer.join()

    def test_a_search_waits_for_one_add(self):
        """While others add in loops, between the call of a search and its end lie few adds: the one at
        work, and those of the time in which the searching thread runs no line."""
        x = make_rows(2000, 32)
        index = polarquant.Index("Polar4", 32)
        index.add(x)
        stop = threading.Event()
        adds = []

        def write():
            while not stop.is_set():
                index.add(x[:20])
                adds.append(None)

        writers = [threading.Thread(target=write) for _ in range(2)]
        for writer in writers:
            writer.start()
        try:
            for _ in range(100):
                index.search(x[0], 1)
        finally:
            stop.set()
            for writer in writers:
                writer.join()
        # Searches in turn with adds: about as many of both.
        self.assertLess(len(adds), 100 * 20)


if __name__ == "__main__":
    unittest.main()
