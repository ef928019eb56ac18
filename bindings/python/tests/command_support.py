# SPDX-License-Identifier: MIT
"""The command run inside the test, in a folder of its own."""

import contextlib
import importlib.util
import io
import pathlib
import tempfile
import unittest

import numpy as np
from support import make_rows

from polarquant.command import main


def needs(module):
    """Skips where a module is not installed, naming it."""
    found = importlib.util.find_spec(module) is not None
    return unittest.skipUnless(found, f"{module} is not installed")


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def path(self, name):
        return str(self.folder / name)

    def rows(self, n, dim, seed=1, name="rows.npy"):
        """Rows, and the file that has them."""
        x = make_rows(n, dim, seed)
        np.save(self.path(name), x)
        return x, self.path(name)

    def polar(self, *arguments, code=0):
        """What the command prints, and what it says besides."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                ended = main([str(argument) for argument in arguments])
            except SystemExit as exit:
                ended = exit.code
        self.assertEqual(ended, code, err.getvalue())
        return out.getvalue(), err.getvalue()

    def assert_refused(self, text, *arguments, code=1):
        """One line that says what is wrong."""
        out, err = self.polar(*arguments, code=code)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertRegex(err, r"^polar( \w+)?: error: ")
        self.assertIn(text, err)
