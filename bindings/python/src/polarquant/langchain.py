# SPDX-License-Identifier: MIT
"""A vector store of LangChain's: `pip install polarquant[langchain]`.

>>> from polarquant.langchain import PolarVectorStore
>>> store = PolarVectorStore(embeddings)  # any langchain_core Embeddings
>>> store.add_texts(["a text"], [{"page": 3}])
>>> store.similarity_search("words", k=4, filter={"page": 3})
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Union

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance

from polarquant._kept_values import kept_dict, kept_id, kept_value
from polarquant._records import Found, Record, Records
from polarquant._sqlite_records import make_records
from polarquant._storage import PathLike
from polarquant.errors import BadArgumentError, UnsupportedError
from polarquant.index import Index
from polarquant.metric import Metric, MetricLike

__all__ = ["PolarVectorStore"]

#: Metadata that a document must have, or a function that says whether it may be found.
DocumentFilter = Union[dict[str, Any], Callable[[Document], bool], None]


class PolarVectorStore(VectorStore):
    """Documents found by codes of their embeddings.

    embedding: makes vectors of texts.
    description: a code, or one in a factory string: "Polar4", "Polar2", "IVF1024,Polar4". What needs
    training keeps its first documents' embeddings as floats, and searches these exactly, until there
    are enough to train it: 39 for each list of an inverted file, 10 for each dimension of a code.
    Calls that delete or replace pass over all of a graph; NSG cannot.
    metric: "cosine", "ip" or "l2".
    path: an SQLite database that keeps the documents, which is made if it is not there; every call is
    then one transaction, and what it added is there after a crash. description is then a code alone.
    Without path documents are in memory, embeddings as codes, and `save_local` writes both.

    Threads may call at the same time. The asynchronous calls run these in threads.

    filter, in searches: a dict of metadata, every entry of which a document must have, or a function
    from a Document to a bool. Each document is looked at for each search.
    Scores are cosines or inner products, larger is nearer, or for "l2" squared distances.
    Other keyword arguments of searches are those of `Index.search`: exactness, nprobe, ef_search,
    k_factor.
    """

    def __init__(
        self,
        embedding: Embeddings,
        description: str = "Polar4",
        metric: MetricLike = Metric.COSINE,
        *,
        path: PathLike | None = None,
    ) -> None:
        self._embedding = embedding
        self._records = make_records(description, metric, path)

    @property
    def embeddings(self) -> Embeddings:
        """What makes vectors of texts."""
        return self._embedding

    @property
    def index(self) -> Index | None:
        """The index; None before there are documents enough, and with a path."""
        return self._records.index

    def __len__(self) -> int:
        return len(self._records)

    # A store without documents is no less there.
    def __bool__(self) -> bool:
        return True

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Adds texts, in the place of the documents that have these ids already, and returns their
        ids. Where there is none, or it is None, one is made.

        Raises BadArgumentError, and adds nothing, for an id that is no str and for metadata that a
        saved store would not give back as it was: a tuple, a key that is no str, a date."""
        texts = list(texts)
        # Before the embeddings are made, which take longest.
        names, payloads = _as_kept(texts, metadatas, ids)
        vectors = self._embedding.embed_documents(texts) if texts else []
        self._records.put(names, vectors, payloads)
        return names

    def add_embeddings(
        self,
        texts: Sequence[str],
        vectors: Sequence[Sequence[float]],
        metadatas: Sequence[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
    ) -> list[str]:
        """`add_texts` of texts whose vectors, (n, dim), are there already."""
        if len(vectors) != len(texts):
            raise BadArgumentError(f"vectors: {len(vectors)} of them; {len(texts)} texts are given")
        names, payloads = _as_kept(texts, metadatas, ids)
        self._records.put(names, vectors, payloads)
        return names

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Deletes the documents with these ids, or all; ids that are not held are passed over."""
        if ids is None:
            self._records.clear()
        else:
            self._records.remove(ids)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents with these ids; ids that are not held are passed over."""
        return [_as_document(record) for record in self._records.get(ids)]

    def similarity_search(
        self, query: str, k: int = 4, filter: DocumentFilter = None, **kwargs: Any
    ) -> list[Document]:
        """The k documents nearest to a text."""
        found = self.similarity_search_with_score(query, k, filter, **kwargs)
        return [document for document, _ in found]

    def similarity_search_with_score(
        self, query: str, k: int = 4, filter: DocumentFilter = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The k documents nearest to a text, and their scores."""
        vector = self._embedding.embed_query(query)
        return self.similarity_search_with_score_by_vector(vector, k, filter, **kwargs)

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, filter: DocumentFilter = None, **kwargs: Any
    ) -> list[Document]:
        """The k documents nearest to a vector, (dim,)."""
        found = self._find(embedding, k, filter, kwargs)
        return [_as_document(row.record) for row in found]

    def similarity_search_with_score_by_vector(
        self, embedding: list[float], k: int = 4, filter: DocumentFilter = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The k documents nearest to a vector, (dim,), and their scores."""
        found = self._find(embedding, k, filter, kwargs)
        return [(_as_document(row.record), row.score) for row in found]

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        filter: DocumentFilter = None,
        **kwargs: Any,
    ) -> list[Document]:
        """`max_marginal_relevance_search_by_vector` of a text's vector."""
        vector = self._embedding.embed_query(query)
        return self.max_marginal_relevance_search_by_vector(
            vector, k, fetch_k, lambda_mult, filter, **kwargs
        )

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        filter: DocumentFilter = None,
        **kwargs: Any,
    ) -> list[Document]:
        """k of the fetch_k nearest documents that are near to a vector and far from each other.

        lambda_mult: 0 for the most diverse, 1 for the nearest. Documents are compared by what their
        codes stand for.
        """
        found = self._find(embedding, fetch_k, filter, kwargs)
        if not found:
            return []
        vectors = self._records.vectors([row.record for row in found])
        chosen = maximal_marginal_relevance(
            np.asarray(embedding, dtype=np.float32), list(vectors), lambda_mult, k
        )
        return [_as_document(found[place].record) for place in chosen]

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        description: str = "Polar4",
        metric: MetricLike = Metric.COSINE,
        path: PathLike | None = None,
        **kwargs: Any,
    ) -> PolarVectorStore:
        """A store of these texts."""
        store = cls(embedding, description, metric, path=path)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def save_local(self, folder: PathLike) -> None:
        """Writes documents and codes to a folder, which is made. What was saved there before stays
        whole until the new is, for those who load it meanwhile too, and files that no store wrote
        stay as they are. Threads and processes that save to one folder wait for each other.

        Raises InputOutputError where the system refuses; the folder is then as it was, unless the
        error says that the new files are in place, and may not outlast a crash of the system."""
        self._records.save(folder)

    @classmethod
    def load_local(
        cls,
        folder: PathLike,
        embedding: Embeddings,
        *,
        memory_map: bool = False,
        trust_faiss: bool = False,
    ) -> PolarVectorStore:
        """The store that `save_local` wrote. Nothing in the folder is run.

        memory_map: codes stay in the file, and the store cannot be changed.
        trust_faiss: for stores of FAISS's own indexes ("IVF16,Flat"), as for `Index.load`.
        Raises NotFoundError, CorruptDataError, NewerFormatError.
        """
        store = cls.__new__(cls)
        store._embedding = embedding
        store._records = Records.load(folder, memory_map=memory_map, trust_faiss=trust_faiss)
        return store

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        metric = self._records.metric
        if metric != Metric.COSINE:
            raise UnsupportedError(
                f"metric: {metric.name.lower()} has no relevance from 0 to 1; cosine has"
            )
        # Estimates of a cosine can be slightly beyond 1.
        return lambda score: min(1.0, max(0.0, (1.0 + score) / 2))

    def _find(
        self,
        vector: Sequence[float],
        k: int,
        filter: DocumentFilter,
        options: dict[str, Any],
    ) -> list[Found]:
        # What a retriever asks of every store, and is no option of a search.
        options = {name: value for name, value in options.items() if name != "score_threshold"}
        return self._records.find(vector, k, _as_keep(filter), **options)


