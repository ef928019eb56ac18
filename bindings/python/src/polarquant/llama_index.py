# SPDX-License-Identifier: MIT
"""A vector store of LlamaIndex's: `pip install polarquant[llama-index]`.

>>> from llama_index.core import StorageContext, VectorStoreIndex
>>> from polarquant.llama_index import PolarVectorStore
>>> context = StorageContext.from_defaults(vector_store=PolarVectorStore())
>>> index = VectorStoreIndex.from_documents(documents, storage_context=context)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, Optional, Union

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.indices.query.embedding_utils import get_top_k_mmr_embeddings
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)
from llama_index.core.vector_stores.utils import (
    build_metadata_filter_fn,
    metadata_dict_to_node,
    node_to_metadata_dict,
)

from polarquant._kept_values import kept_dict
from polarquant._records import Record, Records, larger_is_nearer
from polarquant._sqlite_records import SqliteRecords, make_records
from polarquant._storage import PathLike
from polarquant.errors import BadArgumentError
from polarquant.index import Index
from polarquant.metric import Metric, MetricLike

__all__ = ["PolarVectorStore"]

#: Of the candidates among which a diverse answer is chosen, for each node asked for.
_CANDIDATES = 4


class PolarVectorStore(BasePydanticVectorStore):
    """Nodes found by codes of their embeddings.

    description: a code, or one in a factory string: "Polar4", "Polar2", "IVF1024,Polar4". What needs
    training keeps its first nodes' embeddings as floats, and searches these exactly, until there
    are enough to train it: 39 for each list of an inverted file, 10 for each dimension of a code.
    Calls that delete or replace pass over all of a graph; NSG cannot.
    metric: "cosine", "ip" or "l2". Similarities are larger the nearer: cosines, inner products, or
    squared distances below 0.

    path: an SQLite database that keeps the nodes, which is made if it is not there; every call is then
    one transaction, and what it added is there after a crash. description is then a code alone. Without
    path nodes, with text and metadata, are in memory, embeddings as codes, and `persist` writes both.

    Threads may call at the same time. Metadata filters are LlamaIndex's own, which do not nest; each node is
    looked at for each search that has filters. Keyword arguments of `query` are those of `Index.search`:
    exactness, nprobe, ef_search; and mmr_threshold.
    """

    stores_text: bool = True
    _records: Union[Records, SqliteRecords] = PrivateAttr()  # noqa: UP007, pydantic reads it

    def __init__(
        self,
        description: str = "Polar4",
        metric: MetricLike = Metric.COSINE,
        *,
        path: PathLike | None = None,
    ) -> None:
        super().__init__(stores_text=True)
        self._records = make_records(description, metric, path)

    @classmethod
    def class_name(cls) -> str:
        """The store's name among LlamaIndex's."""
        return "PolarVectorStore"

    @property
    def client(self) -> Optional[Index]:  # noqa: UP045, pydantic reads it
        """The index; None before there are nodes enough, and with a path."""
        return self._records.index

    def add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """Adds nodes, which have embeddings, in the place of those that have their ids already;
        returns the ids.

        Raises BadArgumentError, and adds nothing, for metadata that a saved store would not give
        back as it was: a tuple, a key that is no str, a date."""
        self._records.put(
            [node.node_id for node in nodes],
            [node.get_embedding() for node in nodes],
            [_as_payload(node) for node in nodes],
        )
        return [node.node_id for node in nodes]

    def get_nodes(
        self,
        node_ids: list[str] | None = None,
        filters: MetadataFilters | None = None,
    ) -> list[BaseNode]:
        """The nodes of these ids, or all, that the filters keep; without embeddings."""
        return [metadata_dict_to_node(record.payload) for record in self._held(node_ids, filters)]

    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        """Deletes the nodes of a document."""
        held = [row.id for row in self._records.all() if row.payload["ref_doc_id"] == ref_doc_id]
        self._records.remove(held)

    def delete_nodes(
        self,
        node_ids: list[str] | None = None,
        filters: MetadataFilters | None = None,
        **delete_kwargs: Any,
    ) -> None:
        """Deletes the nodes of these ids, or all, that the filters keep. Without either nothing is
        deleted; `clear` deletes all."""
        if node_ids is not None or filters is not None:
            self._records.remove([record.id for record in self._held(node_ids, filters)])

    def clear(self) -> None:
        """Deletes all nodes."""
        self._records.clear()

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """The nodes nearest to query.query_embedding, best first, by mode DEFAULT or MMR, among
        those of query.node_ids, query.doc_ids and query.filters."""
        if query.query_embedding is None:
            raise BadArgumentError("query: has no query_embedding, which this store searches by")
        if query.mode not in (VectorStoreQueryMode.DEFAULT, VectorStoreQueryMode.MMR):
            raise BadArgumentError(f"query: mode {query.mode} is not allowed; default and mmr")
        threshold = kwargs.pop("mmr_threshold", query.mmr_threshold)
        is_diverse = query.mode == VectorStoreQueryMode.MMR
        k = query.similarity_top_k * (_CANDIDATES if is_diverse else 1)
        found = self._records.find(query.query_embedding, k, self._keep_of(query), **kwargs)
        records = [row.record for row in found]
        similarities = [larger_is_nearer(self._records.metric, row.score) for row in found]
        if is_diverse and records:
            similarities, places = get_top_k_mmr_embeddings(
                query.query_embedding,
                self._records.vectors(records).tolist(),
                similarity_top_k=query.similarity_top_k,
                embedding_ids=list(range(len(records))),
                mmr_threshold=threshold,
            )
            records = [records[place] for place in places]
        return VectorStoreQueryResult(
            nodes=[metadata_dict_to_node(record.payload) for record in records],
            similarities=similarities,
            ids=[record.id for record in records],
        )

    def persist(self, persist_path: str, fs: Any = None) -> None:
        """Writes nodes and codes to persist_path, a folder of this machine, which is made. What was
        written there before stays whole until the new is, for those who load it meanwhile too, and
        files that no store wrote stay as they are. Threads and processes that write to one folder
        wait for each other. fs must be None or local.

        Raises InputOutputError where the system refuses; the folder is then as it was, unless the
        error says that the new files are in place, and may not outlast a crash of the system."""
        _refuse_remote(fs)
        self._records.save(persist_path)

    @classmethod
    def from_persist_path(
        cls,
        persist_path: str,
        fs: Any = None,
        *,
        memory_map: bool = False,
        trust_faiss: bool = False,
    ) -> PolarVectorStore:
        """The store that `persist` wrote.

        memory_map: codes stay in the file, and the store cannot be changed.
        trust_faiss: for stores of FAISS's own indexes ("IVF16,Flat"), as for `Index.load`.
        Raises NotFoundError, CorruptDataError, NewerFormatError.
        """
        _refuse_remote(fs)
        records = Records.load(persist_path, memory_map=memory_map, trust_faiss=trust_faiss)
        store = cls(records.description, records.metric)
        store._records = records
        return store

    def _held(
        self, node_ids: Sequence[str] | None, filters: MetadataFilters | None
    ) -> list[Record]:
        records = self._records.all() if node_ids is None else self._records.get(node_ids)
        keeps = _filter_of(records, filters)
        return [record for record in records if keeps(record.id)]

    def _keep_of(self, query: VectorStoreQuery) -> Callable[[Record], bool] | None:
        has_filters = query.filters is not None and bool(query.filters.filters)
        # Indexes whose store keeps the nodes' text ask with empty lists for all nodes.
        nodes, documents = set(query.node_ids or []), set(query.doc_ids or [])
        if not nodes and not documents and not has_filters:
            return None
        keeps = _filter_of(self._records.all(), query.filters)

        def keep(record: Record) -> bool:
            return (
                (not nodes or record.id in nodes)
                and (not documents or record.payload["ref_doc_id"] in documents)
                and keeps(record.id)
            )

        return keep


def _as_payload(node: BaseNode) -> dict[str, Any]:
    # LlamaIndex turns what JSON does not know into what it knows.
    kept_dict(f"node {node.node_id!r}: metadata", node.metadata)
    try:
        payload = node_to_metadata_dict(node, flat_metadata=False)
    except (TypeError, ValueError) as error:
        raise BadArgumentError(f"node {node.node_id!r}: cannot be kept ({error})") from None
    return kept_dict(f"node {node.node_id!r}", payload)


def _filter_of(records: Sequence[Record], filters: MetadataFilters | None) -> Callable[[str], bool]:
    payloads = {record.id: record.payload for record in records}
    # Records that come meanwhile have nothing to be kept by.
    return build_metadata_filter_fn(lambda id: payloads.get(id, {}), filters)


def _refuse_remote(fs: Any) -> None:
    if fs is not None and "file" not in (
        [fs.protocol] if isinstance(fs.protocol, str) else fs.protocol
    ):
        raise BadArgumentError(f"fs: {fs.protocol} is not allowed; files of this machine")
