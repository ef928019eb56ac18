# SPDX-License-Identifier: MIT
"""The vector store of LlamaIndex's, beside its own simple one, which is exact."""

import asyncio
import importlib.util
import pathlib
import tempfile
import unittest

import numpy as np
from support import make_rows, needs_indexes, needs_sqlite

import polarquant

_HAS_LLAMA_INDEX = importlib.util.find_spec("llama_index") is not None

if _HAS_LLAMA_INDEX:
    from llama_index.core import Document, StorageContext, VectorStoreIndex
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
    from llama_index.core.vector_stores import SimpleVectorStore
    from llama_index.core.vector_stores.types import (
        FilterCondition,
        FilterOperator,
        MetadataFilter,
        MetadataFilters,
        VectorStoreQuery,
        VectorStoreQueryMode,
    )

    from polarquant.llama_index import PolarVectorStore

DIM = 32
NODES = 60


def _nodes():
    rows = make_rows(NODES, DIM)
    return [
        TextNode(
            id_=f"node {i}",
            text=f"text {i}",
            embedding=row.tolist(),
            metadata={"page": i, "kind": "even" if i % 2 == 0 else "odd", "tags": [i % 3, i % 5]},
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"document {i // 10}")},
        )
        for i, row in enumerate(rows)
    ]


def _filters(*rows, condition="and"):
    return MetadataFilters(
        filters=[
            MetadataFilter(key=key, operator=FilterOperator(operator), value=value)
            for key, operator, value in rows
        ],
        condition=FilterCondition(condition),
    )


