# SPDX-License-Identifier: MIT
"""The threads that loops run on, OpenMP's or the library's own: what is left of them."""

import os
import pathlib
import threading
import time
import unittest

import numpy as np

from support import make_rows

import polarquant

_TASKS = pathlib.Path("/proc/self/task")
_SIZES = pathlib.Path("/proc/self/statm")


def pages_in_memory():
    """Of this process."""
    return int(_SIZES.read_text(encoding="ascii").split()[1])


def cycle(rows):
    """A codec made, used on three threads, and destroyed."""
    with polarquant.Codec("Polar4", 32, num_threads=3) as codec:
        codec.train(rows)
        codes = codec.encode(rows)
        ids = codec.search(rows[:20], codes, 1)[1]
        blocks = polarquant.CodeBlocks(codec, codes)
        assert np.array_equal(blocks.search(rows[:20], 1)[1], ids)
    return ids


class ThreadsTest(unittest.TestCase):
    def setUp(self):
        self.rows = make_rows(700, 32)

    @unittest.skipUnless(_SIZES.exists(), "this system does not tell a process its memory so")
    def test_a_thousand_codecs_leave_nothing(self):
        for _ in range(100):
            cycle(self.rows)
        before = pages_in_memory()
        for _ in range(1000):
            cycle(self.rows)
        grown = (pages_in_memory() - before) * os.sysconf("SC_PAGE_SIZE")
        # A kilobyte a cycle would be told; the allocator's own folds of memory are not.
        self.assertLess(grown, 1_000_000)

    @unittest.skipUnless(_TASKS.exists(), "this system does not list a process's threads so")
    def test_threads_that_end_take_their_helpers_along(self):
        cycle(self.rows)
        before = len(list(_TASKS.iterdir()))
        for _ in range(50):
            thread = threading.Thread(target=cycle, args=(self.rows,))
            thread.start()
            thread.join()
        # Python's join() does not wait for the end of what the system calls a thread.
        deadline = time.monotonic() + 20
        while len(list(_TASKS.iterdir())) > before and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertLessEqual(len(list(_TASKS.iterdir())), before)

    @unittest.skipUnless(hasattr(os, "fork"), "this system has no forks")
    def test_a_forked_child_finds_the_same(self):
        expected = cycle(self.rows)
        child = os.fork()
        if child == 0:
            same = False
            try:
                same = np.array_equal(cycle(self.rows), expected)
            finally:
                os._exit(0 if same else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(np.array_equal(cycle(self.rows), expected))


if __name__ == "__main__":
    unittest.main()
