import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.search.snippets import WIDTH, snippet
from skillyard.search.tokens import tokenize


def marked(description: str, body: str, query: str) -> list[str]:
    made = snippet(description, body, frozenset(tokenize(query)))
    return [made.text[start:end] for start, end in made.marks]


def test_the_words_asked_for_are_marked_whatever_their_ending():
    assert marked("Reviews pull requests and merges them.", "", "review a merge") == ["Reviews", "merges"]


@pytest.mark.parametrize(
    ("text", "query", "marks"),
    [("为演讲制作幻灯片和讲稿", "幻灯片", ["幻灯片"]), ("지역별 미세먼지 농도를 알려준다", "미세먼지", ["미세먼지"])],
)
def test_writing_without_spaces_is_marked_as_one_piece(text: str, query: str, marks: list[str]):
    assert marked(text, "", query) == marks


def test_the_body_is_shown_when_the_description_does_not_tell():
    made = snippet("Does work.", "Intro.\n\nUse the aardvark brush.", frozenset(tokenize("aardvark brush")))
    assert "aardvark brush" in made.text


def test_of_a_long_text_the_part_with_most_words_is_shown():
    body = "filler text here. " * 50 + "Rotate and crop the scanned pages. " + "other things follow. " * 50
    made = snippet("Works on files.", body, frozenset(tokenize("crop rotate scanned pages")))
    assert "Rotate and crop the scanned pages" in made.text
    assert made.text.startswith("… ")
    assert made.text.endswith(" …")


def test_without_a_match_the_description_begins():
    assert snippet("Paints walls.", "Body.", frozenset()).text == "Paints walls."


@given(st.text(max_size=400), st.text(max_size=400), st.text(max_size=40))
def test_marks_are_in_order_and_within_a_short_text(description: str, body: str, query: str):
    made = snippet(description, body, frozenset(tokenize(query.encode("utf-8", "replace").decode())))
    assert len(made.text) <= WIDTH + 4
    places = [place for mark in made.marks for place in mark]
    assert places == sorted(places)
    assert all(0 <= place <= len(made.text) for place in places)
