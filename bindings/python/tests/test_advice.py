# SPDX-License-Identifier: MIT
import unittest

import numpy as np
from support import make_rows

import polarquant


class AdviceTest(unittest.TestCase):
    def test_recommends_by_recall_and_bytes(self):
        x = make_rows(1200, 32)
        specs = ["Polar1", "Polar2", "Polar4"]
        heard = []
        advice = polarquant.advise(x, specs=specs, wanted_recall=0.8, progress=heard.append)
        self.assertEqual([row.spec for row in advice.rows], specs)
        self.assertTrue(advice.held_out_queries)
        recalls = [row.recall for row in advice.rows]
        self.assertEqual(recalls, sorted(recalls))
        self.assertEqual(advice.recommended, advice.rows[2])
        self.assertTrue(advice.recommended.is_recommended)
        self.assertIn("<- take this", str(advice))
        self.assertIn(advice.reason, str(advice))
        self.assertEqual(heard, sorted(heard))
        self.assertGreater(len(heard), 1)

        small = polarquant.advise(x, make_rows(20, 32, 2), specs=specs, allowed_bytes=10)
        self.assertEqual(small.recommended.spec, "Polar1")
        self.assertEqual((small.held_out_queries, small.queries), (False, 20))
        self.assertIsNone(polarquant.advise(x, specs=specs, allowed_bytes=1).recommended)

    def test_stops(self):
        with self.assertRaises(polarquant.CancelledError):
            polarquant.advise(make_rows(1200, 32), specs=["Polar2"], progress=lambda done: False)

    def test_what_is_wrong_is_named(self):
        x = make_rows(1200, 32)
        for arguments, named in [
            ({"specs": ["Polar77"]}, "Polar77"),
            ({"k": 0}, "k: 0"),
            ({"wanted_recall": 2.0}, "wanted_recall"),
            ({"queries": np.zeros((20, 31))}, "queries: shape"),
            ({"metric": "dot"}, "metric"),
            ({"max_rows": 1}, "max_rows"),
        ]:
            with self.subTest(named), self.assertRaisesRegex(ValueError, named):
                polarquant.advise(x, **arguments)
        with self.assertRaisesRegex(ValueError, "x: shape"):
            polarquant.advise(x[0])


if __name__ == "__main__":
    unittest.main()
