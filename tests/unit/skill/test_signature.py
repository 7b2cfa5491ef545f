import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.skill.signature import signature, similarity, words_of

WORDS = [f"word{number}" for number in range(2_000)]


def article(seed: int, length: int = 400) -> list[str]:
    return random.Random(seed).choices(WORDS, k=length)


def edited(words: list[str], edits: int) -> list[str]:
    changed = list(words)
    for place in random.Random(edits).sample(range(len(words)), edits):
        changed[place] = "changed"
    return changed


def score(one: str, other: str) -> float:
    return similarity(signature(one), signature(other))


def test_a_text_is_the_same_as_itself():
    text = " ".join(article(1))
    assert score(text, text) == 1.0


@pytest.mark.parametrize("variant", ["\ufeffa b c\n", "a b c", "a b c  \r\n", "\na b c\n\n"])
def test_line_ends_and_trailing_space_do_not_make_another_text(variant: str):
    assert signature(variant).key == signature("a b c\n").key


@pytest.mark.parametrize("variant", ["A b c", "a b c!", "a  b c", "a b /c", "a b\nc"])
def test_any_other_difference_makes_another_text(variant: str):
    assert signature(variant).key != signature("a b c").key
    assert score(variant, "a b c") < 1.0


def test_small_edits_are_near():
    words = article(2)
    assert score(" ".join(words), " ".join(edited(words, 6))) > 0.8


def test_another_text_is_not_alike():
    assert score(" ".join(article(3)), " ".join(article(4))) < 0.1


@pytest.mark.parametrize("edits", [0, 4, 16, 40, 80, 200])
def test_the_similarity_is_close_to_the_true_share_of_phrases(edits: int):
    words = article(5)
    changed = [*edited(words, edits), "end"]
    phrases, others = ({tuple(text[at : at + 3]) for at in range(len(text) - 2)} for text in (words, changed))
    truth = len(phrases & others) / len(phrases | others)
    assert abs(score(" ".join(words), " ".join(changed)) - truth) < 0.12


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("文档处理技能用于生成报告和表格，请先阅读说明。" * 3, "文档处理技能用于生成报告和表格，请先阅读说明！" * 3),
        (
            "보고서를 만들고 표를 정리하는 스킬입니다. 먼저 읽으세요.",
            "보고서를 만들고 표를 정리하는 스킬입니다! 먼저 읽으세요.",
        ),
        (
            "これは表を整形するスキルです。最初に読んでください。",
            "これは表を整形するスキルです！最初に読んでください。",
        ),
    ],
)
def test_texts_without_spaces_are_compared_too(one: str, other: str):
    assert score(one, other) >= 0.7
    assert score(one, "全く別のことについて書かれた文章です。何も共通しません。") < 0.2


def test_a_text_without_words_is_like_nothing_but_itself():
    assert score("", "") == 1.0
    assert score("", "---") == 0.0
    assert score("", "a b c") == 0.0


def test_a_short_text_is_compared_by_what_it_has():
    assert score("hello", "Hello") >= 0.7
    assert score("hello", "world") < 0.7


def test_a_signature_is_the_same_on_every_machine():
    assert signature("the quick brown fox").key.startswith("9ecb36561341d18e")
    assert signature("the quick brown fox").sample[:8].hex() == "add0b42efc567d90"


def test_the_words_of_a_text_are_told_without_case_and_sign():
    assert words_of("Read-the `PDF_file` 表格, naïve") == {"read", "the", "pdf", "file", "表", "格", "naïve"}


@given(st.text(max_size=300), st.text(max_size=300))
def test_similarity_is_symmetric_and_bounded(one: str, other: str):
    left, right = signature(one), signature(other)
    assert similarity(left, right) == similarity(right, left)
    assert 0.0 <= similarity(left, right) <= 1.0
    assert (similarity(left, right) == 1.0) == (left.key == right.key)


def test_accents_without_end_are_not_slow():
    started = time.process_time()
    assert signature("a" + "\u0301\u0323" * 100_000).key
    assert time.process_time() - started < 2
