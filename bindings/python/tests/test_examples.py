# SPDX-License-Identifier: MIT
"""The examples that need other packages; the build runs those that do not."""

import importlib.util
import subprocess
import sys
import unittest

from support import ROOT, has_java, needs_indexes

_FOLDER = ROOT / "examples" / "python" / "integrations"
# name: (module that it needs, what it prints)
_EXAMPLES = {
    "take_over_faiss": ("faiss", "row 7, IVF16,Polar4, nprobe 4\n"),
    "ray_build": ("ray", "row 7, 4 shards\n"),
    "ray_serve": ("starlette", "rows [7, 8]\n"),
    "spark_build": ("pyspark", "row 7 of 8000\n"),
    "langchain_store": ("langchain_core", "second, page 1\n"),
    "llama_index_store": ("llama_index", "text 3, page 3\n"),
}


@needs_indexes
@unittest.skipUnless(_FOLDER.is_dir(), "there are no examples beside an installed package")
class ExamplesTest(unittest.TestCase):
    def check(self, name):
        module, printed = _EXAMPLES[name]
        if importlib.util.find_spec(module) is None:
            self.skipTest(f"{module} is not installed")
        command = [sys.executable, str(_FOLDER / f"{name}.py")]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
        self.assertEqual((ran.returncode, ran.stdout), (0, printed), ran.stderr)

    def test_take_over_faiss(self):
        self.check("take_over_faiss")

    def test_ray_build(self):
        self.check("ray_build")

    def test_ray_serve(self):
        self.check("ray_serve")

    def test_spark_build(self):
        if not has_java():
            self.skipTest("Java is not installed")
        self.check("spark_build")

    def test_langchain_store(self):
        self.check("langchain_store")

    def test_llama_index_store(self):
        self.check("llama_index_store")

    def test_examples_of_engines_are_short(self):
        """Lines of code, without comments and the texts that say what they are."""
        for name in ("ray_build", "ray_serve", "spark_build"):
            code = (_FOLDER / f"{name}.py").read_text().partition('"""')[2].partition('"""')[2]
            lines = [line for line in code.splitlines() if line.strip() and line.strip()[0] != "#"]
            self.assertLessEqual(len(lines), 30, name)

    def test_all_are_run(self):
        self.assertEqual({path.stem for path in _FOLDER.glob("*.py")}, set(_EXAMPLES))


if __name__ == "__main__":
    unittest.main()
