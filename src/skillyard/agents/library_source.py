"""Skills for an agent from a library: a folder, an environment, or several of them layered."""

import os
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from skillyard.agents.bundles import file_of, files_of
from skillyard.agents.cursors import cursor_after, skill_before
from skillyard.agents.missing import NoSkillError, broken
from skillyard.agents.source import HITS, MAX_HITS, MAX_PAGE, NEAREST, PAGE, Found, SkillFile, SkillHit, SkillPage
from skillyard.errors import SkillyardError
from skillyard.library.assets import as_text, list_files, locate_file
from skillyard.library.regular import read_regular
from skillyard.library.revisions import Revisions, file_state
from skillyard.library.switches import Disabled, WithSwitches, switched_off
from skillyard.search.catalog import BUDGET, CatalogWriter, PromptCatalog, Shape, check_budget
from skillyard.search.catalog import HITS as CATALOG_HITS
from skillyard.skill.bundle import SKILL_FILE, Bundle
from skillyard.skill.library import Catalog, Layered, Library, SkillEntry
from skillyard.skill.limits import MAX_FILE_BYTES, MAX_SKILL_MD_BYTES, SKILL_FILE_NAMES
from skillyard.skill.names import nearest_names
from skillyard.usage.events import UsageKind

if TYPE_CHECKING:
    from skillyard.library.searching import SkillSearch

_EXECUTABLE: Final = 0o111
_WRITTEN: Final = 32
"""Texts for prompts that are kept until a skill changes."""

_Asked: TypeAlias = tuple[str, int, tuple[str, ...], Shape]


@dataclass(frozen=True, kw_only=True, slots=True)
class LibraryUse:
    """A use of a skill of a library, to be counted wherever its uses are."""

    kind: UsageKind
    skill: Found
    session: str
    agent: str
    detail: str


