"""Documents stay searchable while some of them change, at the cost of those."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.search.documents import Document
from skillyard.search.index import SkillIndex
from skillyard.search.memory_index import MemoryIndex

WORDS = ("apple", "bridge", "copper", "dragon")
LISTINGS = st.lists(st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(WORDS)), min_size=2, max_size=6)


def found(memory, skills, word):
    def documents(keys):
        return (Document(key=key, name=f"skill-{key}", description=f"Handles the {skills[key]}.") for key in keys)

    return {hit.key for hit in memory.at(dict(skills), documents).search(word, limit=50).hits}


@given(LISTINGS)
def test_each_listing_is_searched_as_it_is(listings):
    search = MemoryIndex()
    for skills in listings:
        for word in WORDS:
            assert found(search, skills, word) == {key for key, has in skills.items() if has == word}


@pytest.fixture
def built(monkeypatch):
    """How many skills each whole index was made of."""
    sizes = []
    whole = SkillIndex.of

    def of(documents):
        listed = list(documents)
        sizes.append(len(listed))
        return whole(listed)

    monkeypatch.setattr(SkillIndex, "of", of)
    return sizes


def test_a_few_changes_among_many_skills_index_only_these_until_they_are_many(built):
    skills = {f"{number:04}": "apple" for number in range(1_000)}
    search = MemoryIndex()
    for number in range(60):
        skills[f"{number:04}"] = "bridge"
        assert f"{number:04}" in found(search, skills, "bridge")
    assert built == [1_000]
    changed = {**skills, **{f"{number:04}": "copper" for number in range(500)}}
    assert len(found(search, changed, "copper")) == 50
    assert built == [1_000, 1_000]


def test_threads_that_share_it_each_find_what_they_listed():
    search = MemoryIndex()
    listings = [{"a": word, "b": WORDS[0]} for word in WORDS[1:]] * 5

    def look(skills):
        return found(search, skills, skills["a"]) == {"a"}

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(look, listings))
