import pytest

from skillyard.app.embedding import Embeddings
from skillyard.app.registry_vectors import RegistryVectors
from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.errors import UnavailableError
from skillyard.history.entries import Why
from skillyard.registry.search_documents import SearchDocuments
from skillyard.registry.skills import Visibility
from skillyard.search.vectors import VectorStore

np = pytest.importorskip("numpy")
WHY = Why()


class Lengths:
    name = "lengths"
    finds = False

    def __init__(self):
        self.texts = []
        self.down = False

    def reads(self, text):
        return True

    def helps_with(self, query):
        return True

    def embed(self, texts):
        if self.down:
            raise UnavailableError("down")
        self.texts += texts
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)


@pytest.mark.anyio
async def test_vectors_follow_what_happens_to_skills(tmp_path):
    embedder, now = Lengths(), [0.0]
    embeddings = Embeddings(embedder, VectorStore(tmp_path / "v.sqlite"), weight=0.2, clock=lambda: now[0])
    async with open_yard(Settings(home=tmp_path / "home")) as yard:
        me = await yard.access.operator("ann")
        vectors = RegistryVectors(SearchDocuments(yard.database), embeddings)

        async def make(name):
            fields = {"name": name, "description": f"Does {name}."}
            shown = Visibility.PRIVATE
            return await yard.registry.workbench.create_written(
                me, fields, "Text.", (), namespace=None, visibility=shown, why=WHY
            )

        first = await make("first")
        mark = await vectors.catch_up(None)
        await make("second")
        mark = await vectors.catch_up(mark)
        assert embedder.texts == ["first. Does first.", "second. Does second."]
        await yard.registry.workbench.delete(me, first.id, why=WHY)
        embedder.down = True
        await make("third")
        mark = await vectors.catch_up(mark)
        assert embeddings.is_behind
        embedder.down, now[0] = False, 30.0
        assert await vectors.catch_up(mark) == mark
        assert not embeddings.is_behind
        assert embedder.texts[2:] == ["third. Does third."]