class LibrarySource:
    """The skills of a library. Computed results are kept until the library gives another catalog.

    `search` makes a search over the same library with a kept index or with embeddings; `record` receives uses, and
    `uses` returns how many there were.
    """

    lasting = False

    def __init__(
        self,
        library: Library,
        *,
        search: "Callable[[], SkillSearch] | None" = None,
        record: Callable[[LibraryUse], None] | None = None,
        uses: Callable[[], Mapping[str, int]] | None = None,
    ) -> None:
        self.label = library.label
        self._library = library
        self._open_search = search or self._plain_search
        self._search: SkillSearch | None = None
        self._recording = record
        self._uses = uses
        self._seen: _Seen | None = None
        self._revisions = Revisions()
        self._told: _Told | None = None
        self._states: tuple[Catalog, dict[str, str]] | None = None
        self._lock = threading.Lock()
        self._first = threading.Lock()

    def catalog_text(
        self, query: str = "", *, budget: int = BUDGET, pins: Sequence[str] = (), shape: Shape = Shape.XML
    ) -> PromptCatalog:
        check_budget(budget)
        seen = self._look()
        asked = (query, budget, tuple(pins), shape)
        written = seen.written.get(asked)
        if written is None:
            hits = [hit.skill.id for hit in self.search(query, CATALOG_HITS)] if query.strip() else []
            written = seen.writer.write(budget=budget, shape=shape, pins=pins, hits=hits)
            if len(seen.written) < _WRITTEN:
                seen.written[asked] = written
        return written

    def page(self, cursor: str = "", limit: int = PAGE) -> SkillPage:
        seen = self._look()
        first = bisect_right(seen.ids, skill_before(cursor)) if cursor else 0
        end = first + max(1, min(limit, MAX_PAGE))
        skills = [_found(entry) for entry in seen.catalog.entries[first:end]]
        return SkillPage(skills=skills, next_cursor=cursor_after(skills[-1].id) if end < len(seen.ids) else "")

    def find(self, name: str) -> Found | None:
        entry = self._look().find(name)
        return None if entry is None else _found(entry)

    def missing(self, name: str) -> SkillyardError:
        seen = self._look()
        for problem in seen.catalog.problems:
            if problem.id.casefold() == name.casefold():
                return broken(problem)
        off = switched_off(name, _disabled(self._library))
        return off or NoSkillError(name, self.nearest(name), len(seen.ids), where=self.label)

    def nearest(self, name: str, n: int = NEAREST) -> list[str]:
        seen = self._look()
        alike = (seen.folded[near].id for near in nearest_names(name.casefold(), seen.folded, n))
        about = (hit.skill.id for hit in self.search(name, n)) if name.strip() else ()
        return list(dict.fromkeys([*alike, *about, *seen.ids[:n]]))[:n]

    def text(self, found: Found) -> str:
        return as_text(self._skill_file(found.entry), errors="replace")

    def files(self, found: Found) -> list[SkillFile]:
        folder = self.folder(found)
        if folder is None:
            return files_of(self.bundle(found))
        return sorted(_files_in(folder, list_files(found.entry)), key=lambda file: file.path)

    def file(self, found: Found, path: str) -> bytes:
        if path == SKILL_FILE:
            return self._skill_file(found.entry)
        if self.folder(found) is None:
            return file_of(self.bundle(found), found.id, path)
        return read_regular(locate_file(found.entry, path), MAX_FILE_BYTES)

    def bundle(self, found: Found) -> Bundle:
        return self._library.bundle(found.entry)

    def folder(self, found: Found) -> str | None:
        location = found.entry.location
        return os.path.dirname(location) if os.path.isabs(location) else None  # noqa: PTH117, PTH120 -- a string

    def search(self, query: str, limit: int = HITS) -> list[SkillHit]:
        if self._search is None:
            self._search = self._open_search()
        best = self._search.search(query, limit=max(1, min(limit, MAX_HITS))).best
        return [SkillHit(skill=_found(hit.entry), score=hit.score, snippet=hit.snippet) for hit in best]

    def stamp(self) -> str:
        catalog = self._look().catalog
        with self._lock:
            told = self._told
            if told is None or told.catalog is not catalog:
                begins = told is not None and catalog.watched and not told.catalog.watched
                told = self._told = _Told.after(told, catalog, missed=begins and self._has_other_states(catalog))
            return str(told.number)

    def snapshot(self) -> Mapping[str, str]:
        catalog = self._look().catalog
        with self._lock:
            return self._states_of(catalog)

    def record(self, kind: UsageKind, found: Found, *, session: str = "", agent: str = "", detail: str = "") -> None:
        if self._recording is not None:
            self._recording(LibraryUse(kind=kind, skill=found, session=session, agent=agent, detail=detail))

    def record_all(self, kind: UsageKind, skills: Iterable[Found | str], *, session: str = "", agent: str = "") -> None:
        for each in skills:
            found = self.find(each) if isinstance(each, str) else each
            if found is not None:
                self.record(kind, found, session=session, agent=agent)

    def _plain_search(self) -> "SkillSearch":
        # The engine takes longer to import than most of what a source is asked for.
        from skillyard.library.searching import SkillSearch  # noqa: PLC0415

        return SkillSearch(self._library)

    def _has_other_states(self, catalog: Catalog) -> bool:
        """Whether a file changed since the last snapshot, if there was one: before a watch began nobody told of it."""
        before = self._states
        return before is not None and before[1] != self._states_of(catalog)

    def _states_of(self, catalog: Catalog) -> dict[str, str]:
        states = self._states
        if states is None or states[0] is not catalog:
            revisions = self._revisions.look(catalog.entries)
            states = self._states = (catalog, {key: str(number) for key, number in revisions.items()})
        return states[1]

    def _look(self) -> "_Seen":
        """The library as it is now. Threads may share this: each leaves a whole look for the next."""
        if self._seen is None:
            # Everything is read for the first look, and nothing of it would be quicker if each of them did so.
            with self._first:
                return self._seen or self._look_again()
        return self._look_again()

    def _look_again(self) -> "_Seen":
        catalog = self._library.catalog()
        seen = self._seen
        if seen is None or (catalog is not seen.catalog and list(catalog.entries) != list(seen.catalog.entries)):
            # Looked up only now, so that the order, and with it a cached prompt, stays as it is meanwhile.
            seen = self._seen = _Seen.of(catalog, self._uses() if self._uses else {})
        elif catalog is not seen.catalog:
            seen = self._seen = seen.again(catalog)
        return seen

    def _skill_file(self, entry: SkillEntry) -> bytes:
        if not os.path.isabs(entry.location):  # noqa: PTH117 -- a string
            return file_of(self._library.bundle(entry), entry.id, SKILL_FILE)
        # The listing only holds skill files that are in their root, by themselves or through a link.
        return read_regular(os.path.realpath(entry.location), MAX_SKILL_MD_BYTES)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Seen:
    """A catalog, and what makes it quick to find something in it."""

    catalog: Catalog
    ids: list[str]
    by_id: dict[str, SkillEntry]
    folded: dict[str, SkillEntry]
    """By id and by name without regard to case; an id goes before a name."""
    writer: CatalogWriter = field(repr=False)
    written: dict[_Asked, PromptCatalog] = field(default_factory=dict[_Asked, PromptCatalog], repr=False)

    @classmethod
    def of(cls, catalog: Catalog, uses: Mapping[str, int]) -> "_Seen":
        entries = catalog.entries
        names = {entry.name.casefold(): entry for entry in reversed(entries)}
        ids = {entry.id.casefold(): entry for entry in reversed(entries)}
        return cls(
            catalog=catalog,
            ids=[entry.id for entry in entries],
            by_id={entry.id: entry for entry in entries},
            folded=names | ids,
            writer=CatalogWriter(entries, uses=uses),
        )

    def again(self, catalog: Catalog) -> "_Seen":
        """The same skills, looked at again."""
        return replace(self, catalog=catalog, written={})

    def find(self, name: str) -> SkillEntry | None:
        return self.by_id.get(name) or self.folded.get(name.casefold())


