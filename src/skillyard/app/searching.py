"""Searching a library by what its skills do, again and again at little cost."""

import os
import time
from typing import Final, NamedTuple

from skillyard.errors import SkillyardError
from skillyard.library.loader import YOUNG_NS
from skillyard.search.index import MAX_BODY, Document, Index
from skillyard.skill.library import Library, SkillEntry
from skillyard.skill.limits import MIB

MAX_WITH_BODIES: Final = 2_000
"""Up to so many skills their bodies are searched too; reading more would make a person wait."""
MAX_KEPT: Final = 16 * MIB
"""Characters of bodies that are kept to be searched; of the skills after that only names and descriptions are."""


class Match(NamedTuple):
    entry: SkillEntry
    score: float


class Matches(NamedTuple):
    """The best matches, and how many there are in all."""

    best: tuple[Match, ...]
    total: int


class _Text(NamedTuple):
    """What is searched of one skill."""

    entry: SkillEntry
    stamp: tuple[int, ...]
    """How its file looked when it was read; empty while it may still change without showing it."""
    body: str


class _Shelf(NamedTuple):
    texts: dict[str, _Text]
    searchable: Index


class SkillSearch:
    """A library made searchable. Only what changed since the last search is read again.

    Without `bodies` only names and descriptions are searched: of skills elsewhere each body would be a download.
    """

    def __init__(self, library: Library, *, bodies: bool = True) -> None:
        self._library = library
        self._room = MAX_KEPT if bodies else 0
        self._shelf = _Shelf({}, Index(()))

    def search(self, query: str, *, limit: int = 10) -> Matches:
        """The skills that fit a query, best first; none when nothing is relevant."""
        # Threads may share a search: each works on a shelf of its own and leaves a whole one for the next.
        shelf = self._shelf = self._look_again(self._shelf)
        hits = shelf.searchable.search(query, limit=len(shelf.texts))
        return Matches(tuple(Match(shelf.texts[hit.id].entry, hit.score) for hit in hits[:limit]), len(hits))

    def _look_again(self, before: _Shelf) -> _Shelf:
        entries = self._library.catalog().entries
        room = self._room if len(entries) <= MAX_WITH_BODIES else 0
        texts: dict[str, _Text] = {}
        for entry in entries:
            text = self._text(entry, before.texts.get(entry.id)) if room > 0 else _Text(entry, (), "")
            texts[entry.id] = text
            room -= len(text.body)
        if texts == before.texts:
            return before
        documents = (Document(key, text.entry.name, text.entry.description, text.body) for key, text in texts.items())
        return _Shelf(texts, Index(documents))

    def _text(self, entry: SkillEntry, known: _Text | None) -> _Text:
        stamp = _stamp(entry.location)
        if known is not None and stamp and (known.entry, known.stamp) == (entry, stamp):
            return known
        return _Text(entry, stamp, _body(self._library, entry))


def _stamp(location: str) -> tuple[int, ...]:
    try:
        status = os.stat(location)  # noqa: PTH116 -- thousands of paths, all strings
    except (OSError, ValueError):
        return ()
    is_young = max(status.st_mtime_ns, status.st_ctime_ns) > time.time_ns() - YOUNG_NS
    return () if is_young else (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def _body(library: Library, entry: SkillEntry) -> str:
    # A file that went away since the listing must not stop the search of the others.
    try:
        document = library.read(entry).document
    except (OSError, SkillyardError):
        return ""
    return document.body[:MAX_BODY] if document else ""
