import pytest

from skillyard.errors import UnavailableError
from skillyard.search import Document, Found, Hit, SkillIndex, Snippet
from skillyard.search.fusion import RETRY_AFTER, FusedSearch, Queries
from skillyard.search.vectors import VectorIndex, VectorStore

np = pytest.importorskip("numpy")
DIRECTIONS = {"north": (1, 0), "northeast": (0.8, 0.6), "east": (0, 1)}


class Compass:
    """Reads one direction out of a text."""

    name = "compass"

    def __init__(self, *, finds=True):
        self.finds = finds
        self.asked = []
        self.down = False

    def reads(self, text):
        return True

    def helps_with(self, query):
        return "alone" not in query

    def embed(self, texts):
        if self.down:
            raise UnavailableError("The compass is broken.")
        self.asked += texts
        return np.array(
            [next((way for word, way in DIRECTIONS.items() if word in text.split()), (0.1, 0.1)) for text in texts],
            dtype=np.float32,
        )


class Words:
    """Search by words that finds what it was told to, of what may be seen."""

    def __init__(self, documents, scores):
        self.documents, self.scores = documents, scores
        self.limits = []

    def search(self, query, *, seen_by=None, labels=(), limit=10):
        self.limits.append(limit)
        hits = [
            Hit(
                key=one.key, name=one.name, description=one.description, score=score, snippet=Snippet(text="", marks=())
            )
            for one in self.documents
            if (score := self.scores.get(one.key))
            and (seen_by is None or set(seen_by) & set(one.seen_by))
            and set(labels) <= set(one.labels)
        ]
        hits.sort(key=lambda hit: -hit.score)
        return Found(hits=tuple(hits[:limit]), total=len(hits), is_more=False)


def document(key, direction, **more):
    return Document(key=key, name=f"name-{key}", description=f"Goes {direction} .", **more)


@pytest.fixture
def fused(tmp_path):
    def _fused(documents, scores, *, embedder=None, weight=0.2, clock=lambda: 0.0):
        embedder = embedder or Compass()
        vectors = VectorIndex.of(documents, embedder, VectorStore(tmp_path / "vectors.sqlite"))
        embedder.asked.clear()
        words = Words(documents, scores)
        return FusedSearch(words, vectors, Queries(embedder, clock=clock), weight=weight), words

    return _fused


def keys(found):
    return [hit.key for hit in found.hits]


THREE = [document("a", "east"), document("b", "northeast"), document("c", "north")]


def test_vectors_decide_between_what_words_find_about_as_good(fused):
    search, _ = fused(THREE, {"a": 10.0, "b": 9.5, "c": 9.0})
    assert keys(search.search("go north now")) == ["c", "b", "a"]


def test_words_lead_where_they_are_sure(fused):
    search, _ = fused(THREE, {"a": 10.0, "b": 5.0, "c": 5.0})
    assert keys(search.search("go north now")) == ["a", "c", "b"]


def test_scores_stay_on_the_scale_of_words(fused):
    search, _ = fused(THREE, {"a": 10.0, "c": 9.0}, embedder=Compass(finds=False))
    first, second = search.search("go north now").hits
    assert (first.key, first.score, second.score) == ("c", 11.0, 10.0)


def test_without_weight_the_order_is_that_of_words(fused):
    search, words = fused(THREE, {"a": 10.0, "b": 9.9, "c": 9.8}, weight=0, embedder=Compass(finds=False))
    assert search.search("go north now") == words.search("go north now")


def test_when_words_find_nothing_nothing_is_found(fused):
    embedder = Compass()
    search, _ = fused(THREE, {}, embedder=embedder)
    assert search.search("go north now") == Found(hits=(), total=0, is_more=False)
    assert embedder.asked == []


def test_what_vectors_alone_find_is_added_when_it_is_nearer_than_the_best_of_words(fused):
    search, _ = fused(THREE, {"b": 10.0}, weight=0.5)
    found = search.search("go north now")
    assert (keys(found), found.total) == (["b", "c"], 2)
    assert found.hits[1].snippet.text == "Goes north ."
    search, _ = fused(THREE, {"c": 10.0})
    assert keys(search.search("go north now")) == ["c"]


