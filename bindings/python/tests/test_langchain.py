# SPDX-License-Identifier: MIT
"""The vector store of LangChain's."""

import asyncio
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np
from support import needs_indexes

import polarquant

_HAS_LANGCHAIN = importlib.util.find_spec("langchain_core") is not None
_HAS_SUITE = all(
    importlib.util.find_spec(name) for name in ("langchain_tests", "pytest", "pytest_asyncio")
)

if _HAS_LANGCHAIN:
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings

    from polarquant.langchain import PolarVectorStore

    class _LetterEmbeddings(Embeddings):
        """Counts letters: texts with the same letters are near."""

        def embed_documents(self, texts):
            return [self.embed_query(text) for text in texts]

        def embed_query(self, text):
            return [float(text.count(chr(97 + i))) + 0.01 for i in range(26)]


TEXTS = ["aaaa", "aaab", "zzzz", "zzzy", "mmmm"]
METADATA = [{"page": i, "odd": bool(i % 2)} for i in range(5)]


@needs_indexes
@unittest.skipUnless(_HAS_SUITE, "langchain-tests is not installed")
class StandardSuiteTest(unittest.TestCase):
    def test_langchain_s_own_tests_pass(self):
        suite = pathlib.Path(__file__).with_name("langchain_standard_suite.py")
        ran = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                *("-p", "no:cacheprovider", "-c", "/dev/null", "-o", "asyncio_mode=auto"),
                suite,
            ],
            capture_output=True,
            text=True,
            timeout=240,
        )
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertRegex(ran.stdout, r"\n([4-9]\d|1\d\d) passed")
        self.assertNotRegex(ran.stdout, "failed|skipped|xfailed")


