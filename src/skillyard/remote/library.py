"""The skills of a yard as a library, so that every command can read them."""

from functools import cached_property
from typing import Any, Final, NamedTuple

from skillyard.errors import InputError
from skillyard.remote.client import YardClient
from skillyard.remote.connection import API
from skillyard.search import Snippet
from skillyard.skill.bundle import SKILL_FILE, Bundle
from skillyard.skill.document import parse
from skillyard.skill.library import Catalog, SkillEntry
from skillyard.skill.models import Parsed

MAX_FOUND: Final = 100
"""A yard gives no more hits than these at once."""


class FoundEntry(NamedTuple):
    entry: SkillEntry
    score: float
    snippet: Snippet


class RemoteLibrary:
    """What a yard would ship to whoever asks."""

    def __init__(self, client: YardClient) -> None:
        self._client = client
        self.label = client.connection.url

    def catalog(self) -> Catalog:
        return Catalog(entries=[entry_of(skill, self.label) for skill in self._client.skills()])

    def search(self, query: str, *, limit: int = 10) -> list[FoundEntry]:
        """What fits a query, best first, as the yard's own search finds it."""
        hits = self._client.search(query, limit=min(limit, MAX_FOUND))
        return [FoundEntry(entry_of(hit, self.label), hit["score"], snippet_of(hit["snippet"])) for hit in hits]

    def read(self, entry: SkillEntry) -> Parsed:
        return _parsed(self.bundle(entry))

    def bundle(self, entry: SkillEntry) -> Bundle:
        return self._client.bundle(entry.id)


class RemoteSkill:
    """One skill of a yard as a library of its own: fetched once, so that all of it is of one moment."""

    def __init__(self, client: YardClient, name: str) -> None:
        self._client = client
        self._name = name
        self.label = client.connection.url

    def catalog(self) -> Catalog:
        return Catalog(entries=[self.entry])

    def read(self, entry: SkillEntry) -> Parsed:
        return _parsed(self.bundle(entry))

    def bundle(self, entry: SkillEntry) -> Bundle:  # noqa: ARG002 -- there is but one
        return self._files

    @cached_property
    def entry(self) -> SkillEntry:
        """The skill as the yard lists it; an error if it is not there for whoever asks."""
        return entry_of(self._told, self.label)

    @property
    def locked(self) -> bool:
        """Whether what is learned from feedback is only proposed for it."""
        return bool(self._told["locked"])

    @property
    def source(self) -> bytes:
        """Its `SKILL.md`, byte for byte."""
        return _skill_file(self._files)

    @cached_property
    def _told(self) -> dict[str, Any]:
        return self._client.skill(self._name)

    @cached_property
    def _files(self) -> Bundle:
        return self._client.bundle(self.entry.id)


def entry_of(skill: dict[str, Any], label: str) -> SkillEntry:
    """A skill of the API as a line of a catalog."""
    return SkillEntry(
        id=skill["full_name"],
        name=skill["name"],
        description=skill["description"],
        location=f"{label}{API}/skills/{skill['id']}/files/{SKILL_FILE}",
        source=label,
    )


def snippet_of(given: dict[str, Any]) -> Snippet:
    """A snippet of the API as a value."""
    return Snippet(text=given["text"], marks=tuple((start, end) for start, end in given["marks"]))


def _parsed(bundle: Bundle) -> Parsed:
    return parse(_skill_file(bundle))


def _skill_file(bundle: Bundle) -> bytes:
    file = bundle.get(SKILL_FILE)
    if file is None:
        raise InputError(f"What the yard sent holds no {SKILL_FILE}.", hint="Is this a Skillyard server?")
    return file.data
