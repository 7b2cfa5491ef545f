"""Where an agent's skills come from: one protocol over folders, environments and yards.

A source is asked from worker threads and may be shared by them. It shows what whoever asks may see and nothing
else: also its errors and the names it suggests.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from skillyard.errors import NotFoundError, SkillyardError
from skillyard.search.catalog import BUDGET, PromptCatalog, Shape
from skillyard.search.documents import Snippet
from skillyard.skill.bundle import Bundle
from skillyard.skill.library import SkillEntry
from skillyard.usage.events import UsageKind

PAGE: Final = 100
"""Skills on one page unless said otherwise."""
MAX_PAGE: Final = 200
HITS: Final = 5
"""Skills that a search finds unless said otherwise."""
MAX_HITS: Final = 100
NEAREST: Final = 10
"""Names that are suggested instead of one that does not exist, unless said otherwise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A skill of a source, with what is known about which state of it that is."""

    entry: SkillEntry
    version: str = ""
    """The version that would be loaded; empty for a working copy, and where there are no versions."""
    digest: str = ""
    """The tree digest of its files; empty where it is worked out only when asked for."""
    key: str = ""
    """What the source itself knows it by; the id of the entry unless the source has ids of its own."""

    @property
    def id(self) -> str:
        """What it is asked for by: unlike a name, no two skills of a source share it."""
        return self.entry.id

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def description(self) -> str:
        return self.entry.description


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillPage:
    """Some of the skills of a source, and the cursor that goes on from there; empty after the last."""

    skills: Sequence[Found]
    next_cursor: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillHit:
    """A skill that fits a query."""

    skill: Found
    score: float
    snippet: Snippet


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillFile:
    """One file of a skill, without what is in it."""

    path: str
    """Relative to the folder of the skill, `/`-separated."""
    size: int
    executable: bool = False
    sha256: str = ""
    """Of its content, in hex; empty where it is worked out only when asked for."""


class SkillSource(Protocol):
    """Skills for an agent, as they are now: a change is seen at the next call."""

    @property
    def label(self) -> str:
        """What it is called in messages: a folder, an environment, the address of a yard."""
        ...

    @property
    def lasting(self) -> bool:
        """Whether the states that `snapshot` tells mean the same in another process."""
        ...

    def catalog_text(
        self, query: str = "", *, budget: int = BUDGET, pins: Sequence[str] = (), shape: Shape = Shape.XML
    ) -> PromptCatalog:
        """The skills as a text for a prompt of at most `budget` characters, what fits the query first.

        What is in it is told by id.
        """
        ...

    def page(self, cursor: str = "", limit: int = PAGE) -> SkillPage:
        """All skills in one order, a page at a time. A cursor that no page gave is an InputError."""
        ...

    def find(self, name: str) -> Found | None:
        """The skill of that id, else of that id or name without regard to case."""
        ...

    def missing(self, name: str) -> SkillyardError:
        """Why `find` found no skill of that name, and what to ask for instead."""
        ...

    def nearest(self, name: str, n: int = NEAREST) -> list[str]:
        """The ids of skills whose ids or names are most like that, the nearest first."""
        ...

    def text(self, found: Found) -> str:
        """The whole `SKILL.md`, frontmatter and instructions."""
        ...

    def files(self, found: Found) -> list[SkillFile]:
        """Every file of the skill, `SKILL.md` among them, by path."""
        ...

    def file(self, found: Found, path: str) -> bytes:
        """What is in one file of the skill; a path that leads out of it is refused."""
        ...

    def bundle(self, found: Found) -> Bundle:
        """All files of the skill, at one moment."""
        ...

    def folder(self, found: Found) -> str | None:
        """The folder of the skill on this machine, as an absolute path; None where its files are elsewhere."""
        ...

    def search(self, query: str, limit: int = HITS) -> list[SkillHit]:
        """The skills that fit a query, best first; none when none fits."""
        ...

    def stamp(self) -> str:
        """A token that is another one after a skill was added, removed or changed; cheap when none was.

        Where nobody tells of changes, one to a file beside `SKILL.md` may show only in `snapshot`.
        """
        ...

    def snapshot(self) -> Mapping[str, str]:
        """For each skill, by id, what tells one state of it from another: two of these say what changed between."""
        ...

    def record(self, kind: UsageKind, found: Found, *, session: str = "", agent: str = "", detail: str = "") -> None:
        """Count a use of the skill. It never fails what was done: where it cannot be counted, it is not."""
        ...

    def record_all(self, kind: UsageKind, skills: Iterable[Found | str], *, session: str = "", agent: str = "") -> None:
        """Count a use of several skills, of each once in a session; by their ids where no more is known of them."""
        ...


def texts(source: SkillSource, found: Iterable[Found]) -> list[str | SkillyardError]:
    """The whole `SKILL.md` of each of several skills, or why it cannot be had: one does not hold up the others."""
    return [_text(source, each) for each in found]


def _text(source: SkillSource, found: Found) -> str | SkillyardError:
    try:
        return source.text(found)
    except SkillyardError as error:
        return error


def markdown_catalog(source: SkillSource, query: str, *, budget: int, pins: Sequence[str]) -> PromptCatalog:
    """The skills as a list for a prompt. A pinned skill may go while an agent works: the others stay."""
    try:
        return source.catalog_text(query, budget=budget, pins=pins, shape=Shape.MARKDOWN)
    except NotFoundError:
        there = [pin for pin in pins if source.find(pin) is not None]
        return source.catalog_text(query, budget=budget, pins=there, shape=Shape.MARKDOWN)


def require(source: SkillSource, name: str) -> Found:
    """The skill of that id or name, or an error that says what there is instead."""
    wanted = name.strip()
    found = source.find(wanted)
    if found is None:
        raise source.missing(wanted)
    return found
