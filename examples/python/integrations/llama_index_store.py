# SPDX-License-Identifier: MIT
"""An index of LlamaIndex's over a vector store of codes."""

from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters
from polarquant.llama_index import PolarVectorStore

documents = [Document(text=f"text {i}", metadata={"page": i}) for i in range(5)]

store = PolarVectorStore("Polar4")
index = VectorStoreIndex.from_documents(
    documents,
    storage_context=StorageContext.from_defaults(vector_store=store),
    embed_model=MockEmbedding(embed_dim=384),  # stands in for yours
)
filters = MetadataFilters(filters=[MetadataFilter(key="page", value=3)])
found = index.as_retriever(similarity_top_k=1, filters=filters).retrieve("a question")
print(f"{found[0].node.text}, page {found[0].node.metadata['page']}")
