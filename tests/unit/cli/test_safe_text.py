import json

from hypothesis import given
from hypothesis import strategies as st

from skillyard.cli.safe_text import inline, one_line, visible, visible_json


def test_escape_sequences_are_written_out():
    assert visible("a\x1b[2Jb\x07") == r"a\x1b[2Jb\x07"
    assert visible("\x9b31m\x7f") == r"\x9b31m\x7f"


def test_text_in_any_language_emoji_tabs_and_lines_stay():
    text = "한국어 中文\t日本語\n👩\u200d💻 café"
    assert visible(text) == text


def test_direction_overrides_and_invisible_characters_are_written_out():
    assert visible("safe\u202eexe.txt\u200b") == r"safe\u202eexe.txt\u200b"
    assert visible("\U000e0041") == r"\U000e0041"


def test_half_characters_from_odd_file_names_are_written_out():
    assert visible("x\udcff") == r"x\udcff"


def test_windows_line_ends_become_plain_ones_but_a_lone_return_is_shown():
    assert visible("a\r\nb\rc") == "a\nb\\x0dc".replace("\\x0d", "\\r")


def test_one_line_holds_no_line_break():
    assert one_line("a\n  b\r\n\x1bc") == r"a b \x1bc"


def test_a_line_break_in_a_name_is_written_out():
    assert inline("a  b\nc\x1b") == r"a  b\nc\x1b"


@given(st.text(alphabet=st.characters()))
def test_nothing_that_steers_a_terminal_is_left(text):
    shown = visible(text)
    assert not any(ord(char) < 32 and char not in "\n\t" for char in shown)
    assert not any(0x7F <= ord(char) < 0xA0 for char in shown)
    shown.encode()


@given(st.text(alphabet=st.characters()))
def test_a_json_document_says_the_same_after_escaping(text):
    document = visible_json(json.dumps({"text": text}, ensure_ascii=False))
    assert json.loads(document) == {"text": text}
    assert not any(0x7F <= ord(char) < 0xA0 for char in document)
    document.encode()