@needs_indexes
@unittest.skipUnless(_HAS_LLAMA_INDEX, "llama-index-core is not installed")
class LlamaIndexTest(unittest.TestCase):
    def setUp(self):
        self.nodes = _nodes()
        # Exact, too, so that the order of near neighbours can be compared.
        self.store, self.simple = PolarVectorStore("IVF1,Flat"), SimpleVectorStore()
        for store in (self.store, self.simple):
            self.assertEqual(store.add(self.nodes), [node.node_id for node in self.nodes])

    def query(self, **options):
        asked = {"query_embedding": make_rows(1, DIM, seed=5)[0].tolist(), "similarity_top_k": 8}
        return VectorStoreQuery(**{**asked, **options})

    def assert_same(self, query):
        """The same nodes in the same order, with the same similarities."""
        found, expected = self.store.query(query, nprobe=1), self.simple.query(query)
        self.assertEqual(found.ids, expected.ids)
        np.testing.assert_allclose(found.similarities, expected.similarities, atol=1e-5)
        self.assertEqual([node.node_id for node in found.nodes], found.ids)
        return found

    def test_nodes_are_found(self):
        found = self.assert_same(self.query())
        node = found.nodes[0]
        original = self.nodes[int(node.node_id.split()[1])]
        self.assertEqual(
            (node.text, node.metadata, node.ref_doc_id),
            (original.text, original.metadata, original.ref_doc_id),
        )
        self.assertEqual(len(self.assert_same(self.query(similarity_top_k=100)).ids), NODES)
        self.assertEqual(PolarVectorStore().query(self.query()).ids, [])

    def test_every_filter_keeps_what_it_keeps_there(self):
        for filters in (
            _filters(("page", "==", 7)),
            _filters(("page", "!=", 7)),
            _filters(("page", ">", 50)),
            _filters(("page", ">=", 50), ("kind", "==", "odd")),
            _filters(("page", "<", 9), ("page", "<=", 5)),
            _filters(("page", "in", [1, 5, 40])),
            _filters(("page", "nin", list(range(50)))),
            _filters(("kind", "text_match", "ve")),
            _filters(("tags", "contains", 4)),
            _filters(("tags", "any", [4, 2])),
            _filters(("tags", "all", [0, 2])),
            _filters(("page", "==", 1), ("page", "==", 2), condition="or"),
            _filters(("page", "==", 1000)),
        ):
            with self.subTest(filters):
                found = self.assert_same(self.query(filters=filters))
                kept = {node.node_id for node in self.store.get_nodes(filters=filters)}
                self.assertLessEqual(set(found.ids), kept)

    def test_nodes_and_documents_that_are_named(self):
        self.assert_same(self.query(node_ids=["node 3", "node 44", "none"]))
        found = self.store.query(self.query(doc_ids=["document 2"]), nprobe=1)
        self.assertEqual({node.ref_doc_id for node in found.nodes}, {"document 2"})
        self.assertEqual(len(found.ids), 8)

    def test_answers_can_be_diverse(self):
        query = self.query(mode=VectorStoreQueryMode.MMR, similarity_top_k=5)
        # All of them are candidates.
        query.similarity_top_k = 15
        found = self.store.query(query, mmr_threshold=0.5)
        expected = self.simple.query(query, mmr_threshold=0.5)
        self.assertEqual(found.ids[:5], expected.ids[:5])
        self.assertEqual(len(found.ids), 15)
        with self.assertRaisesRegex(polarquant.BadArgumentError, "mode"):
            self.store.query(self.query(mode=VectorStoreQueryMode.SPARSE))
        with self.assertRaisesRegex(polarquant.BadArgumentError, "query_embedding"):
            self.store.query(VectorStoreQuery(query_str="text"))

    def test_nodes_go_and_change(self):
        for store in (self.store, self.simple):
            store.delete("document 1")
            store.delete_nodes(["node 33", "none"])
            store.delete_nodes(filters=_filters(("page", ">", 50)))
            store.delete_nodes(["node 2", "node 3"], _filters(("kind", "==", "odd")))
        self.assert_same(self.query(similarity_top_k=NODES))
        self.assertEqual(self.store.client.ntotal, NODES - 10 - 1 - 9 - 1)
        self.store.delete_nodes()
        self.assertEqual(self.store.client.ntotal, NODES - 21)
        changed = TextNode(id_="node 0", text="new", embedding=self.nodes[7].embedding)
        self.store.add([changed])
        self.assertEqual(self.store.get_nodes(["node 0"])[0].text, "new")
        self.assertEqual(self.store.client.ntotal, NODES - 21)
        self.store.clear()
        self.assertEqual((self.store.get_nodes(), self.store.client), ([], None))

    def test_metrics(self):
        for metric in ("ip", "l2"):
            store = PolarVectorStore("Polar8", metric)
            store.add(self.nodes)
            query = self.query()
            rows = np.array([node.embedding for node in self.nodes])
            asked = np.array(query.query_embedding)
            exact = rows @ asked if metric == "ip" else -((rows - asked) ** 2).sum(axis=1)
            found = store.query(query)
            self.assertEqual(found.ids[0], f"node {exact.argmax()}")
            self.assertAlmostEqual(found.similarities[0], exact.max(), delta=0.5)
            self.assertEqual(found.similarities, sorted(found.similarities, reverse=True))

    def test_a_store_is_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder) / "store")
            self.store.persist(path)
            with self.assertRaisesRegex(polarquant.UnsupportedError, "trust_faiss"):
                PolarVectorStore.from_persist_path(path)  # its index is FAISS's
            again = PolarVectorStore.from_persist_path(path, trust_faiss=True)
            found, expected = again.query(self.query()), self.store.query(self.query())
            self.assertEqual((found.ids, found.similarities), (expected.ids, expected.similarities))
            self.assertEqual(found.nodes[0].text, expected.nodes[0].text)
            again.delete("document 0")
            self.assertEqual(again.client.ntotal, NODES - 10)
            with self.assertRaises(polarquant.NotFoundError):
                PolarVectorStore.from_persist_path(folder)

    def test_an_index_of_llama_index_stands_on_it(self):
        store = PolarVectorStore()
        index = VectorStoreIndex.from_documents(
            [Document(text=f"text {i}", id_=f"d{i}", metadata={"page": i}) for i in range(5)],
            storage_context=StorageContext.from_defaults(vector_store=store),
            embed_model=MockEmbedding(embed_dim=16),
        )
        filters = _filters(("page", "==", 3))
        retriever = index.as_retriever(similarity_top_k=2, filters=filters)
        self.assertEqual([row.node.text for row in retriever.retrieve("text")], ["text 3"])
        index.delete_ref_doc("d3")
        self.assertEqual(retriever.retrieve("text"), [])
        self.assertEqual(len(store.get_nodes()), 4)
        again = VectorStoreIndex.from_vector_store(store, embed_model=MockEmbedding(embed_dim=16))
        self.assertEqual(len(again.as_retriever(similarity_top_k=9).retrieve("x")), 4)

    def test_metadata_that_would_not_come_back_is_refused(self):
        for metadata, text in (
            ({"a": (1, 2)}, "metadata\\['a'\\]: \\(1, 2\\) is of type tuple"),
            ({"a": {3: 1}}, "metadata\\['a'\\]: key 3 is of type int"),
            ({"a": "x\ud83d"}, "metadata\\['a'\\]: has"),
        ):
            node = TextNode(id_="new", text="x", embedding=[0.5] * DIM, metadata=metadata)
            with self.subTest(text), self.assertRaisesRegex(polarquant.BadArgumentError, text):
                self.store.add([node])
        node = TextNode(id_="new", text="\ud83d", embedding=[0.5] * DIM)
        with self.assertRaises(polarquant.BadArgumentError):
            self.store.add([node])
        self.assertEqual(len(self.store.get_nodes()), NODES)

    def test_asynchronous_calls(self):
        async def work():
            await self.store.async_add([TextNode(id_="new", text="", embedding=[1.0] * DIM)])
            found = await self.store.aquery(self.query(query_embedding=[1.0] * DIM))
            await self.store.adelete_nodes(["new"])
            return found.ids[0]

        self.assertEqual(asyncio.run(work()), "new")
        self.assertEqual(self.store.client.ntotal, NODES)

    @needs_sqlite
    def test_a_store_in_a_database_keeps_its_nodes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "nodes.db"
            PolarVectorStore("Polar8", path=path).add(self.nodes)
            store = PolarVectorStore("Polar8", path=path)
            for query in (self.query(), self.query(filters=_filters(("page", ">", 50)))):
                found, expected = store.query(query), self.simple.query(query)
                self.assertEqual(found.ids, expected.ids)
                np.testing.assert_allclose(found.similarities, expected.similarities, atol=1e-4)
            store.delete("document 2")
            self.assertEqual(store.query(self.query(doc_ids=["document 2"])).ids, [])
            store.clear()
            self.assertEqual(store.get_nodes(), [])


if __name__ == "__main__":
    unittest.main()
