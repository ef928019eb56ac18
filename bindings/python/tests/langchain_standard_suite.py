# SPDX-License-Identifier: MIT
"""LangChain's own tests of vector stores, over ours; test_langchain.py runs them by pytest."""

import pytest
from langchain_tests.integration_tests import VectorStoreIntegrationTests

from support import HAS_SQLITE

from polarquant.langchain import PolarVectorStore


class TestPolarVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self):
        yield PolarVectorStore(self.get_embeddings())


class TestInvertedFileOfPolarVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self):
        yield PolarVectorStore(self.get_embeddings(), "IVF1,Polar8", "l2")


@pytest.mark.skipif(not HAS_SQLITE, reason="there is no extension of SQLite")
class TestPolarVectorStoreInDatabase(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path):
        yield PolarVectorStore(self.get_embeddings(), path=tmp_path / "docs.db")