def _as_kept(
    texts: Sequence[str],
    metadatas: Sequence[dict[str, Any]] | None,
    ids: Sequence[str | None] | None,
) -> tuple[list[str], list[dict[str, Any]]]:
    """The id of each text, and what is kept beside its vector."""
    for name, given in (("metadatas", metadatas), ("ids", ids)):
        if given is not None and len(given) != len(texts):
            raise BadArgumentError(f"{name}: {len(given)} of them; {len(texts)} texts are given")
    names = [
        str(uuid.uuid4()) if id is None or id == "" else kept_id("ids", id)
        for id in (ids or [None] * len(texts))
    ]
    payloads = [
        {
            "text": kept_value(f"texts[{i}]", text),
            "metadata": kept_dict(f"metadatas[{i}]", dict(metadata)),
        }
        for i, (text, metadata) in enumerate(zip(texts, metadatas or [{}] * len(texts)))
    ]
    return names, payloads


def _as_keep(filter: DocumentFilter) -> Callable[[Record], bool] | None:
    if filter is None:
        return None
    if callable(filter):
        keeps = filter
        return lambda record: bool(keeps(_as_document(record)))
    wanted = dict(filter)
    missing = object()
    return lambda record: all(
        record.payload["metadata"].get(name, missing) == value for name, value in wanted.items()
    )


def _as_document(record: Record) -> Document:
    payload = record.payload
    return Document(id=record.id, page_content=payload["text"], metadata=dict(payload["metadata"]))
