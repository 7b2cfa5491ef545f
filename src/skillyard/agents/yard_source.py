"""Skills for an agent from a yard, this machine's or one elsewhere, with the rights of whoever asks."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from skillyard.agents.bundles import file_of, files_of
from skillyard.agents.missing import NoSkillError
from skillyard.agents.source import HITS, MAX_HITS, MAX_PAGE, NEAREST, PAGE, Found, SkillFile, SkillHit, SkillPage
from skillyard.agents.uses import Uses
from skillyard.agents.yard_changes import YardChanges
from skillyard.errors import NotFoundError, SkillyardError
from skillyard.library.assets import as_text, no_file, require_inside
from skillyard.remote.client import YardClient
from skillyard.remote.library import entry_of, snippet_of
from skillyard.search.catalog import BUDGET, Form, PromptCatalog, Shape, check_budget
from skillyard.skill.bundle import SKILL_FILE, Bundle
from skillyard.skill.limits import MIB
from skillyard.skill.names import nearest_names
from skillyard.usage.events import UsageKind

MAX_KEPT_BYTES: Final = 32 * MIB
"""Of bundles that were fetched so much is kept; a state of a skill never changes."""
_LONGEST_NAME: Final = 400
_LONGEST_QUERY: Final = 5_000
"""A query is part of an address, which servers and proxies bound."""


class YardSource:
    """What a yard ships to the caller: the latest version of each skill, or its working copy if there is none.

    At most `keep` bytes of fetched bundles are kept. `label` names the yard in answers to an agent.
    """

    lasting = True

    def __init__(self, client: YardClient, *, keep: int = MAX_KEPT_BYTES, label: str = "") -> None:
        self.label = label or client.connection.url
        self._client = client
        self._changes = YardChanges(client)
        self._uses = Uses(client)
        self._kept = _KeptBundles(keep)

    def close(self) -> None:
        """Wait until the uses are counted; the client stays open."""
        self._uses.flush()

    def catalog_text(
        self, query: str = "", *, budget: int = BUDGET, pins: Sequence[str] = (), shape: Shape = Shape.XML
    ) -> PromptCatalog:
        written = self._client.catalog(_asked(query), budget=check_budget(budget), pins=pins, format=shape.value)
        return PromptCatalog(
            text=written["text"],
            shown={key: Form(form) for key, form in written["forms"].items()},
            total=written["total"],
            naive=written["naive_characters"],
        )

    def page(self, cursor: str = "", limit: int = PAGE) -> SkillPage:
        skills, following = self._client.skills_page(cursor=cursor or None, limit=max(1, min(limit, MAX_PAGE)))
        return SkillPage(skills=[self._found(skill) for skill in skills], next_cursor=following or "")

    def find(self, name: str) -> Found | None:
        if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
            return None
        try:
            return self._found(self._client.skill(name))
        except NotFoundError:
            return None

    def missing(self, name: str) -> SkillyardError:
        return NoSkillError(name, self.nearest(name), self._client.catalog(budget=None)["total"], where=self.label)

    def nearest(self, name: str, n: int = NEAREST) -> list[str]:
        words = name.strip()[:_LONGEST_NAME]
        # Of a yard with very many skills not all names are fetched for one that is wrong: a search finds most of them.
        some = list(
            self.snapshot() if self._changes.were_read else [each.id for each in self.page(limit=MAX_PAGE).skills]
        )
        folded = {part.casefold(): each for each in reversed(some) for part in (each, each.rpartition("/")[2])}
        alike = (folded[near] for near in nearest_names(words.casefold(), folded, n))
        about = (hit.skill.id for hit in self.search(words, n))
        return list(dict.fromkeys([*alike, *about, *some]))[:n]

    def text(self, found: Found) -> str:
        return as_text(self.file(found, SKILL_FILE), errors="replace")

    def files(self, found: Found) -> list[SkillFile]:
        if not found.version:
            return files_of(self.bundle(found))
        listed = self._client.version(found.key, found.version)["files"]
        files = (
            SkillFile(path=file["path"], size=file["size"], executable=file["executable"], sha256=file["sha256"])
            for file in listed
        )
        return sorted(files, key=lambda file: file.path)

    def file(self, found: Found, path: str) -> bytes:
        wanted = require_inside(found.id, path)
        kept = self._kept.get(found)
        if kept is not None or not found.version:
            return file_of(kept or self.bundle(found), found.id, wanted)
        try:
            return self._client.file(found.key, wanted, version=found.version)
        except NotFoundError:
            raise no_file(found.id, wanted, [file.path for file in self.files(found)]) from None

    def bundle(self, found: Found) -> Bundle:
        kept = self._kept.get(found)
        if kept is None:
            kept = self._client.bundle(found.key, version=found.version or None)
            self._kept.put(found, kept)
        return kept

    def folder(self, found: Found) -> str | None:  # noqa: ARG002 -- none of them is
        return None

    def search(self, query: str, limit: int = HITS) -> list[SkillHit]:
        asked = _asked(query)
        if not asked:
            return []
        hits = self._client.search(asked, limit=max(1, min(limit, MAX_HITS)))
        return [
            SkillHit(skill=self._found(hit), score=hit["score"], snippet=snippet_of(hit["snippet"])) for hit in hits
        ]

    def stamp(self) -> str:
        return self._changes.stamp()

    def snapshot(self) -> Mapping[str, str]:
        return self._changes.states()

    def record(self, kind: UsageKind, found: Found, *, session: str = "", agent: str = "", detail: str = "") -> None:
        self._uses.add(kind, found.key, version=found.version, session=session, agent=agent, detail=detail)

    def record_all(self, kind: UsageKind, skills: Iterable[Found | str], *, session: str = "", agent: str = "") -> None:
        for each in skills:
            key, version = (each, "") if isinstance(each, str) else (each.key, each.version)
            self._uses.add(kind, key, version=version, session=session, agent=agent, once=True)

    def _found(self, skill: dict[str, Any]) -> Found:
        version = skill["latest"] or ""
        return Found(
            entry=entry_of(skill, self.label),
            version=version,
            digest="" if version else skill["digest"],
            key=skill["id"],
        )


class _KeptBundles:
    """The bundles that were used last, up to some size in all."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._bundles: OrderedDict[tuple[str, str, str], Bundle] = OrderedDict()
        self._bytes = 0

    def get(self, found: Found) -> Bundle | None:
        with self._lock:
            bundle = self._bundles.get(_state_of(found))
            if bundle is not None:
                self._bundles.move_to_end(_state_of(found))
            return bundle

    def put(self, found: Found, bundle: Bundle) -> None:
        # What came may be newer than what was found, if it changed in between; then it is of another state.
        if found.digest and bundle.digest != found.digest:
            return
        with self._lock:
            if _state_of(found) not in self._bundles:
                self._bundles[_state_of(found)] = bundle
                self._bytes += bundle.size
            while self._bytes > min(self._most, MAX_KEPT_BYTES):
                _, gone = self._bundles.popitem(last=False)
                self._bytes -= gone.size


def _asked(query: str) -> str:
    return query.replace("\0", " ").strip()[:_LONGEST_QUERY]


def _state_of(found: Found) -> tuple[str, str, str]:
    return found.key, found.version, found.digest
