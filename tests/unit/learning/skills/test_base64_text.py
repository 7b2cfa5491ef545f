import base64

import pytest
from hypothesis import given
from hypothesis.strategies import binary, integers

from skillyard.errors import UnavailableError
from skillyard.learning.skills.base64_text import normalize_and_decode_base64


@given(binary(max_size=200), integers(min_value=1, max_value=80))
def test_bytes_come_back_whatever_a_terminal_makes_of_their_base64(data, width):
    for text in (base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()):
        lines = "\r\n".join(text[at : at + width] for at in range(0, len(text), width))
        for told in (text, text.rstrip("="), f"{lines}\n", f'"{text}"', f"data:application/zip;base64,{text}"):
            assert normalize_and_decode_base64(told) == data


@pytest.mark.parametrize("text", ["Traceback (most recent call last):", "한글", "abcde"])
def test_what_is_no_base64_is_said_to_be_none(text):
    with pytest.raises(UnavailableError, match="no base64"):
        normalize_and_decode_base64(text)
