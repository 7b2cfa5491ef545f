"""Placeholders: `{{name}}` stands for the value of a variable, and `{{!name}}` for the text `{{name}}` itself."""

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

Scalar: TypeAlias = str | int | float | bool
"""A value of a variable."""

_NAME: Final = r"[^\W\d]\w{0,63}"
_PLACEHOLDER: Final = re.compile(r"\{\{[ \t]*(" + _NAME + r")[ \t]*\}\}")
_ESCAPED: Final = re.compile(r"\{\{!(!*[ \t]*" + _NAME + r"[ \t]*)\}\}")
_EITHER: Final = re.compile(r"\{\{(!*)([ \t]*" + _NAME + r"[ \t]*)\}\}")


def placeholders(text: str) -> set[str]:
    """The names of the variables that a text holds."""
    return set(_PLACEHOLDER.findall(text))


def literal(text: str) -> str:
    """A text that, when it is filled in, is this one: what looks like a placeholder stays what it is."""
    return _EITHER.sub(r"{{!\1\2}}", text)


def unescaped(text: str) -> str:
    """The text that a template without placeholders stands for."""
    return _ESCAPED.sub(r"{{\1}}", text)


def tidy(text: str) -> str:
    """The same with no blanks in its placeholders, so that each is one word."""
    return _PLACEHOLDER.sub(r"{{\1}}", text)


def pieces(text: str) -> Iterator[tuple[str, str | None]]:
    """A text in parts, each a literal text and the name that follows it; None follows the last."""
    at = 0
    for found in _PLACEHOLDER.finditer(text):
        yield text[at : found.start()], found[1]
        at = found.end()
    yield text[at:], None


def fill_text(text: str, value_of: Callable[[str], str]) -> str:
    """A text with what is told of each name in the place of it."""
    return "".join(unescaped(before) + ("" if name is None else value_of(name)) for before, name in pieces(text))


def placeholder_at(text: str, at: int) -> tuple[str, int] | None:
    """The name of the placeholder that begins here, and where it ends."""
    found = _PLACEHOLDER.match(text, at)
    return (found[1], found.end()) if found else None


def escape_at(text: str, at: int) -> tuple[str, int] | None:
    """What the escaped placeholder that begins here stands for, and where it ends."""
    found = _ESCAPED.match(text, at)
    return ("{{" + found[1] + "}}", found.end()) if found else None


def is_variable_name(text: str) -> bool:
    return bool(re.fullmatch(_NAME, text))


def text_of(value: Scalar) -> str:
    """A value as it is typed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)
