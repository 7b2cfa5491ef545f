import sqlite3

import pytest

from skillyard.errors import UnavailableError
from skillyard.search import Document
from skillyard.search.vectors import VectorIndex, VectorStore

np = pytest.importorskip("numpy")


class Letters:
    """An embedder that counts three letters."""

    finds = True

    def __init__(self, name="letters"):
        self.name = name
        self.texts = []
        self.down = False

    def reads(self, text):
        return "表" not in text

    def helps_with(self, query):
        return True

    def embed(self, texts):
        if self.down:
            raise UnavailableError("down")
        self.texts += texts
        return np.array([[text.count(letter) for letter in "xyz"] for text in texts], dtype=np.float32)


def document(key, description, **more):
    return Document(key=key, name="n", description=description, **more)


@pytest.fixture
def embedder():
    return Letters()


@pytest.fixture
def store(tmp_path):
    return VectorStore(tmp_path / "search" / "vectors.sqlite")


@pytest.fixture
def index(embedder, store):
    return lambda *documents: VectorIndex.of(documents, embedder, store)


X = np.array([2, 0, 0], dtype=np.float32)


def near(index, **given):
    return [each.key for each in index.near(X, among=(), **{"limit": 10, **given}).nearest]


def test_the_nearest_come_first(index):
    found = index(document("far", "yyx"), document("near", "xxx"), document("mid", "xy")).near(X, among=(), limit=2)
    assert [each.key for each in found.nearest] == ["near", "mid"]
    assert found.cosines["near"] == pytest.approx(1)
    assert found.mean == pytest.approx(np.mean([1 / 5**0.5, 1, 1 / 2**0.5]), abs=1e-5)


def test_those_asked_about_are_told_however_far_they_are(index):
    made = index(document("far", "y"), document("near", "x"))
    assert made.near(X, among=["far", "unknown"], limit=1).cosines == pytest.approx({"near": 1, "far": 0})


def test_only_what_one_may_see_takes_part(index):
    made = index(
        document("mine", "xy", seen_by=("me",)),
        document("theirs", "x", seen_by=("them",)),
        document("ours", "xyy", seen_by=("me", "them")),
        document("nobody's", "x"),
    )
    found = made.near(X, among=["theirs", "mine"], seen_by=["me", "stranger"], limit=10)
    assert [each.key for each in found.nearest] == ["mine", "ours"]
    assert set(found.cosines) == {"mine", "ours"}
    assert found.mean == pytest.approx(np.mean([1 / 2**0.5, 1 / 5**0.5]), abs=1e-5)
    assert made.near(X, among=["mine"], seen_by=[], limit=10).cosines == {}
    assert len(near(made)) == 4


def test_every_label_must_be_there(index):
    made = index(document("a", "x", labels=("p", "q")), document("b", "x", labels=("p",)), document("c", "x"))
    assert near(made, labels=["p"]) == ["a", "b"]
    assert near(made, labels=["p", "q"]) == ["a"]
    assert near(made, labels=["r"]) == []


def test_what_the_embedder_cannot_read_has_no_vector(index, embedder):
    assert near(index(document("a", "x"), document("b", "x 表"))) == ["a"]
    assert len(embedder.texts) == 1


def test_a_text_is_embedded_once_for_all_time(index, embedder, tmp_path):
    index(document("a", "x"), document("b", "x"), document("c", "y"))
    index(document("a", "x", body="new", tags=("t",)), document("d", "y"))
    again = VectorStore(tmp_path / "search" / "vectors.sqlite")
    assert near(VectorIndex.of([document("e", "x")], embedder, again)) == ["e"]
    assert embedder.texts == ["n. x", "n. y"]
    index(document("a", "xx"))
    assert embedder.texts == ["n. x", "n. y", "n. xx"]


def test_each_embedder_has_vectors_of_its_own(store):
    first, second = Letters("one"), Letters("two")
    VectorIndex.of([document("a", "x")], first, store)
    VectorIndex.of([document("a", "x")], second, store)
    assert (len(first.texts), len(second.texts)) == (1, 1)


def test_a_change_embeds_only_what_is_new(index, embedder, store):
    made = index(document("a", "x"), document("b", "xy"), document("c", "y"))
    later = made.changed([document("b", "xx"), document("d", "z")], ["c", "unknown"], embedder, store)
    assert sorted(row.shown.key for row in later.rows) == ["a", "b", "d"]
    assert near(later)[:2] in (["a", "b"], ["b", "a"])
    assert embedder.texts[3:] == ["n. xx", "n. z"]
    assert len(made) == 3


def test_a_change_may_hide_or_make_unreadable(index, embedder, store):
    made = index(document("a", "x", seen_by=("me",)), document("b", "x", seen_by=("me",)))
    later = made.changed(
        [document("a", "x", seen_by=("them",)), document("b", "x 表", seen_by=("me",))], [], embedder, store
    )
    assert near(later, seen_by=["me"]) == []
    assert near(later, seen_by=["them"]) == ["a"]


def test_nothing_is_near_in_an_empty_index(index, embedder, store):
    empty = index()
    assert (len(empty), near(empty)) == (0, [])
    assert len(empty.changed([document("a", "x")], [], embedder, store)) == 1
    assert len(index(document("a", "x")).changed([], ["a"], embedder, store)) == 0


def test_what_was_embedded_before_a_failure_is_kept(embedder, store, monkeypatch):
    monkeypatch.setattr("skillyard.search.vectors._SAVE_EVERY", 2)
    documents = [document(str(number), "x" * (number + 1)) for number in range(6)]
    embed = embedder.embed

    def failing(texts):
        embedder.down = len(embedder.texts) >= 4
        return embed(texts)

    monkeypatch.setattr(embedder, "embed", failing)
    with pytest.raises(UnavailableError):
        VectorIndex.of(documents, embedder, store)
    monkeypatch.undo()
    embedder.down = False
    assert len(VectorIndex.of(documents, embedder, store)) == 6
    assert len(embedder.texts) == 6


@pytest.mark.parametrize("damage", [b"no database at all" * 400, b""])
def test_a_damaged_file_is_made_anew(index, embedder, tmp_path, damage):
    index(document("a", "x"))
    (tmp_path / "search" / "vectors.sqlite").write_bytes(damage)
    assert near(index(document("a", "x"))) == ["a"]
    assert near(index(document("a", "x"))) == ["a"]
    assert len(embedder.texts) == 2


def test_a_disk_that_cannot_be_written_only_costs_time(embedder, tmp_path):
    (tmp_path / "file").write_text("")
    store = VectorStore(tmp_path / "file" / "vectors.sqlite")
    assert near(VectorIndex.of([document("a", "x")], embedder, store)) == ["a"]


def test_vectors_of_a_thousand_texts_are_read_back(store):
    kept = {number.to_bytes(32): bytes([number % 256]) * 8 for number in range(1_200)}
    store.put("e", kept)
    assert store.get("e", kept.keys()) == kept
    assert store.get("other", kept.keys()) == {}


def test_a_vector_of_zeros_is_near_to_nothing(index):
    assert index(document("a", "nothing")).near(X, among=(), limit=1).cosines == {"a": 0.0}


def test_any_text_can_be_embedded(index, embedder):
    index(document("a", "x\ud800\0"))
    assert embedder.texts == ["n. x?\0"]


def test_the_file_holds_no_text(index, tmp_path):
    index(document("secretive", "a secret x"))
    with sqlite3.connect(tmp_path / "search" / "vectors.sqlite") as connection:
        rows = connection.execute("SELECT * FROM vectors").fetchall()
    connection.close()
    assert "secret" not in repr(rows)
