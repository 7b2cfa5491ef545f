import logging

import pytest

from skillyard.app.checks import Status
from skillyard.app.embedding import Embeddings, examine_embeddings, open_embeddings
from skillyard.config.settings import Settings
from skillyard.errors import InputError, UnavailableError
from skillyard.search import Document, SkillIndex
from skillyard.search.vectors import VectorStore

np = pytest.importorskip("numpy")


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


def documents(*keys):
    return {key: Document(key=key, name=key, description=f"Does {key}.") for key in keys}


@pytest.fixture
def embedder():
    return Lengths()


@pytest.fixture
def now():
    return [0.0]


@pytest.fixture
def embeddings(embedder, tmp_path, now):
    return Embeddings(embedder, VectorStore(tmp_path / "v.sqlite"), weight=0.2, clock=lambda: now[0])


def test_only_what_changed_is_embedded(embeddings, embedder):
    embeddings.follow(documents("a", "b"))
    embeddings.follow(documents("a", "b"))
    embeddings.follow(documents("b", "c"))
    assert embedder.texts == ["a. Does a.", "b. Does b.", "c. Does c."]


def test_search_is_by_words_until_there_are_vectors(embeddings):
    words = SkillIndex.of(documents("alpha", "beta").values())
    assert embeddings.over(words) is words
    embeddings.follow(documents("alpha", "beta"))
    assert [hit.key for hit in embeddings.over(words).search("does alpha").hits] == ["alpha"]


def test_skills_that_cannot_be_embedded_are_tried_again_later(embeddings, embedder, now, caplog):
    caplog.set_level(logging.WARNING)
    words = SkillIndex.of(())
    embedder.down = True
    embeddings.follow(documents("a"))
    assert embeddings.over(words) is words
    assert "cannot be embedded: down" in caplog.text
    assert embeddings.is_behind
    embedder.down = False
    embeddings.follow(documents("a"))
    assert embedder.texts == []
    now[0] = 30.0
    embeddings.follow(documents("a"))
    assert embedder.texts == ["a. Does a."]
    assert not embeddings.is_behind


def test_a_change_of_the_text_alone_is_none(embeddings, embedder):
    embeddings.follow(documents("a"))
    embeddings.change([Document(key="a", name="a", description="Does a.", body="More.", tags=("t",))])
    assert (len(embedder.texts), embeddings.is_behind) == (1, False)


def test_while_the_embedder_is_down_nobody_is_shown_what_is_hidden_from_them_now(tmp_path, now):
    embedder = Lengths()
    embedder.finds = True
    embeddings = Embeddings(embedder, VectorStore(tmp_path / "v.sqlite"), weight=1.0, clock=lambda: now[0])
    known = [
        Document(key="short", name="alpha", description="Goes", seen_by=("me", "them")),
        Document(key="long", name="beta", description="Walks " * 40, seen_by=("me",)),
    ]
    embeddings.change(known)
    words = SkillIndex.of(known)
    query = "alpha goes and walks and goes and walks and goes on to walk again, as long as it takes"
    assert {hit.key for hit in embeddings.over(words).search(query, seen_by=["me"]).hits} == {"short", "long"}
    embedder.down = True
    hidden = Document(key="long", name="beta", description="Strolls " * 40, seen_by=("them",))
    embeddings.change([hidden])
    words = SkillIndex.of([known[0]])
    assert {hit.key for hit in embeddings.over(words).search(query, seen_by=["me"]).hits} == {"short"}
    assert embeddings.is_behind
    embedder.down, now[0] = False, 30.0
    embeddings.change([], ["short"])
    assert not embeddings.is_behind


def test_who_may_see_a_skill_changes_without_the_embedder(embeddings, embedder):
    embeddings.change([Document(key="a", name="a", description="Does a.", seen_by=("me",))])
    embedder.down = True
    embeddings.change([Document(key="a", name="a", description="Does a.", seen_by=("them",))])
    assert not embeddings.is_behind


def test_without_the_setting_there_are_none(tmp_path):
    assert open_embeddings(Settings(home=tmp_path)) is None
    assert list(examine_embeddings(Settings(home=tmp_path))) == []


def test_word_vectors_are_kept_in_the_home(tmp_path):
    pytest.importorskip("wordllama")
    settings = Settings(home=tmp_path, embeddings="wordllama")
    embeddings = open_embeddings(settings)
    assert embeddings is not None
    embeddings.follow(documents("a"))
    assert (tmp_path / "search" / "vectors.sqlite").stat().st_size > 0
    (check,) = examine_embeddings(settings)
    assert (check.status, "256 numbers" in check.message) == (Status.OK, True)


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"embeddings": "word2vec"}, "embeddings"),
        ({"embeddings": "ftp://host/v1", "embeddings_model": "m"}, "embeddings"),
        ({"embeddings": "http://[", "embeddings_model": "m"}, "embeddings"),
        ({"embeddings": "https://host/v1"}, "embeddings_model"),
    ],
)
def test_settings_that_name_nothing_are_told(tmp_path, more, field):
    settings = Settings(home=tmp_path, **more)
    with pytest.raises(InputError) as raised:
        open_embeddings(settings)
    assert raised.value.details["field"] == field
    (check,) = examine_embeddings(settings)
    assert (check.status, check.fix.startswith("skillyard config set")) == (Status.WARNING, True)


def test_an_endpoint_that_is_down_is_a_warning_without_the_key(tmp_path):
    settings = Settings(
        home=tmp_path,
        embeddings="http://127.0.0.1:1/v1",
        embeddings_model="m",
        embeddings_api_key="sk-secret",
    )
    (check,) = examine_embeddings(settings)
    assert check.status is Status.WARNING
    assert "does not answer" in check.message
    assert "sk-secret" not in repr(check)
    embeddings = open_embeddings(settings)
    assert embeddings is not None
    words = SkillIndex.of(documents("alpha").values())
    assert embeddings.over(words).search("does alpha") == words.search("does alpha")
