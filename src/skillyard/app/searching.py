"""Searching folders of skills by what their skills do, again and again at little cost."""

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from skillyard.app.embedding import Embeddings, open_embeddings
from skillyard.errors import SkillyardError
from skillyard.library.entry_search import document_of
from skillyard.library.revisions import file_state
from skillyard.search import Document, SkillIndex, Snippet
from skillyard.search.documents import MAX_BODY
from skillyard.search.fusion import Searchable
from skillyard.search.index_folder import BrokenIndexError, IndexFolder, View
from skillyard.skill.library import Catalog, Library, SkillEntry

if TYPE_CHECKING:
    from skillyard.config.settings import Settings

MAX_FOLDERS: Final = 32
"""So many indexes are kept, one for each place that was searched from; the one used longest ago goes first."""


class Match(NamedTuple):
    entry: SkillEntry
    score: float
    snippet: Snippet


class Matches(NamedTuple):
    """The best matches, and how many there are in all."""

    best: tuple[Match, ...]
    total: int


State = dict[str, str]
"""What is searched: for each skill what tells one state of it from another."""


class Snapshot:
    """The skills of a library as they were at one moment, to be searched as often as wanted."""

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

    def __init__(self, library: Library, folder: Path | None = None, embeddings: Embeddings | None = None) -> None:
        self._library = library
        self._embeddings = embeddings
        self._folder = IndexFolder(folder) if folder else None
        self._in_memory: tuple[State, SkillIndex] | None = None
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
        state = {key: _state_of(entry) for key, entry in entries.items()}
        index = self._searchable(entries, state)
        if self._embeddings is None:
            return Snapshot(entries, index)
        self._embeddings.follow({key: document_of(entry) for key, entry in entries.items()})
        return Snapshot(entries, self._embeddings.over(index))

    def search(self, query: str, *, limit: int = 10) -> Matches:
        """What fits a query of what is there now."""
        return self.look().search(query, limit=limit)

    def _searchable(self, entries: dict[str, SkillEntry], state: State) -> SkillIndex | View:
        if self._folder is not None:
            # A disk that is full or cannot be written to only makes searching slower.
            with suppress(OSError, BrokenIndexError):
                view = self._kept(self._folder, entries, state)
                if view is not None:
                    return view
        if self._in_memory is None or self._in_memory[0] != state:
            self._in_memory = (state, SkillIndex.of(self._documents(entries.values())))
        return self._in_memory[1]

    def _kept(self, folder: IndexFolder, entries: dict[str, SkillEntry], state: State) -> View | None:
        """The index in the folder in just this state; none while another process writes it."""
        view = folder.look()
        if view is not None and _marked(view) == state:
            return view
        if not folder.take_pen():
            return None
        try:
            before = _marked(view) if (view := folder.look()) else None
            if before is None:
                build = folder.build()
                build.add(self._documents(entries.values()))
                build.finish(_mark(state))
            else:
                changed = [entry for key, entry in entries.items() if before.get(key) != state[key]]
                folder.write(self._documents(changed), gone=before.keys() - state.keys(), mark=_mark(state))
        finally:
            folder.close()
        return folder.look()

    def _documents(self, entries: Iterable[SkillEntry]) -> Iterator[Document]:
        for entry in entries:
            body, tags = _text(self._library, entry)
            yield Document(key=entry.id, name=entry.name, description=entry.description, tags=tags, body=body)


def open_search(
    settings: "Settings", library: Library, *, roots: Sequence[Path] = (), environment: str | None = None
) -> SkillSearch:
    """The search of a library as the settings want it, its index kept for the next process."""
    return SkillSearch(
        library, search_folder(settings, roots=roots, environment=environment), open_embeddings(settings)
    )


def search_folder(settings: "Settings", *, roots: Sequence[Path] = (), environment: str | None = None) -> Path:
    """Where the index of what is in reach from here is kept, or that of named folders or an environment."""
    place = [*map(os.path.abspath, roots)] if roots or environment else [str(Path.cwd())]
    indexes = settings.home / "search" / "folders"
    folder = indexes / sha256(json.dumps([place, environment]).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    with suppress(OSError):
        _forget_oldest(indexes, folder)
    return folder


def _forget_oldest(indexes: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    now = time.time_ns()
    os.utime(folder, ns=(now, now))
    by_use = sorted(indexes.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for path in by_use[:-MAX_FOLDERS]:
        shutil.rmtree(path, ignore_errors=True)


def _marked(view: View) -> State:
    return json.loads(view.mark or "{}")


def _mark(state: State) -> str:
    return json.dumps(state)


def _state_of(entry: SkillEntry) -> str:
    return sha256(repr((entry, file_state(entry.location))).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _text(library: Library, entry: SkillEntry) -> tuple[str, tuple[str, ...]]:
    # A file that went away since the listing must not stop the search of the others.
    try:
        document = library.read(entry).document
    except (OSError, SkillyardError):
        return "", ()
    return (document.body[:MAX_BODY], document.tags) if document else ("", ())
