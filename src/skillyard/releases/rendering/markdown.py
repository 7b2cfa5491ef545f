"""Texts of any origin in Markdown: nothing in them becomes a heading, a cell, a fence or markup."""

import re
from typing import Final

from skillyard.skill.names import replace_hidden

_MARKUP: Final = re.compile(r"([\\`*_\[\]<>#|~!&])")
_TICKS: Final = re.compile(r"`+")
_LIST_MARK: Final = re.compile(r"^([-+=]|\d+[.)])", re.MULTILINE)
_FILLER: Final = "\N{REPLACEMENT CHARACTER}"


def one_line(text: str) -> str:
    """Without line breaks and what cannot be seen."""
    return replace_hidden(" ".join(text.split()), _FILLER)


def prose(text: str) -> str:
    """One line in which markup is only text."""
    return _LIST_MARK.sub(r"\\\1", _MARKUP.sub(r"\\\1", one_line(text)))


def code_span(text: str, *, cell: bool = False) -> str:
    """A text as code within a line; in a cell of a table, its bars do not end the cell."""
    line = one_line(text) or " "
    ticks = "`" * (1 + max((len(found) for found in _TICKS.findall(line)), default=0))
    blank = " " if line.startswith("`") or line.endswith("`") else ""
    span = f"{ticks}{blank}{line}{blank}{ticks}"
    return span.replace("|", "\\|") if cell else span


def code_block(text: str, language: str, *, indent: str = "") -> str:
    """A text as a fenced block."""
    lines = [replace_hidden(line.expandtabs(8), _FILLER) for line in text.split("\n")]
    longest = max((len(found) for found in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join(f"{indent}{line}".rstrip() for line in (f"{fence}{language}", *lines, fence))
