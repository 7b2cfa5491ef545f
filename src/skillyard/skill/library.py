"""What a library of skills is, wherever it reads from, and how several are layered."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import is_
from typing import NamedTuple, Protocol

from skillyard.errors import NotFoundError
from skillyard.skill.bundle import Bundle
from skillyard.skill.models import Finding, Parsed


class SkillEntry(NamedTuple):
    """One line of a catalog. A tuple, because a library of thousands makes one for each skill."""

    id: str
    name: str
    description: str
    location: str
    """Where its `SKILL.md` is: an absolute path, or a URI for what is no file."""
    source: str
    """The label of the root or registry it was read from."""


class Problem(NamedTuple):
    """A folder that looks like a skill but cannot be one, or a root that cannot be read."""

    id: str
    location: str
    source: str
    findings: tuple[Finding, ...]


class Shadowed(NamedTuple):
    """A skill hidden by another of the same id that is found earlier."""

    entry: SkillEntry
    by: SkillEntry


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalog:
    """The cheap listing of a library, ordered by id."""

    entries: Sequence[SkillEntry]
    problems: Sequence[Problem] = ()
    shadowed: Sequence[Shadowed] = ()
    watched: bool = False
    """Whether the library is told of changes: then another catalog at a later look means that something did change."""

    def find(self, wanted: str) -> SkillEntry | None:
        """The skill of that id, else of that id or name without regard to case."""
        folded = wanted.casefold()
        by_id = by_name = None
        for entry in self.entries:
            if entry.id == wanted:
                return entry
            if by_id is None and entry.id.casefold() == folded:
                by_id = entry
            elif by_name is None and entry.name.casefold() == folded:
                by_name = entry
        return by_id or by_name


class Library(Protocol):
    """Anything skills are read from."""

    @property
    def label(self) -> str: ...

    def catalog(self) -> Catalog:
        """The current listing; cheap to call again when nothing changed.

        The very object of the last call means that since then no file of any skill changed; another one means nothing.
        """
        ...

    def read(self, entry: SkillEntry) -> Parsed:
        """The skill's `SKILL.md`, read now."""
        ...

    def bundle(self, entry: SkillEntry) -> Bundle:
        """All files of the skill, read now."""
        ...


class Layered:
    """Several libraries seen as one: the first that has an id wins, the others are reported."""

    def __init__(self, libraries: Iterable[Library], *, label: str = "layered") -> None:
        self.libraries = tuple(libraries)
        self.label = label
        self._by_source: dict[str, Library] = {}
        self._last: tuple[list[Catalog], Catalog] | None = None

    def catalog(self) -> Catalog:
        libraries = self.libraries
        catalogs = [library.catalog() for library in libraries]
        last = self._last
        # A library may give the very catalog of its last look; then there is nothing to layer again.
        if last is not None and len(catalogs) == len(last[0]) and all(map(is_, catalogs, last[0])):
            return last[1]
        layered = self._layered(libraries, catalogs)
        self._last = (catalogs, layered)
        return layered

    def _layered(self, libraries: Sequence[Library], catalogs: Sequence[Catalog]) -> Catalog:
        winners: dict[str, SkillEntry] = {}
        problems: list[Problem] = []
        shadowed: list[Shadowed] = []
        for library, catalog in zip(libraries, catalogs, strict=True):
            problems.extend(catalog.problems)
            shadowed.extend(catalog.shadowed)
            for entry in catalog.entries:
                self._by_source[entry.source] = library
                winner = winners.setdefault(entry.id, entry)
                if winner is not entry:
                    shadowed.append(Shadowed(entry, winner))
        entries = [winners[key] for key in sorted(winners)]
        watched = all(catalog.watched for catalog in catalogs)
        return Catalog(entries=entries, problems=problems, shadowed=shadowed, watched=watched)

    def read(self, entry: SkillEntry) -> Parsed:
        return self._owner(entry).read(entry)

    def bundle(self, entry: SkillEntry) -> Bundle:
        return self._owner(entry).bundle(entry)

    def _owner(self, entry: SkillEntry) -> Library:
        library = self._by_source.get(entry.source)
        if library is None:
            raise NotFoundError(
                f"No library here holds {entry.id!r} from {entry.source!r}.",
                hint="Ask for the catalog first and use an entry of it.",
            )
        return library