@dataclass(frozen=True, kw_only=True, slots=True)
class _Told:
    """How many times a library was seen to change, and how its skill files looked then."""

    catalog: Catalog
    number: int
    stamps: int
    """0 where nobody compares them."""

    @classmethod
    def after(cls, before: "_Told | None", catalog: Catalog, *, missed: bool) -> "_Told":
        # A library that is told of changes gives another catalog only after one. Of others the skill files are looked
        # at; their other files are not, since there may be tens of thousands, until `snapshot` is asked for.
        told = catalog.watched and (before is None or before.catalog.watched)
        stamps = 0 if told else hash(tuple((entry, file_state(entry.location)) for entry in catalog.entries))
        if before is None:
            return cls(catalog=catalog, number=1, stamps=stamps)
        changed = missed or before.catalog.watched or stamps != before.stamps
        return cls(catalog=catalog, number=before.number + changed, stamps=stamps)


def _found(entry: SkillEntry) -> Found:
    return Found(entry=entry, key=entry.id)


def _files_in(folder: str, paths: Iterable[str]) -> Iterator[SkillFile]:
    for path in paths:
        try:
            status = Path(folder, path).stat()
        except OSError:
            continue
        # The skill file goes by its one name, however it is written on disk.
        shown = SKILL_FILE if path in SKILL_FILE_NAMES else path
        yield SkillFile(path=shown, size=status.st_size, executable=bool(status.st_mode & _EXECUTABLE))


def _disabled(library: Library) -> Iterator[Disabled]:
    if isinstance(library, WithSwitches):
        yield from library.disabled
    elif isinstance(library, Layered):
        for each in library.libraries:
            yield from _disabled(each)
