"""Searching a library by what its skills do."""

from typing import Final, NamedTuple

from skillyard.errors import SkillyardError
from skillyard.search.index import Document, rank
from skillyard.skill.library import Library, SkillEntry

MAX_WITH_BODIES: Final = 2_000
"""Up to so many skills their bodies are searched too; reading more would make a person wait."""


class Match(NamedTuple):
    entry: SkillEntry
    score: float


def find_skills(library: Library, query: str, *, limit: int = 10) -> list[Match]:
    """The skills that fit a query, best first; none when nothing is relevant."""
    entries = {entry.id: entry for entry in library.catalog().entries}
    with_bodies = len(entries) <= MAX_WITH_BODIES
    documents = (
        Document(entry.id, entry.name, entry.description, _body(library, entry) if with_bodies else "")
        for entry in entries.values()
    )
    return [Match(entries[hit.id], hit.score) for hit in rank(query, documents, limit=limit)]


def _body(library: Library, entry: SkillEntry) -> str:
    # A file that went away since the listing must not stop the search of the others.
    try:
        document = library.read(entry).document
    except (OSError, SkillyardError):
        return ""
    return document.body if document else ""
