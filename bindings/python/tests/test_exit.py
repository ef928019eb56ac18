# SPDX-License-Identifier: MIT
"""Daemon threads that are inside the library when the interpreter ends."""

import subprocess
import sys
import unittest

from support import needs_indexes

_BEGIN = """
import numpy as np, polarquant as pq, threading, time
x = np.random.default_rng(0).standard_normal((4000, 64), dtype=np.float32)
index = pq.Index("Polar4", 64)
index.add(x)
began = threading.Event()
def loop():
    while True:
        {call}
        began.set()
for _ in range(3):
    threading.Thread(target=loop, daemon=True).start()
began.wait(60)
"""


class ExitTest(unittest.TestCase):
    def run_program(self, call, end=""):
        program = _BEGIN.format(call=call) + end
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), call)
        return done.stdout

    @needs_indexes
    def test_exit_code_is_0(self):
        for call in (
            "index.search(x[:1], 10)",
            "index.search(x[:2000], 10, progress=lambda done: None)",
            "index.search(x[:20], 10, filter=lambda id: id % 2 == 0)",
            "index.range_search(x[:20], 60., filter=lambda id: id % 2 == 0)",
            "index.__reduce__()",
            "pq.Index._adopt_loaded(pq.index.load_from_bytes(index.__reduce__()[1][0], True))",
        ):
            with self.subTest(call=call):
                self.run_program(call)

    @needs_indexes
    def test_what_runs_at_exit_can_use_the_library(self):
        registered = """
import atexit
def at_end():
    heard = []
    index.search(x[:2000], 10, progress=heard.append)
    index.add(x[:1])
    print("heard", heard[-1])
atexit.register(at_end)
"""
        out = self.run_program("index.search(x[:2000], 10, progress=lambda d: None)", registered)
        self.assertEqual(out, "heard 1.0\n")


if __name__ == "__main__":
    unittest.main()
