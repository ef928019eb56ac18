# SPDX-License-Identifier: MIT
"""What commands write: never over an input, through links and pipes, to any terminal."""

import importlib
import json
import os
import pathlib
import stat
import subprocess
import sys
import unittest
from unittest import mock

import numpy as np
from command_support import CommandTest, needs
from support import make_rows, needs_indexes

import polarquant


class OutputsTest(CommandTest):
    def run_polar(self, *arguments, environment=None, **options):
        """The command as a process of its own: its exit code, and its output and errors as bytes."""
        command = [sys.executable, "-m", "polarquant", *arguments]
        env = {**os.environ, **(environment or {})}
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120, **options}
        ran = subprocess.run(command, env=env, check=False, **options)
        return ran.returncode, ran.stdout, ran.stderr

    def bench(self, *more):
        _, rows = self.rows(400, 16, name="bench.npy")
        return ("bench", rows, "--codes", "Polar4", "-k", "3", "--rounds", "1", *more)

    @needs_indexes
    def test_an_output_that_is_an_input_is_refused(self):
        x, rows = self.rows(400, 16)
        os.symlink(rows, self.path("link.npy"))
        os.link(rows, self.path("hard.npy"))
        os.mkdir(self.path("other"))
        self.polar("build", rows, self.path("rows.polar"))
        np.save(self.path("ids.npy"), np.arange(400))
        before = {name: (self.folder / name).read_bytes() for name in ("rows.npy", "rows.polar")}
        names = ("rows.npy", "./rows.npy", "other/../rows.npy", "link.npy", "hard.npy")
        index, ids = self.path("rows.polar"), self.path("ids.npy")
        for name in names:
            same = f"{self.folder}/{name}"
            with self.subTest(name):
                self.assert_refused("is what is read", "build", rows, same)
                self.assert_refused("is what is read", "build", same, rows)
                self.assert_refused("is what is read", "convert", rows, same)
                self.assert_refused("is what is read", "convert", same, rows)
                self.assert_refused("is what is read", "search", index, rows, "--ids", same)
                self.assert_refused("is what is read", "search", index, rows, "--scores", same)
                self.assert_refused("is what is read", "bench", rows, "--json", same)
                self.assert_refused(
                    "is what is read", *self.bench("--queries", rows), "--json", same
                )
        self.assert_refused("is what is read", "build", rows, ids, "--ids", ids)
        self.assert_refused("is what is read", "search", index, rows, "--ids", index)
        self.assert_refused(
            "is what is read", *("search", index, rows, "--allow", ids, "--ids", ids)
        )
        new = self.path("new")
        self.assert_refused("written twice", "search", index, rows, "--ids", new, "--scores", new)
        for name, content in before.items():
            self.assertEqual((self.folder / name).read_bytes(), content)
        self.assertFalse(os.path.exists(new))

    @needs_indexes
    def test_links_stay_and_pipes_are_written_to(self):
        os.symlink("target.json", self.path("link"))
        os.mkfifo(self.path("pipe"))
        os.symlink(self.path("pipe"), self.path("link to pipe"))
        self.polar(*self.bench("--json", self.path("link")))
        self.assertTrue(os.path.islink(self.path("link")))
        whole = json.loads((self.folder / "target.json").read_text(encoding="utf-8"))
        self.assertEqual(whole["rows"][0]["code"], "Polar4")
        os.chmod(self.path("target.json"), 0o640)
        self.polar(*self.bench("--json", self.path("link")))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("target.json")).st_mode), 0o640)
        end = os.open(self.path("pipe"), os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, end)
        for name in ("pipe", "link to pipe"):
            self.polar(*self.bench("--json", self.path(name)))
            self.assertEqual(json.loads(os.read(end, 1 << 16))["k"], 3)
            self.assertTrue(stat.S_ISFIFO(os.stat(self.path(name)).st_mode))
        self.assertTrue(os.path.islink(self.path("link to pipe")))

    @needs_indexes
    def test_the_process_s_own_output_is_written_to(self):
        code, out, _ = self.run_polar(*self.bench("--json", "/dev/stdout"))
        self.assertEqual(code, 0)
        table, _, told = out.partition(b"\n{")
        self.assertIn(b"Polar4", table)
        self.assertEqual(json.loads(b"{" + told)["k"], 3)
        with open(self.path("out"), "wb") as file:
            file.write(b"before\n")
            file.flush()
            arguments = self.bench("--json", "/dev/stdout")
            self.assertEqual(self.run_polar(*arguments, stdout=file)[0], 0)
        written = (self.folder / "out").read_bytes()
        self.assertTrue(written.startswith(b"before\n"))
        self.assertEqual(json.loads(b"{" + written.partition(b"\n{")[2])["k"], 3)

    def test_a_failed_write_leaves_nothing_behind(self):
        x, rows = self.rows(30, 4)
        x[7, 1] = np.inf
        np.save(rows, x)
        self.assert_refused("row 7", "convert", rows, self.path("new.fbin"))
        self.assert_refused("No such file", "convert", rows, self.path("none/new.fbin"))
        self.assertEqual(os.listdir(self.folder), ["rows.npy"])

    @needs_indexes
    def test_names_that_are_long_or_no_text(self):
        x = make_rows(300, 16)
        folder = os.fsencode(self.folder)
        for name in (b"caf\xe9\xff", b"n" * 240, b"d" * 200 + b"/" + b"e" * 200):
            source, index = folder + b"/" + name + b".npy", folder + b"/" + name + b".polar"
            os.makedirs(os.path.dirname(source), exist_ok=True)
            with self.subTest(name):
                with open(source, "wb") as file:
                    np.save(file, x)
                code, _, err = self.run_polar("build", source, index, "--index", "Polar8")
                self.assertEqual((code, b"300 vectors" in err), (0, True), err)
                self.assertIn(name, err)
                code, out, err = self.run_polar("search", index, source, "-k", "1")
                self.assertEqual((code, len(out.splitlines()), err), (0, 301, b""))
                code, out, err = self.run_polar("info", index)
                self.assertEqual((code, err), (0, b""))
                loaded = polarquant.Index.load(index)
                self.assertEqual(loaded.ntotal, 300)
                loaded.save(os.fsdecode(index))
                loaded.save(pathlib.Path(os.fsdecode(index)))
                self.assertEqual(polarquant.Index.load(index, memory_map=True).ntotal, 300)
                arguments = ("bench", source, "--codes", "Polar4", "-k", "3", "--rounds", "1")
                code, out, err = self.run_polar(*arguments, "--json", source + b".json")
                self.assertEqual((code, name.rpartition(b"/")[2] in out), (0, True), err)
                with open(source + b".json", encoding="utf-8") as file:
                    self.assertEqual(json.load(file)["data"]["vectors"], os.fsdecode(source))
        for path in ("zero\0byte", "half \ud83d", "n" * 256):
            with self.subTest(path), self.assertRaises(polarquant.PolarError):
                loaded.save(path)

    @needs("pyarrow")
    def test_parquet_files_of_any_name(self):
        x, rows = self.rows(30, 4)
        target = os.fsencode(self.folder) + b"/caf\xe9.parquet"
        self.assertEqual(self.run_polar("convert", rows, target)[0], 0)
        code, out, err = self.run_polar("info", target)
        self.assertEqual((code, b"30" in out), (0, True), err)

    @needs("faiss")
    @needs_indexes
    def test_faiss_s_files_of_any_name_and_its_errors(self):
        faiss = importlib.import_module("faiss")
        quantizer = faiss.IndexFlatL2(8)
        ivf = faiss.IndexIVFFlat(quantizer, 8, 3)
        ivf.train(make_rows(200, 8))
        ivf.add(make_rows(200, 8))
        folder = os.fsencode(self.folder)
        source = folder + b"/caf\xe9.faiss"
        with open(source, "wb") as file:
            file.write(faiss.serialize_index(ivf).tobytes())
        code, _, err = self.run_polar("convert", source, folder + b"/rows.polar")
        self.assertEqual((code, b"200 vectors of 8" in err), (0, True), err)
        with open(source, "r+b") as file:
            file.truncate(50)
        code, _, err = self.run_polar("convert", source, folder + b"/rows.polar")
        self.assertEqual((code, err.count(b"\n")), (1, 1), err)
        self.assertNotIn(b"Error in", err)
        _, rows = self.rows(200, 16)
        codes = ("--codes", "faiss:PQ4x8;faiss:PQ3;Polar4", "-k", "3", "--rounds", "1")
        out, _ = self.polar("bench", rows, *codes)
        self.assertIn("PQ4x8: not measured: Number of training points", out)
        self.assertNotIn("Error in", out)

    def test_a_place_that_takes_no_index_is_told_of_first(self):
        _, rows = self.rows(30, 4)
        with mock.patch("polarquant.command.build.Index", side_effect=AssertionError("built")):
            self.assert_refused("is no folder", "build", rows, self.path("none/rows.polar"))
            self.assert_refused("not a regular file", "build", rows, "/dev/null")
            self.assert_refused("not a regular file", "build", rows, self.folder)

    @needs_indexes
    def test_terminals_that_know_ascii_alone(self):
        environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        _, rows = self.rows(300, 16, name="é.npy")
        arguments = ("bench", rows, "--codes", "Polar4", "-k", "3", "--rounds", "1")
        for more in (environment, {"PYTHONIOENCODING": "ascii"}):
            with self.subTest(more):
                code, out, err = self.run_polar(*arguments, environment=more)
                self.assertEqual((code, err), (0, b""))
                self.assertRegex(out, rb"\d+ x 16, ")
                self.assertIn(b"+-", out)
                for command in (["info"], ["bench", "--help"], ["info", "Polar2-pca"]):
                    code, out, err = self.run_polar(*command, environment=more)
                    self.assertEqual((code, err), (0, b""))
                    out.decode("ascii")
                code, _, err = self.run_polar("info", self.path("ü.polar"), environment=more)
                self.assertEqual((code, err.count(b"\n")), (1, 1))


if __name__ == "__main__":
    unittest.main()
