"""What a library of skills is, wherever it reads from, and how several are layered."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
        """The current listing; cheap to call again when nothing changed."""
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

    def catalog(self) -> Catalog:
        winners: dict[str, SkillEntry] = {}
        problems: list[Problem] = []
        shadowed: list[Shadowed] = []
        for library in self.libraries:
            catalog = library.catalog()
            problems.extend(catalog.problems)
            shadowed.extend(catalog.shadowed)
            for entry in catalog.entries:
                self._by_source[entry.source] = library
                winner = winners.setdefault(entry.id, entry)
                if winner is not entry:
                    shadowed.append(Shadowed(entry, winner))
        entries = [winners[key] for key in sorted(winners)]
        return Catalog(entries=entries, problems=problems, shadowed=shadowed)

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