@needs_indexes
@unittest.skipUnless(_HAS_LANGCHAIN, "langchain-core is not installed")
class LangChainTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "store"
        self.store = PolarVectorStore.from_texts(
            TEXTS, _LetterEmbeddings(), METADATA, ids=list("abcde")
        )

    def found(self, query, k=1, **options):
        return [doc.page_content for doc in self.store.similarity_search(query, k, **options)]

    def test_documents_are_found_by_what_they_say(self):
        self.assertEqual(self.found("aaa"), ["aaaa"])
        self.assertEqual(self.found("zy", 2), ["zzzy", "zzzz"])
        (document, score), *_ = self.store.similarity_search_with_score("zzzz", k=9)
        self.assertEqual((document.id, document.metadata), ("c", METADATA[2]))
        self.assertAlmostEqual(score, 1.0, delta=0.05)
        self.assertEqual(len(self.store.similarity_search("a", k=9)), 5)
        (_, relevance), *_ = self.store.similarity_search_with_relevance_scores("mmm", k=1)
        self.assertTrue(0.95 < relevance <= 1)
        with self.assertRaises(NotImplementedError):
            PolarVectorStore(
                _LetterEmbeddings(), metric="l2"
            ).similarity_search_with_relevance_scores("m")

    def test_filters_by_metadata(self):
        self.assertEqual(self.found("aaaa", filter={"odd": True}), ["aaab"])
        self.assertEqual(self.found("aaaa", 5, filter={"page": 3, "odd": True}), ["zzzy"])
        self.assertEqual(self.found("aaaa", 5, filter={"none": None}), [])
        last = self.found("aaaa", 5, filter=lambda document: document.metadata["page"] > 2)
        self.assertEqual(sorted(last), ["mmmm", "zzzy"])

    def test_other_options_reach_the_search(self):
        self.assertEqual(self.found("aaaa", exactness=np.inf), ["aaaa"])
        with self.assertRaises(polarquant.UnsupportedError):
            self.found("aaaa", nprobe=3)

    def test_documents_go_and_change(self):
        self.assertTrue(self.store.delete(["a", "none"]))
        self.assertEqual(self.found("aaaa"), ["aaab"])
        self.store.add_documents([Document(id="b", page_content="qqqq", metadata={"new": 1})])
        self.assertEqual(self.found("qqq"), ["qqqq"])
        self.assertEqual([doc.id for doc in self.store.get_by_ids(["b", "a", "c"])], ["b", "c"])
        self.assertEqual((len(self.store), self.store.index.ntotal), (4, 4))
        self.store.delete()
        self.assertEqual((len(self.store), self.found("a"), bool(self.store)), (0, [], True))
        self.store.add_texts(["of other dimensions"], ids=["x"])
        self.assertEqual(len(self.store), 1)

    def test_equal_ids_count_once(self):
        ids = self.store.add_texts(["one", "two"], ids=["n", "n"])
        self.assertEqual(ids, ["n", "n"])
        self.assertEqual((len(self.store), self.store.index.ntotal), (6, 6))
        self.assertEqual(self.store.get_by_ids(["n"])[0].page_content, "two")

    def test_what_is_refused_changes_nothing(self):
        for call in (
            lambda: self.store.add_texts(["x"], ids=["a", "b"]),
            lambda: self.store.add_texts(["x"], [{}, {}]),
            lambda: self.store.add_embeddings(["x"], [[np.nan] * 26], ids=["a"]),
            lambda: self.store.add_embeddings(["x"], [[1.0] * 25], ids=["a"]),
        ):
            with self.assertRaises(polarquant.BadArgumentError):
                call()
        self.assertEqual((len(self.store), self.store.index.ntotal), (5, 5))
        self.assertEqual(self.found("aaa"), ["aaaa"])
        with self.assertRaises(polarquant.BadArgumentError):
            PolarVectorStore(_LetterEmbeddings(), "Polar99")
        graph = PolarVectorStore(_LetterEmbeddings(), "HNSW8,Polar4,IDMap2")
        graph.add_texts(["aa"], ids=["a"])
        graph.add_texts(["bb"], ids=["a"])
        self.assertEqual((len(graph), graph.index.ntotal), (1, 1))

    def test_what_would_not_come_back_is_refused_before_it_is_embedded(self):
        embedding = self.store.embeddings
        embedding.embed_documents = lambda texts: self.fail("embedded")
        for name, texts, metadatas, ids in (
            ("ids: 5 is of type int", ["x"], None, [5]),
            ("ids: 0 is of type int", ["x"], None, [0]),
            ("ids: b'a' is of type bytes", ["x"], None, [b"a"]),
            (
                "metadatas\\[1\\]\\['m'\\]: \\(1,\\) is of type tuple",
                ["x", "y"],
                [{}, {"m": (1,)}],
                None,
            ),
            ("metadatas\\[0\\]: key 5 is of type int", ["x"], [{5: 1}], None),
            ("metadatas\\[0\\]\\['m'\\]: has '.ud83d' at 1", ["x"], [{"m": "x\ud83d"}], None),
            ("texts\\[0\\]: has '.ud83d' at 0", ["\ud83d"], None, None),
        ):
            with self.subTest(name), self.assertRaisesRegex(polarquant.BadArgumentError, name):
                self.store.add_texts(texts, metadatas, ids=ids)
        del embedding.embed_documents
        self.assertEqual((len(self.store), self.store.index.ntotal), (5, 5))
        made = self.store.add_texts(["x", "y"], ids=[None, ""])
        self.assertEqual([len(id) for id in made], [36, 36])

    def test_ids_and_metadata_come_back_the_same(self):
        metadata = {
            "list": [1, [2.5, None]],
            "dict": {"a": {"b": True}},
            "": "é",
            "nan": float("inf"),
        }
        self.store.add_texts(["x"], [metadata], ids=["5"])
        metadata["list"].append("later")
        self.store.save_local(self.folder)
        again = PolarVectorStore.load_local(self.folder, _LetterEmbeddings())
        for store in (self.store, again):
            (document,) = store.get_by_ids(["5"])
            self.assertEqual(document.metadata, {**metadata, "list": [1, [2.5, None]]})
            self.assertEqual(store.get_by_ids([5]), [])

    def test_strings_that_need_training_work_from_the_first_document(self):
        for description in ("IVF16,Polar4", "Polar4-pca", "HNSW8,Polar4"):
            with self.subTest(description):
                store = PolarVectorStore(_LetterEmbeddings(), description)
                for text, id in zip(TEXTS, "abcde"):
                    store.add_texts([text], ids=[id])
                    self.assertEqual(store.similarity_search(text, 1, nprobe=0)[0].id, id)
                store.save_local(self.folder)
                again = PolarVectorStore.load_local(self.folder, _LetterEmbeddings())
                mmr = again.max_marginal_relevance_search("aaaa", k=2, fetch_k=5)
                self.assertNotIn(mmr[1].id, "ab")

    def test_answers_can_be_diverse(self):
        near = [doc.page_content for doc in self.store.max_marginal_relevance_search("aaaa", k=2)]
        self.assertIn(near[0], ("aaaa", "aaab"))
        self.assertNotIn(near[1], ("aaaa", "aaab"))
        nearest = self.store.max_marginal_relevance_search("aaaa", k=2, lambda_mult=1)
        self.assertEqual([doc.page_content for doc in nearest], ["aaaa", "aaab"])
        empty = PolarVectorStore(_LetterEmbeddings())
        self.assertEqual(empty.max_marginal_relevance_search("a"), [])

    def test_retrievers(self):
        for kind, options in (
            ("similarity", {"k": 1}),
            ("mmr", {"k": 1}),
            ("similarity_score_threshold", {"k": 1, "score_threshold": 0.9}),
        ):
            retriever = self.store.as_retriever(search_type=kind, search_kwargs=options)
            self.assertEqual([doc.id for doc in retriever.invoke("mm")], ["e"])

    def test_asynchronous_calls(self):
        async def work():
            await self.store.aadd_texts(["kkkk"], ids=["k"])
            found = await self.store.asimilarity_search("kk", k=1)
            await self.store.adelete(["k"])
            return found

        self.assertEqual([doc.id for doc in asyncio.run(work())], ["k"])
        self.assertEqual(len(self.store), 5)

    def test_a_store_is_saved(self):
        for _ in range(2):  # the second in the place of the first
            self.store.save_local(self.folder)
            self.assertEqual(len(list(self.folder.iterdir())), 2)
        again = PolarVectorStore.load_local(self.folder, _LetterEmbeddings())
        expected = self.store.similarity_search_with_score("zzm", k=5)
        self.assertEqual(again.similarity_search_with_score("zzm", k=5), expected)
        again.add_texts(["vvvv"], ids=["v"])
        self.assertEqual(again.similarity_search("v", k=1)[0].id, "v")
        mapped = PolarVectorStore.load_local(self.folder, _LetterEmbeddings(), memory_map=True)
        self.assertEqual(mapped.similarity_search_with_score("zzm", k=5), expected)
        PolarVectorStore(_LetterEmbeddings()).save_local(self.folder)
        self.assertEqual(len(PolarVectorStore.load_local(self.folder, _LetterEmbeddings())), 0)

    def test_damaged_and_missing_stores_are_refused(self):
        with self.assertRaises(polarquant.NotFoundError):
            PolarVectorStore.load_local(self.folder, _LetterEmbeddings())
        self.store.save_local(self.folder)
        path = self.folder / "records.json"
        told = json.loads(path.read_text(encoding="utf-8"))
        for changed in (
            "",
            "[]",
            json.dumps({**told, "records": told["records"][1:]}),
            json.dumps({**told, "records": [[1]]}),
            json.dumps({name: value for name, value in told.items() if name != "index"}),
        ):
            path.write_text(changed, encoding="utf-8")
            with self.subTest(changed[:20]), self.assertRaises(polarquant.CorruptDataError):
                PolarVectorStore.load_local(self.folder, _LetterEmbeddings())
        path.write_text(json.dumps({**told, "format": 3}), encoding="utf-8")
        with self.assertRaises(polarquant.NewerFormatError):
            PolarVectorStore.load_local(self.folder, _LetterEmbeddings())
        self.assertEqual(len(list(self.folder.iterdir())), 2)

    def test_threads_add_and_search(self):
        def work(number):
            for turn in range(20):
                self.store.add_texts([f"text {number} {turn}"], ids=[f"{number}-{turn % 3}"])
                self.assertTrue(self.found("aaaa"))
                self.store.delete([f"{number}-{(turn + 1) % 3}"])

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(len(self.store), self.store.index.ntotal)


if __name__ == "__main__":
    unittest.main()
