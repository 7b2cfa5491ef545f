import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.search.tokens import is_unspaced, tokenize


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Reviewing the reviews", "review reviewed"),
        ("naïve café", "naive cafe"),
        ("ＰＤＦ files", "pdf file"),
        ("get_user_name", "get user name"),
        ("pull-request", "pull request"),
        ("theme", "themes"),
    ],
)
def test_spellings_of_the_same_words_are_the_same_tokens(one: str, other: str):
    assert set(tokenize(one)) == set(tokenize(other))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("GitHub", {"github", "git", "hub"}),
        ("PDFReader", {"pdfreader", "pdf", "reader"}),
        ("PDFs", {"pdfs", "pdf"}),
        ("getURL", {"geturl", "url"}),
        ("modern C++ and C#", {"modern", "cpp", "csharp"}),
        ("a .NET service", {"dotnet", "servic"}),
    ],
)
def test_names_from_code_are_found_whole_and_in_parts(text: str, tokens: set[str]):
    assert set(tokenize(text)) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("幻灯片", ["幻灯", "灯片"]),
        ("슬라이드", ["슬라", "라이", "이드"]),
        ("プレゼン", ["プレ", "レゼ", "ゼン"]),
        ("图", ["图"]),
        ("用PDF做幻灯片", ["用", "pdf", "做幻", "幻灯", "灯片"]),
        ("ภาษาไทย", ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"]),
    ],
)
def test_writing_without_spaces_becomes_pairs(text: str, tokens: list[str]):
    assert tokenize(text) == tokens


def test_words_with_signs_above_and_below_stay_whole():
    assert len(tokenize("हिन्दी")) == 1
    assert tokenize("Привет мир") == ["привет", "мир"]


def test_words_that_say_nothing_are_left_out():
    assert tokenize("how do I use this and that?") == []
    assert tokenize("如何使用") == ["何使"]


def test_words_too_long_to_be_asked_for_are_left_out():
    assert tokenize("a" * 41) == []


def test_pairs_are_told_from_words():
    assert is_unspaced("幻灯")
    assert not is_unspaced("slide")


@given(st.text(max_size=200))
def test_any_text_has_tokens_without_spaces_or_capitals(text: str):
    text = text.encode("utf-8", "replace").decode()
    for token in tokenize(text):
        assert token.strip()
        assert " " not in token


def test_a_word_without_end_is_cut_in_time():
    assert set(tokenize("aB" * 500_000)) <= {"ba", "b", "a"}
