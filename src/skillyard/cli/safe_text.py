"""Text from anywhere made safe to show: nothing in it may steer the terminal or hide."""

import re
from typing import Final

# Control characters (tab and line feed apart), direction overrides, invisible marks, tag characters and
# half characters. Joiners stay: scripts and emoji need them.
_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
# The same for a JSON document, whose own escapes already cover what is below U+0020.
_UNSAFE_JSON: Final = re.compile(
    "[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""The text with every unsafe character written out (`\x1b`), so that it can be seen and does nothing."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(_written_out, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The text on one line, safe to show."""
    return visible(" ".join(text.split()))


def inline(text: str) -> str:
    r"""The text of an id, a path or an error, safe to show; a line break in it is written out (`\n`)."""
    return visible(text).replace("\n", "\\n")


def visible_json(document: str) -> str:
    """A JSON document in which unsafe characters are escapes: the same data, harmless on a terminal."""
    return _UNSAFE_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


def _written_out(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape", "surrogatepass").decode("ascii")
