# SPDX-License-Identifier: MIT
"""Documents in a vector store of LangChain's, saved and loaded."""

import tempfile

from langchain_core.embeddings import DeterministicFakeEmbedding
from polarquant.langchain import PolarVectorStore

# Stands in for your embeddings.
embeddings = DeterministicFakeEmbedding(size=384)

store = PolarVectorStore(embeddings, "Polar4")
store.add_texts(["first", "second", "third"], [{"page": i} for i in range(3)])

with tempfile.TemporaryDirectory() as folder:
    store.save_local(folder)
    store = PolarVectorStore.load_local(folder, embeddings)
found = store.similarity_search("second", k=1, filter={"page": 1})
print(f"{found[0].page_content}, page {found[0].metadata['page']}")
