# SPDX-License-Identifier: MIT
import pickle
import unittest

import polarquant
from polarquant.errors import error_for

_BUILTINS = [
    (polarquant.BadArgumentError, ValueError),
    (polarquant.UnsupportedError, NotImplementedError),
    (polarquant.NotTrainedError, RuntimeError),
    (polarquant.NotFoundError, KeyError),
    (polarquant.StateMismatchError, ValueError),
    (polarquant.OutOfMemoryError, MemoryError),
    (polarquant.CorruptDataError, ValueError),
    (polarquant.NewerFormatError, ValueError),
    (polarquant.InputOutputError, OSError),
    (polarquant.CudaError, RuntimeError),
    (polarquant.CancelledError, RuntimeError),
    (polarquant.InternalError, RuntimeError),
]


class ErrorTest(unittest.TestCase):
    def test_each_is_a_polar_error_and_the_builtin_one_expects(self):
        for kind, builtin in _BUILTINS:
            with self.subTest(kind.__name__):
                error = error_for(kind.status, "text")
                self.assertIs(type(error), kind)
                self.assertIsInstance(error, polarquant.PolarError)
                self.assertIsInstance(error, builtin)
                self.assertEqual(str(error), "text")
                again = pickle.loads(pickle.dumps(error))
                self.assertIs(type(again), kind)
                self.assertEqual(str(again), "text")

    def test_an_unknown_status_is_told(self):
        error = error_for(999, "text")
        self.assertIs(type(error), polarquant.PolarError)
        self.assertEqual((error.status, str(error)), (999, "status 999: text"))

    def test_the_library_s_text_names_the_argument(self):
        with self.assertRaises(polarquant.BadArgumentError) as caught:
            polarquant.Codec("Polar99", 8)
        self.assertIn("Polar99", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
