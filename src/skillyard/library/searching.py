"""Searches folders of skills by what the skills do, with an index that makes repeated searches cheap."""

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from skillyard.errors import SkillyardError
from skillyard.files import make_folder
from skillyard.library.revisions import file_state
from skillyard.search import Document, SkillIndex, Snippet
from skillyard.search.catalog import BUDGET, HITS, CatalogWriter, PromptCatalog, Shape, check_budget
from skillyard.search.documents import MAX_BODY
from skillyard.search.fusion import Searchable
from skillyard.search.index_folder import BrokenIndexError, IndexFolder, View
from skillyard.search.memory_index import MemoryIndex
from skillyard.skill.library import Catalog, Library, SkillEntry

MAX_FOLDERS: Final = 32
"""Indexes that are kept, one for each place that was searched from; the least recently used goes first."""


class Match(NamedTuple):
    entry: SkillEntry
    score: float
    snippet: Snippet


class Matches(NamedTuple):
    """The best matches, and how many there are in all."""

    best: tuple[Match, ...]
    total: int


State = dict[str, tuple[object, ...]]
"""What is searched: for each skill a value that changes with it."""


class Vectors(Protocol):
    """The vectors of what is searched, kept beside the index."""

    def follow(self, documents: Mapping[str, Document]) -> None: ...

    def over(self, words: Searchable) -> Searchable: ...


class Snapshot:
    """The skills of a library at one moment, for any number of searches."""

    def __init__(self, entries: dict[str, SkillEntry], index: Searchable) -> None:
        self.entries = entries
        self._index = index

    def search(self, query: str, *, limit: int = 10) -> Matches:
        """The skills that fit a query, best first; none when nothing is relevant."""
        found = self._index.search(query, limit=limit)
        best = (Match(self.entries[hit.key], hit.score, hit.snippet) for hit in found.hits if hit.key in self.entries)
        return Matches(tuple(best), found.total)


class SkillSearch:
    """A library made searchable. Only what changed since the last look is read again.

    With a folder the index is kept there, for the next process too; without one it is in memory.
    """

    def __init__(self, library: Library, folder: Path | None = None, embeddings: Vectors | None = None) -> None:
        self._library = library
        self._embeddings = embeddings
        self._folder = IndexFolder(folder) if folder else None
        self._in_memory = MemoryIndex()
        self._last: tuple[Catalog, Snapshot] | None = None

    def look(self) -> Snapshot:
        """The library as it is now."""
        catalog = self._library.catalog()
        last = self._last
        if last is not None and last[0] is catalog:
            return last[1]
        snapshot = self._look(catalog)
        self._last = (catalog, snapshot)
        return snapshot

    def _look(self, catalog: Catalog) -> Snapshot:
        entries = {entry.id: entry for entry in catalog.entries}
        state: State = {key: (*entry, *file_state(entry.location)) for key, entry in entries.items()}
        index = self._searchable(entries, state)
        if self._embeddings is None:
            return Snapshot(entries, index)
        self._embeddings.follow({key: document_of(entry) for key, entry in entries.items()})
        return Snapshot(entries, self._embeddings.over(index))

    def search(self, query: str, *, limit: int = 10) -> Matches:
        """The present skills that fit a query."""
        return self.look().search(query, limit=limit)

    def catalog(
        self, query: str = "", *, budget: int = BUDGET, shape: Shape = Shape.XML, pins: Sequence[str] = ()
    ) -> PromptCatalog:
        """The library in at most `budget` characters, the best matches of the query first."""
        check_budget(budget)
        hits = [match.entry.id for match in self.search(query, limit=HITS).best] if query.strip() else []
        entries = self._library.catalog().entries
        return CatalogWriter(entries).write(budget=budget, shape=shape, pins=pins, hits=hits)

    def _searchable(self, entries: dict[str, SkillEntry], state: State) -> SkillIndex | View:
        if self._folder is not None:
            # A disk that is full or cannot be written to only makes searching slower.
            with suppress(OSError, BrokenIndexError):
                view = self._kept(self._folder, entries, state)
                if view is not None:
                    return view
        return self._in_memory.at(state, lambda keys: self._documents(entries[key] for key in keys))

    def _kept(self, folder: IndexFolder, entries: dict[str, SkillEntry], state: State) -> View | None:
        """The index in the folder in just this state; none while another process writes it."""
        digest = _digest(state)
        view = folder.look()
        if view is not None and _Mark.of(view).digest == digest:
            return view
        if not folder.take_pen():
            return None
        try:
            before = _Mark.of(view) if (view := folder.look()) else None
            mark = _Mark(digest, {key: _digest(each) for key, each in state.items()})
            if before is None:
                build = folder.build()
                build.add(self._documents(entries.values()))
                build.finish(json.dumps(mark))
            elif before != mark:
                changed = [entry for key, entry in entries.items() if before.each.get(key) != mark.each[key]]
                gone = before.each.keys() - mark.each.keys()
                folder.write(self._documents(changed), gone=gone, mark=json.dumps(mark))
        finally:
            folder.close()
        return folder.look()

    def _documents(self, entries: Iterable[SkillEntry]) -> Iterator[Document]:
        for entry in entries:
            yield document_of(entry, *_text(self._library, entry))


def search_folder(home: Path, place: Sequence[str], *, environment: str | None = None) -> Path:
    """Where in the home the index of a place is kept: some folders, an environment, or the folder it is seen from."""
    indexes = home / "search" / "folders"
    folder = indexes / sha256(json.dumps([place, environment]).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    with suppress(OSError):
        _forget_oldest(indexes, folder)
    return folder


def document_of(entry: SkillEntry, body: str = "", tags: tuple[str, ...] = ()) -> Document:
    """A skill as search takes it."""
    return Document(key=entry.id, name=entry.name, description=entry.description, tags=tags, body=body[:MAX_BODY])


def _forget_oldest(indexes: Path, folder: Path) -> None:
    make_folder(folder)
    now = time.time_ns()
    os.utime(folder, ns=(now, now))
    by_use = sorted(indexes.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for path in by_use[:-MAX_FOLDERS]:
        shutil.rmtree(path, ignore_errors=True)


class _Mark(NamedTuple):
    """What an index was made of."""

    digest: str
    """The digest of the state of all skills; usually nothing changed, and only this is compared."""
    each: dict[str, str]

    @classmethod
    def of(cls, view: View) -> "_Mark":
        mark = json.loads(view.mark or "{}")
        # An earlier release kept an object; then all skills are read again, once.
        return cls("", {}) if isinstance(mark, dict) else cls(*mark)


def _digest(state: object) -> str:
    return sha256(repr(state).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _text(library: Library, entry: SkillEntry) -> tuple[str, tuple[str, ...]]:
    # A file that went away since the listing must not stop the search of the others.
    try:
        document = library.read(entry).document
    except (OSError, SkillyardError):
        return "", ()
    return (document.body, document.tags) if document else ("", ())
