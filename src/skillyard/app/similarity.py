"""Which skills of a library say the same, and what to do about it."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from skillyard.app.loading import load_bundle, skill_folder
from skillyard.app.reading import find_entry
from skillyard.errors import InputError, NotFoundError, SkillyardError
from skillyard.library import audit_fixes as fixes
from skillyard.search.similar import LOWEST, NEAR, Group, Kind, Likeness, Sketch, groups, like, sketch_of
from skillyard.skill.bundle import SKILL_FILE, Bundle
from skillyard.skill.document import parse
from skillyard.skill.library import Library, SkillEntry
from skillyard.skill.limits import SKILL_FILE_NAMES
from skillyard.skill.models import SkillDocument

Track = Callable[[Sequence[SkillEntry]], Iterable[SkillEntry]]
"""Shows how far the reading is."""

ADVICE: Final = {
    Kind.EXACT: "They say the same, but each may be the only one that some agent or project reads.",
    Kind.NEAR: "Compare them, and keep one if the edits do not matter.",
    Kind.SAME_NAME: "Give one of them another name: agents tell skills apart by name.",
    Kind.TEMPLATE: "Nothing to do: they are different skills, written from one template.",
}
REGISTRY_FIELDS: Final = ("license", "compatibility", "metadata", "allowed_tools", "tags")
"""What a registry keeps of a frontmatter beside name and description."""
_PATH_SIGNS: Final = tuple(filter(None, (os.sep, os.altsep)))


class Found(NamedTuple):
    """A group, and what to run about it."""

    group: Group
    commands: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """All that is alike in a library or a yard."""

    threshold: float
    skills: dict[str, SkillEntry]
    found: tuple[Found, ...]
    unread: int = 0
    """Skills that could not be read when it was their turn."""

    @property
    def summary(self) -> dict[Kind, int]:
        """How many groups of each kind there are."""
        return {kind: sum(each.group.kind is kind for each in self.found) for kind in Kind}

    def as_dict(self) -> dict[str, Any]:
        return {
            "threshold": self.threshold,
            "compared": len(self.skills),
            "unread": self.unread,
            "summary": self.summary,
            "groups": [
                {
                    "kind": group.kind,
                    "advice": ADVICE[group.kind],
                    "commands": commands,
                    "skills": [
                        {**self.skills[group.first]._asdict(), "similarity": 1.0, "differs": []},
                        *(_compared(self.skills[other.key], other) for other in group.others),
                    ],
                }
                for group, commands in self.found
            ],
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Matches:
    """What is like one skill."""

    threshold: float
    folder: str
    """Of the skill that the others were compared with."""
    compared: int
    found: tuple[tuple[SkillEntry, Likeness], ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "threshold": self.threshold,
            "compared": self.compared,
            "skill": self.folder,
            "similar": [
                {**_compared(entry, likeness), "kind": likeness.kind, "commands": self.commands(entry, likeness)}
                for entry, likeness in self.found
            ],
        }

    def commands(self, entry: SkillEntry, likeness: Likeness) -> tuple[str, ...]:
        return _commands(likeness.kind, self.folder, entry)


def report_on(library: Library, *, threshold: float = NEAR, track: Track = iter) -> Report:
    """The groups among all skills of a library, also among those that others hide."""
    shelf = _Shelf(library)
    sketches = list(shelf.sketches(track))
    found = groups(sketches, shelf, threshold=checked_threshold(threshold))
    return Report(
        threshold=threshold,
        skills={sketch.key: shelf.entries[sketch.key] for sketch in sketches},
        found=tuple(Found(group, _commands_for(group, shelf.entries)) for group in found),
        unread=len(shelf.entries) - len(sketches),
    )


def similar_to(library: Library, wanted: str, *, threshold: float = NEAR, track: Track = iter) -> Matches:
    """What in a library is like one skill: one of it by id or name, or any in a folder or an archive."""
    shelf = _Shelf(library)
    key = shelf.take(wanted)
    sketches = {sketch.key: sketch for sketch in shelf.sketches(track)}
    one = sketches.get(key) or shelf.sketch(key)
    found = like(one, sketches.values(), shelf, threshold=checked_threshold(threshold))
    return Matches(
        threshold=threshold,
        folder=shelf.folder(key),
        compared=len(sketches) - (key in sketches),
        found=tuple((shelf.entries[likeness.key], likeness) for likeness in found),
    )


class _Shelf:
    """The skills of a library, each real file once, by the place where it is."""

    def __init__(self, library: Library) -> None:
        self._library = library
        catalog = library.catalog()
        found = (*catalog.entries, *(shadowed.entry for shadowed in catalog.shadowed))
        self.entries: dict[str, SkillEntry] = {}
        for entry in found:
            # A link to a skill is the same skill, not another one.
            self.entries.setdefault(os.path.realpath(entry.location), entry)
        self._given: tuple[str, Bundle] | None = None

    def take(self, wanted: str) -> str:
        """The key of the skill that is meant: one of the library, or any at a path."""
        path = Path(wanted)
        if not any(sign in wanted for sign in _PATH_SIGNS):
            try:
                return os.path.realpath(find_entry(self._library, wanted).location)
            except NotFoundError:
                if not path.exists():
                    raise
        folder = skill_folder(path)
        files = (os.path.realpath(folder / name) for name in SKILL_FILE_NAMES) if folder else ()
        key = next((file for file in files if file in self.entries), None)
        if key is None:
            key = wanted
            self._given = (key, load_bundle(path)[1])
        return key

    def folder(self, key: str) -> str:
        return _folder(self.entries[key]) if key in self.entries else key

    def sketches(self, track: Track) -> Iterator[Sketch]:
        places = {id(entry): key for key, entry in self.entries.items()}
        for entry in track(list(self.entries.values())):
            # A file that went away since the listing must not stop the others.
            try:
                yield self.sketch(places[id(entry)])
            except (OSError, SkillyardError):
                continue

    def sketch(self, key: str) -> Sketch:
        document = self._document(key)
        name = self.entries[key].name if key in self.entries else document.name
        fields = {field: value for field, value in document.fields.items() if field not in {"name", "description"}}
        return sketch_of(key, name=name, description=document.description, fields=fields, body=document.body)

    def body(self, key: str) -> str:
        try:
            return self._document(key).body
        except (OSError, SkillyardError):
            return ""

    def files(self, key: str) -> str:
        try:
            bundle = self._library.bundle(self.entries[key]) if key in self.entries else self._bundle(key)
        except (OSError, SkillyardError):
            return key
        return files_key((file.path, sha256(file.data).hexdigest(), file.executable) for file in bundle)

    def _document(self, key: str) -> SkillDocument:
        if key in self.entries:
            document = self._library.read(self.entries[key]).document
        else:
            file = self._bundle(key).get(SKILL_FILE)
            document = parse(file.data).document if file else None
        if document is None:
            raise InputError(f"{key} cannot be read.", hint=f"`{fixes.check(key)}` says what is wrong.")
        return document

    def _bundle(self, key: str) -> Bundle:
        if self._given is None or self._given[0] != key:
            raise NotFoundError(f"There is no {key!r}.", hint="Give a skill folder, a SKILL.md or an archive.")
        return self._given[1]


def files_key(files: Iterable[tuple[str, str, bool]]) -> str:
    """Equal for the same files beside `SKILL.md`: path, sha256 and whether it can be run."""
    lines = sorted(f"{path}\0{digest}\0{executable}" for path, digest, executable in files if path != SKILL_FILE)
    return sha256("\n".join(lines).encode(errors="surrogatepass")).hexdigest()


def _commands_for(group: Group, entries: Mapping[str, SkillEntry]) -> tuple[str, ...]:
    first, second, *_ = (entries[key] for key in (group.first, *(other.key for other in group.others)))
    return _commands(group.kind, _folder(first), second)


def _commands(kind: Kind, folder: str, other: SkillEntry) -> tuple[str, ...]:
    """What shows more; which of several skills stays is for a person to choose."""
    return (fixes.compare(folder, _folder(other)),) if kind in {Kind.NEAR, Kind.SAME_NAME} else ()


def _compared(entry: SkillEntry, likeness: Likeness) -> dict[str, Any]:
    return {
        **entry._asdict(),
        "similarity": round(likeness.similarity, 2),
        "differs": list(likeness.differs),
    }


def _folder(entry: SkillEntry) -> str:
    return os.path.dirname(entry.location)  # noqa: PTH120 -- locations are texts


def checked_threshold(threshold: float) -> float:
    """A threshold that means something, or the error that says what does."""
    if not LOWEST <= threshold <= 1:
        raise InputError(
            f"The threshold {threshold} is not between {LOWEST} and 1.",
            hint=f"From {NEAR} on, texts are variants of each other.",
            details={"field": "threshold", "value": threshold},
        )
    return threshold
