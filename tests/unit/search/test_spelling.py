import pytest

from skillyard.search.spelling import distance, near_pairs, near_words


@pytest.mark.parametrize(
    ("one", "other", "mistakes"),
    [("docker", "docker", 0), ("dokcer", "docker", 1), ("dockr", "docker", 1), ("dxxker", "docker", 2)],
)
def test_distance_counts_mistakes_and_a_swap_is_one(one: str, other: str, mistakes: int):
    assert distance(one, other, at_most=2) == mistakes


def test_distance_gives_up_beyond_what_is_allowed():
    assert distance("kubernetes", "postgresql", at_most=2) == 3


def test_a_misspelt_word_is_guessed_less_surely_the_more_is_wrong():
    vocabulary = ["kubernetes", "postgresql"]
    assert near_words("kubernetse", vocabulary) == [("kubernetes", 0.7)]
    assert near_words("kubrnetse", vocabulary) == [("kubernetes", 0.5)]
    assert near_words("kubxxxxxes", vocabulary) == []


def test_an_unfinished_word_is_completed():
    assert near_words("kuber", ["kubernetes"]) == [("kubernetes", 0.8)]


@pytest.mark.parametrize("word", ["git", "v2ray", "über"])
def test_short_words_and_words_with_other_characters_are_not_guessed(word: str):
    assert near_words(word, ["gits", "v2ray-core", "uber"]) == []


def test_a_word_with_another_first_letter_is_another_word():
    assert near_words("bread", ["read", "broad"]) == [("broad", 0.7)]


def test_a_single_character_finds_the_pairs_it_is_in():
    assert near_pairs("画", ["图画", "画面", "文字"]) == [("图画", 0.8), ("画面", 0.8)]
    assert near_pairs("图文", ["图画"]) == []
