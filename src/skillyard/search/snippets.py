"""The piece of a skill's text that shows why it was found."""

import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from skillyard.search.documents import Snippet
from skillyard.search.tokens import is_unspaced

WIDTH: Final = 160
"""Characters of a snippet, more or less: it starts and ends between words."""
LEAD: Final = 40
"""Characters shown before the first word that matched."""
ENOUGH: Final = 2
"""With so many of the words asked for, a description needs no help from the body."""
MAX_MATCHES: Final = 3
"""So often each word is looked for."""
_MIN_STEM: Final = 4
_REST_OF_WORD: Final = re.compile(r"[^\W_]*")


class _Match(NamedTuple):
    start: int
    end: int
    token: str


def snippet(description: str, body: str, wanted: Collection[str]) -> Snippet:
    """The stretch of the description, or else of the body, that has most of the wanted tokens."""
    described = " ".join(description.split())
    text, matches = described, _window(sorted(_matches(described, wanted)))
    if _variety(matches) < ENOUGH and body:
        written = " ".join(body.split())
        further = _window(sorted(_matches(written, wanted)))
        if _variety(further) > _variety(matches):
            text, matches = written, further
    return _cut(text, matches)


def _matches(text: str, wanted: Collection[str]) -> Iterator[_Match]:
    lowered = text.lower()
    if len(lowered) != len(text):  # some letters become two, and places would be wrong
        lowered = text
    for token in wanted:
        # A stem is how a word begins, but for `y`: "verify" is "verifi" as a stem.
        needle = token.removesuffix("i") if len(token) > _MIN_STEM else token
        start = lowered.find(needle)
        for _ in range(MAX_MATCHES):
            if start < 0:
                break
            if is_unspaced(token):
                yield _Match(start, start + len(token), token)
            elif start == 0 or not lowered[start - 1].isalnum():
                yield _Match(start, _end_of_word(lowered, start + len(needle)), token)
            start = lowered.find(needle, start + 1)


def _end_of_word(text: str, start: int) -> int:
    rest = _REST_OF_WORD.match(text, start)
    return rest.end() if rest else start


def _window(matches: list[_Match]) -> list[_Match]:
    """The matches within one snippet's width that show the most different tokens."""
    best: list[_Match] = []
    for first, match in enumerate(matches):
        within = [other for other in matches[first : first + WIDTH] if other.end <= match.start + WIDTH - LEAD]
        if _variety(within) > _variety(best):
            best = within
    return best


def _variety(matches: list[_Match]) -> int:
    return len({match.token for match in matches})


def _cut(text: str, matches: list[_Match]) -> Snippet:
    first = matches[0].start if matches else 0
    start = text.rfind(" ", 0, max(first - LEAD, 0) + 1) + 1 if first > LEAD else 0
    end = len(text) if len(text) <= start + WIDTH else max(text.rfind(" ", start, start + WIDTH), start + WIDTH - LEAD)
    before, after = "… " if start else "", " …" if end < len(text) else ""
    shift = len(before) - start
    return Snippet(
        text=f"{before}{text[start:end]}{after}",
        marks=tuple((left + shift, right + shift) for left, right in _joined(matches) if right <= end),
    )


def _joined(matches: list[_Match]) -> Iterator[tuple[int, int]]:
    """The places of the matches; those that touch become one."""
    current: tuple[int, int] | None = None
    for match in sorted(matches):
        if current and match.start <= current[1]:
            current = (current[0], max(current[1], match.end))
            continue
        if current:
            yield current
        current = (match.start, match.end)
    if current:
        yield current
