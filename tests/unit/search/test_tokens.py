from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.search.tokens import count_tokens, stem, tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("docker_hub-automation", ["docker", "hub", "automat"]),
        ("GitHub", ["github", "git", "hub"]),
        ("parseHTTPResponse", ["parsehttprespons", "pars", "http", "respons"]),
        ("k8s v2", ["k8s", "v2"]),
        ("Café", ["cafe"]),
        ("ＰＤＦ", ["pdf"]),
        ("用命令行", ["用命", "命令", "令行"]),
        ("발표 자료", ["발표", "자료"]),
        ("データ分析", ["デー", "ータ", "タ分", "分析"]),
        ("PDF合并", ["pdf", "合并"]),
        ("图", ["图"]),
        ("", []),
    ],
)
def test_text_of_every_kind_becomes_its_tokens(text: str, tokens: list[str]):
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    "words",
    [
        ["review", "reviews", "reviewed", "reviewing"],
        ["generate", "generates", "generated", "generation", "generator"],
        ["library", "libraries"],
        ["patch", "patches"],
        ["plan", "planning", "planned"],
        ["make", "makes"],
    ],
)
def test_forms_of_one_word_have_one_stem(words: list[str]):
    assert len({stem(word) for word in words}) == 1


@pytest.mark.parametrize("word", ["class", "status", "analysis", "ring", "red", "nation", "k8s", "naïve"])
def test_words_that_only_look_inflected_are_left_alone(word: str):
    assert stem(word) == word


def test_words_that_say_nothing_are_left_out():
    assert tokenize("how do I use the tool for this") == ["tool"]
    assert tokenize("如何") == []


@given(st.text(max_size=200))
def test_any_text_has_the_same_tokens_twice_and_never_an_empty_one(text: str):
    assert tokenize(text) == tokenize(text)
    assert all(tokenize(text))


@given(st.text())
def test_counting_finds_the_tokens_that_cutting_finds(text: str):
    counts: dict[str, int] = {}
    count_tokens(text, counts)
    assert counts == Counter(tokenize(text))
