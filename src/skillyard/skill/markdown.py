"""The few things of Markdown that skills need to be understood, found in linear time whatever the text."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_MARK: Final = re.compile(rb"```|~~~")
_FENCE: Final = re.compile(rb"[ \t>]{0,64}(?:[-*+] |\d{1,9}[.)] )?[ \t]{0,16}(`{3,}+|~{3,}+)([^\n]*)")
_FRONTMATTER: Final = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?:[^\n]*\n)*?---[ \t]*(?:\r?\n|\Z)")
_BACKTICKS: Final = re.compile(rb"`{1,}+")
_BRACKET: Final = re.compile(rb"\\[\[\]]|!?\[|\](?:\((?=[^\n]))?")
_BLANK_LINE: Final = re.compile(rb"\n[ \t\r]*\n")
_DESTINATION: Final = re.compile(
    rb"\s{0,8}(?:<([^<>\n]{0,1000}+)>|((?:[^\s()\\<]|\\.|\([^\s()]{0,200}+\)){1,1000}+))[\s)]"
)
_DEFINITION: Final = re.compile(
    rb"^ {0,3}\[(?!\^)[^\]\n]{1,200}+\]:[ \t]{0,8}(?:<([^<>\n]{0,1000}+)>|(\S{1,1000}+))", re.MULTILINE
)
_WIKI: Final = re.compile(rb"\[\[([^\s\[\]|#][^\[\]\n|#]{0,200}+)(?:[#|][^\[\]\n]{0,200}+)?\]\]")


class Span(NamedTuple):
    start: int
    end: int


class Link(NamedTuple):
    position: int
    target: bytes
    is_image: bool


def frontmatter_end(text: bytes) -> int:
    """Where the body starts; 0 where there is no frontmatter."""
    match = _FRONTMATTER.match(text)
    return match.end() if match else 0


def fenced_blocks(text: bytes) -> tuple[Span, ...]:
    """The fenced code blocks in order, fences included; one that is never closed ends with the text."""
    return tuple(_fenced(text))


def comments(text: bytes, blocks: Sequence[Span]) -> tuple[Span, ...]:
    """The HTML comments that no code holds; one that is never closed ends with the text, as browsers have it."""
    return tuple(_commented(text, blocks))


def code_spans(text: bytes) -> tuple[Span, ...]:
    """The inline code of a text without fenced blocks, backticks included. It never crosses a blank line."""
    return tuple(_inline(text))


def links(text: bytes) -> Iterator[Link]:
    """The links and images of a text without code, and the targets that are defined on lines of their own."""
    if b"](" in text:
        yield from _inline_links(text)
    for match in _DEFINITION.finditer(text):
        yield Link(match.start(), match[1] or match[2] or b"", is_image=False)


def wiki_links(text: bytes) -> Iterator[Link]:
    """The `[[targets]]` of a text without code, without their labels and anchors."""
    for match in _WIKI.finditer(text):
        yield Link(match.start(), match[1].strip(), is_image=text[match.start() - 1 : match.start()] == b"!")


def without(text: bytes, spans: Sequence[Span]) -> bytes:
    """The text with spans blanked out, so that positions and lines stay the same."""
    pieces: list[bytes] = []
    last = 0
    for span in spans:
        pieces += [text[last : span.start], re.sub(rb"[^\n]", b" ", text[span.start : span.end])]
        last = span.end
    return b"".join([*pieces, text[last:]])


def is_inside(spans: Sequence[Span], position: int) -> bool:
    index = bisect_right(spans, position, key=lambda span: span.start) - 1
    return index >= 0 and position < spans[index].end


def _fenced(text: bytes) -> Iterator[Span]:
    mark, opened = b"", 0
    for fence in _fences(text):
        found, rest = fence[1], fence[2]
        if not mark:
            mark, opened = found, fence.start()
        elif found.startswith(mark) and not rest.strip():
            yield Span(opened, fence.end())
            mark = b""
    if mark:
        yield Span(opened, len(text))


def _fences(text: bytes) -> Iterator[re.Match[bytes]]:
    """The lines that open or close a block. Backticks after backticks make inline code instead."""
    position = 0
    while mark := _MARK.search(text, position):
        fence = _FENCE.match(text, text.rfind(b"\n", 0, mark.start()) + 1)
        if fence and fence.start(1) == mark.start() and (fence[1][:1] == b"~" or b"`" not in fence[2]):
            yield fence
        position = text.find(b"\n", mark.end())
        if position < 0:
            return


def _commented(text: bytes, blocks: Sequence[Span]) -> Iterator[Span]:
    start = text.find(b"<!--")
    while start >= 0:
        if is_inside(blocks, start) or text[start - 1 : start] == b"`":
            start = text.find(b"<!--", start + 4)
            continue
        end = text.find(b"-->", start)
        end = len(text) if end < 0 else end + 3
        yield Span(start, end)
        start = text.find(b"<!--", end)


def _inline(text: bytes) -> Iterator[Span]:
    """A run of backticks is closed by the next run of the same length in the same paragraph."""
    runs = [Span(*match.span()) for match in _BACKTICKS.finditer(text)]
    closing: dict[int, int] = {}
    latest: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index].end - runs[index].start
        if length in latest:
            closing[index] = latest[length]
        latest[length] = index
    breaks = [match.start() for match in _BLANK_LINE.finditer(text)]
    index = 0
    while index < len(runs):
        partner = closing.get(index)
        if partner is None or _is_broken(breaks, runs[index].end, runs[partner].start):
            index += 1
            continue
        yield Span(runs[index].start, runs[partner].end)
        index = partner + 1


def _is_broken(breaks: Sequence[int], start: int, end: int) -> bool:
    index = bisect_left(breaks, start)
    return index < len(breaks) and breaks[index] < end


def _inline_links(text: bytes) -> Iterator[Link]:
    opened: list[re.Match[bytes]] = []
    for bracket in _BRACKET.finditer(text):
        if bracket[0].endswith(b"[") and not bracket[0].startswith(b"\\"):
            opened.append(bracket)
        elif bracket[0].startswith(b"]") and opened:
            opening = opened.pop()
            destination = _DESTINATION.match(text, bracket.end()) if bracket[0] == b"](" else None
            if destination is not None:
                target = destination[1] if destination[1] is not None else destination[2]
                yield Link(opening.start(), target, is_image=opening[0] == b"![")
