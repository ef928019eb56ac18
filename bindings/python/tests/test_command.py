# SPDX-License-Identifier: MIT
"""polar build, search and info."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np
from command_support import CommandTest
from support import needs_indexes

import polarquant


class MainTest(CommandTest):
    def test_help_has_examples(self):
        for arguments in (["--help"], *([c, "--help"] for c in ("bench", "build", "convert"))):
            out, _ = self.polar(*arguments)
            self.assertIn("polar build" if len(arguments) == 1 else "examples:", out)
        self.assertIn(polarquant.__version__, self.polar("--version")[0])

    def test_wrong_arguments_are_told_in_one_line(self):
        for text, arguments in [
            ("COMMAND", []),
            ("invalid choice", ["fly"]),
            ("required: vectors", ["build"]),
            ("'hamming' is not allowed", ["info", "--metric", "hamming"]),
            ("0 is not allowed; 1 to", ["search", "a", "b", "-k", "0"]),
            ("'x' is not a whole number", ["search", "a", "b", "-k", "x"]),
            ("nan is not allowed", ["bench", "x.npy", "--want-recall", "nan"]),
        ]:
            with self.subTest(arguments):
                self.assert_refused(text, *arguments, code=2)

    def test_a_reader_that_leaves_is_no_error(self):
        command = [sys.executable, "-m", "polarquant", "info"]
        ran = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        ran.stdout.close()
        with ran.stderr:
            self.assertEqual((ran.stderr.read(), ran.wait(60)), (b"", 0))


class InfoTest(CommandTest):
    def test_codes_are_told(self):
        self.assertIn("Polar2", self.polar("info")[0])
        told = json.loads(self.polar("info", "Polar4", "--dim", "100", "--json")[0])
        self.assertEqual(
            (told["kind"], told["dim"], told["code_size"]),
            ("code", 100, polarquant.Codec("Polar4", 100).code_size),
        )
        self.assertRegex(self.polar("info", "Polar2-pca")[0], "needs training +True")
        self.assert_refused("Polar99", "info", "Polar99")

    def test_states_are_told(self):
        codec = polarquant.Codec("Polar2", 32, "l2", seed=7)
        path = pathlib.Path(self.path("codec"))
        path.write_bytes(codec.save_state())
        out, _ = self.polar("info", path)
        self.assertRegex(out, "kind +codec state\n")
        self.assertRegex(out, "seed +7\n")
        path.write_bytes(codec.save_state()[:-1])
        self.assert_refused("state", "info", path)

    def test_vectors_and_other_files_are_told(self):
        _, path = self.rows(20, 8)
        told = json.loads(self.polar("info", path, "--json")[0])
        self.assertEqual((told["vectors"], told["dim"], told["dtype"]), (20, 8, "float32"))
        pathlib.Path(self.path("other")).write_bytes(b"something else")
        self.assert_refused("neither an index file", "info", self.path("other"))
        self.assert_refused("", "info", self.folder)


@needs_indexes
class BuildAndSearchTest(CommandTest):
    def test_rows_are_found(self):
        x, rows = self.rows(500, 32)
        index = self.path("rows.polar")
        _, said = self.polar("build", rows, index, "--index", "Polar8", "--metric", "ip")
        self.assertIn("500 vectors of 32 dimensions as Polar8", said)
        expected_scores, expected = polarquant.Index.load(index).search(x[:9], 3)

        np.save(self.path("queries.npy"), x[:9])
        asked = ("search", index, self.path("queries.npy"), "-k", "3")
        out, _ = self.polar(*asked)
        lines = [line.split("\t") for line in out.splitlines()]
        self.assertEqual(lines[0], ["query", "rank", "id", "score"])
        self.assertEqual([int(line[2]) for line in lines[1:]], expected.ravel().tolist())
        ids, scores = self.path("ids.npy"), self.path("scores.npy")
        out, _ = self.polar(*asked, "--ids", ids, "--scores", scores, "--memory-map")
        self.assertEqual(out, "")
        np.testing.assert_array_equal(np.load(ids), expected)
        np.testing.assert_array_equal(np.load(scores), expected_scores)
        self.assertEqual(sorted(os.listdir(self.folder))[0], "ids.npy")

    def test_a_search_is_explained(self):
        x, rows = self.rows(500, 64)
        index = self.path("rows.polar")
        self.polar("build", rows, index, "--index", "Polar4", "--metric", "ip")
        asked = ("search", index, rows, "-k", "3", "--threads", "1", "--explain")
        out, _ = self.polar(*asked, "--ids", self.path("ids.npy"))
        self.assertEqual(out, polarquant.Index.load(index).explain(500, 3, num_threads=1))
        self.assertFalse(os.path.exists(self.path("ids.npy")))
        every_row, _ = self.polar(*asked, "--exactness", "inf")
        self.assertIn("scan: dense", every_row)
        self.assert_refused("nprobe", *asked, "--nprobe", "2")
        told = json.loads(self.polar("info", index, "--json")[0])
        self.assertRegex(told["one_query"]["scan"], "^staged")
        self.assertEqual(told["1000_queries"]["rows"], "500")
        self.assertIn("\n  scan: staged", self.polar("info", index)[0])

    def test_an_index_is_what_python_makes(self):
        x, rows = self.rows(500, 32)
        np.save(self.path("ids.npy"), np.arange(500) * 3)
        index = self.path("rows.polar")
        self.polar(
            *("build", rows, index, "--index", "IVF4,Polar4", "--metric", "l2"),
            *("--ids", self.path("ids.npy"), "--verify"),
        )
        made = polarquant.Index("IVF4,Polar4", 32, "l2")
        made.train(x)
        made.add_with_ids(x, np.arange(500) * 3)
        loaded = polarquant.Index.load(index)
        for found, wanted in zip(loaded.search(x, 5, nprobe=2), made.search(x, 5, nprobe=2)):
            np.testing.assert_array_equal(found, wanted)
        told = json.loads(self.polar("info", index, "--json", "--verify")[0])
        self.assertEqual(
            (told["index"], told["metric"], told["vectors"], told["verified"]),
            ("IVF4,Polar4", "l2", 500, True),
        )
        # Of all lists, only what is allowed.
        np.save(self.path("allowed.npy"), np.array([9, 30, 3]))
        out, _ = self.polar(
            *("search", index, rows, "-k", "5", "--nprobe", "4"),
            *("--allow", self.path("allowed.npy")),
        )
        found = {line.split("\t")[2] for line in out.splitlines()[1:]}
        self.assertEqual(found, {"3", "9", "30"})

    def test_a_refinement_scores_more_rows_again(self):
        x, rows = self.rows(300, 32)
        index = self.path("rows.polar")
        self.polar("build", rows, index, "--index", "Polar1,RFlat")
        made = polarquant.Index.load(index)
        for k_factor, asked in ((0, ()), (300, ("--k-factor", "300"))):
            self.polar("search", index, rows, *asked, "--ids", self.path("ids.npy"))
            np.testing.assert_array_equal(
                np.load(self.path("ids.npy")), made.search(x, 10, k_factor=k_factor)[1]
            )
        _, said = self.polar("search", index, rows, "--k-factor", "0.5", code=2)
        self.assertIn("0.5 is not allowed; 1 to inf", said)

    def test_a_sample_is_trained_on(self):
        x, rows = self.rows(2000, 32)
        index = self.path("rows.polar")
        _, said = self.polar("build", rows, index, "--train-rows", "300")
        self.assertIn("trained on 300", said)
        ids = polarquant.Index.load(index).search(x[:20], 1)[1]
        self.assertEqual(ids[:, 0].tolist(), list(range(20)))

    def test_what_cannot_be_done_is_told(self):
        x, rows = self.rows(50, 8)
        index = self.path("rows.polar")
        self.assert_refused("No such file", "build", self.path("none.npy"), index)
        self.assert_refused("Nothing7", "build", rows, index, "--index", "Nothing7")
        self.assert_refused("/no/such", "build", rows, "/no/such/folder/index")
        np.save(self.path("ids.npy"), np.arange(49))
        self.assert_refused("(50,)", "build", rows, index, "--ids", self.path("ids.npy"))
        x[33, 3] = np.inf
        np.save(rows, x)
        self.assert_refused("row 33", "build", rows, index)
        self.assertFalse(os.path.exists(index))
        self.assert_refused("No such file", "search", index, rows)
        np.save(rows, x[:20])
        self.polar("build", rows, index)
        self.rows(3, 9, name="other.npy")
        self.assert_refused("the index has 8", "search", index, self.path("other.npy"))
        self.assert_refused("nprobe", "search", index, rows, "--nprobe", "3")


if __name__ == "__main__":
    unittest.main()