def test_an_embedder_that_does_not_find_adds_nothing(fused):
    search, _ = fused(THREE, {"b": 10.0}, embedder=Compass(finds=False))
    assert keys(search.search("go north now")) == ["b"]


def test_nobody_is_shown_by_vectors_what_is_not_for_them(fused):
    documents = [
        document("mine", "northeast", seen_by=("me",), labels=("x",)),
        document("also-mine", "north", seen_by=("me",)),
        document("theirs", "north", seen_by=("them",), labels=("x",)),
    ]
    search, _ = fused(documents, {"mine": 10.0})
    assert keys(search.search("go north now", seen_by=["me"])) == ["mine", "also-mine"]
    assert keys(search.search("go north now", seen_by=["me"], labels=["x"])) == ["mine"]
    assert keys(search.search("go north now", seen_by=["them"])) == []


def test_what_others_have_does_not_change_the_scores_of_what_one_sees(fused):
    mine = [document("a", "east", seen_by=("me",)), document("b", "northeast", seen_by=("me",))]
    theirs = [document(f"t{number}", "north", seen_by=("them",)) for number in range(9)]
    scores = {"a": 10.0, "b": 9.0}
    alone, _ = fused(mine, scores)
    among, _ = fused([*mine, *theirs], scores)
    assert alone.search("go north now", seen_by=["me"]) == among.search("go north now", seen_by=["me"])


def test_a_query_that_vectors_do_not_help_with_is_answered_by_words(fused):
    embedder = Compass()
    search, words = fused(THREE, {"a": 10.0, "c": 9.9}, embedder=embedder)
    assert keys(search.search("alone go north", limit=1)) == ["a"]
    assert (embedder.asked, words.limits) == ([], [1])


def test_a_skill_that_is_named_stays_first(fused):
    search, _ = fused(THREE, {"a": 10.0, "b": 9.9, "c": 9.8})
    assert keys(search.search(" NAME-A "))[0] == "a"


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_at_most_so_many_are_given(fused, limit):
    search, _ = fused(THREE, {"a": 10.0, "b": 9.5, "c": 9.0})
    found = search.search("go north now", limit=limit)
    assert (len(found.hits), found.total) == (limit, 3)


def test_a_query_is_embedded_once(fused):
    embedder = Compass()
    search, _ = fused(THREE, {"a": 10.0}, embedder=embedder)
    for _ in range(3):
        search.search("go north now")
    assert embedder.asked == ["go north now"]


def test_an_embedder_that_is_down_is_done_without_and_not_asked_at_every_search(fused, caplog):
    embedder, now = Compass(finds=False), [0.0]
    search, _ = fused(THREE, {"a": 10.0, "c": 9.9}, embedder=embedder, clock=lambda: now[0])
    embedder.down = True
    assert keys(search.search("go north now")) == ["a", "c"]
    assert "The compass is broken." in caplog.text
    embedder.down = False
    assert keys(search.search("go north now")) == ["a", "c"]
    now[0] = RETRY_AFTER
    assert keys(search.search("go north now")) == ["c", "a"]


def test_vectors_of_another_length_are_not_compared(fused, monkeypatch):
    embedder = Compass()
    search, _ = fused(THREE, {"a": 10.0, "c": 9.9}, embedder=embedder)
    monkeypatch.setattr(embedder, "embed", lambda texts: np.ones((len(texts), 7), dtype=np.float32))
    assert keys(search.search("go north now")) == ["a", "c"]


def test_it_searches_a_real_index(tmp_path):
    documents = [
        Document(key="a", name="walk", description="Go east by foot .", seen_by=("me",)),
        Document(key="b", name="ride", description="Go north by horse .", seen_by=("me",)),
        Document(key="c", name="sail", description="Go north by boat .", seen_by=("them",)),
    ]
    embedder = Compass()
    vectors = VectorIndex.of(documents, embedder, VectorStore(tmp_path / "vectors.sqlite"))
    search = FusedSearch(SkillIndex.of(documents), vectors, Queries(embedder), weight=1.0)
    assert keys(search.search("go north by foot", seen_by=["me"]))[0] == "b"
    assert set(keys(search.search("go north by foot", seen_by=["me"]))) <= {"a", "b"}
