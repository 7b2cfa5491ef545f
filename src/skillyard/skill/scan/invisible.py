"""The characters that no reader sees, as bytes of UTF-8."""

import re
from typing import Final

_ONE: Final = (
    rb"(?:"
    rb"\xe2(?:\x80[\x8b-\x8f\xaa-\xae]"  # U+200B..200F zero width and marks, U+202A..202E bidi embeddings
    rb"|\x81[\xa0-\xaf])"  # U+2060..206F joiner, invisible operators, bidi isolates
    rb"|\xef(?:\xbb\xbf"  # U+FEFF byte order mark
    rb"|\xb8[\x80-\x8f]"  # U+FE00..FE0F variation selectors
    rb"|\xbe\xa0|\xbf[\xb9-\xbb])"  # U+FFA0 Hangul filler, U+FFF9..FFFB interlinear annotation
    rb"|\xf3\xa0[\x80-\x87][\x80-\xbf]"  # U+E0000..E01FF tags and more variation selectors
    rb"|\xe1(?:\xa0[\x8b-\x8f]"  # U+180B..180F Mongolian selectors and vowel separator
    rb"|\x85[\x9f\xa0])"  # U+115F, U+1160 Hangul fillers
    rb"|\xe3\x85\xa4"  # U+3164 Hangul filler
    rb"|\xcd\x8f|\xd8\x9c"  # U+034F grapheme joiner, U+061C Arabic letter mark
    rb")"
)

INVISIBLE: Final = re.compile(_ONE + _ONE + rb"{0,4095}+")
"""A run of hidden characters. Its first is written out so that the search can skip to the next possible byte."""
