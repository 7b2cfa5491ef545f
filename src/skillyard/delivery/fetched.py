"""What fetching a source yields: skills ready to install, and those that are refused."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from skillyard.delivery.source import Source, SourceKind
from skillyard.errors import LimitError, NotFoundError
from skillyard.skill.bundle import SKILL_FILE, Bundle, BundleRead
from skillyard.skill.document import parse
from skillyard.skill.folder_names import id_in_folder
from skillyard.skill.limits import MIB
from skillyard.skill.models import Finding, Severity, SkillDocument
from skillyard.skill.names import nearest_name
from skillyard.skill.paths import printable

MAX_SOURCE_BYTES: Final = 256 * MIB
"""All skills that are taken from one source at once; they are held in memory."""
_SHOWN_NAMES: Final = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchedSkill:
    """One skill of a source, in memory, its bytes as they were there."""

    id: str
    """The name of the folder it will be installed as."""
    name: str
    description: str
    version: str
    bundle: Bundle
    source: Source
    """The source of exactly this skill: its `subpath` says where in the tree it was."""
    resolved: str
    """What the source meant this time: a commit, or the digest of the bytes. Empty for a folder."""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RefusedSkill:
    """One skill of a source that cannot be installed, and why."""

    id: str
    source: Source
    findings: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherSkill:
    """One skill of a source that was not asked for, and therefore not read."""

    id: str


FetchedItem = FetchedSkill | RefusedSkill | OtherSkill
"""What becomes of a skill of a source."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fetched:
    source: Source
    skills: tuple[FetchedSkill, ...] = ()
    refused: tuple[RefusedSkill, ...] = ()


def take_in(read: BundleRead, *, folder: str, source: Source, resolved: str = "") -> FetchedSkill | RefusedSkill:
    """A skill from the files that were read. `folder` is the name it had in the source."""
    skill_file = read.bundle.get(SKILL_FILE) if read.bundle is not None else None
    if read.bundle is None or skill_file is None:
        return RefusedSkill(id=folder, source=source, findings=read.findings)
    parsed = parse(skill_file.data)
    findings = (*read.findings, *parsed.findings)
    if parsed.document is None or not parsed.valid:
        return RefusedSkill(id=folder, source=source, findings=findings)
    installed = id_in_folder(parsed.document.name, folder)
    if not installed:
        return refusal(folder, source, "skill-unnamed", "Neither its name nor its folder can name a folder.")
    return FetchedSkill(
        id=installed,
        name=parsed.document.name or installed,
        description=parsed.document.description,
        version=version_of(parsed.document),
        bundle=read.bundle,
        source=source,
        resolved=resolved,
        findings=findings,
    )


def name_of(bundle: Bundle) -> str:
    """The name of a skill in its own SKILL.md."""
    skill_file = bundle.get(SKILL_FILE)
    document = parse(skill_file.data).document if skill_file else None
    return document.name if document else ""


def version_of(document: SkillDocument) -> str:
    for value in (document.metadata.get("version"), document.extra.get("version")):
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def refusal(skill_id: str, source: Source, code: str, message: str, *, fix: str = "") -> RefusedSkill:
    finding = Finding(code=code, severity=Severity.ERROR, message=message, fix=fix)
    return RefusedSkill(id=skill_id, source=source, findings=(finding,))


def is_wanted(names: Collection[str], *spellings: str) -> bool:
    """Whether a skill that goes by these spellings is asked for; no names ask for every skill."""
    return not names or bool({name.casefold() for name in names} & {word.casefold() for word in spellings})


def gather(source: Source, items: Iterable[FetchedItem], *, only: Collection[str], if_empty: str = "") -> Fetched:
    """The requested skills of a source; of two that would get the same folder, the first is kept.

    A name in `only` that no skill has is an error: a request for several must not silently give only some of them.
    `if_empty` is the hint for a source that has no skill at all.
    """
    skills: dict[str, FetchedSkill] = {}
    refused: list[RefusedSkill] = []
    known: set[str] = set()
    missing = {name.casefold(): name for name in only}
    size = 0
    for item in items:
        spellings = _spellings(item)
        for spelling in spellings:
            missing.pop(spelling.casefold(), None)
        if isinstance(item, RefusedSkill):
            if is_wanted(only, *spellings):
                refused.append(item)
            continue
        known.add(item.id)
        if isinstance(item, OtherSkill) or not is_wanted(only, *spellings):
            continue
        first = skills.setdefault(item.id.casefold(), item)
        if first is item:
            size += item.bundle.size
            check_source_size(size)
        elif first.bundle.digest != item.bundle.digest:
            refused.append(_duplicate(item, first))
    if missing:
        raise _unknown_skills(source, sorted(missing.values()), sorted(known), if_empty)
    return Fetched(source=source, skills=tuple(skills.values()), refused=tuple(refused))


def _spellings(item: FetchedItem) -> tuple[str, ...]:
    """What a skill may be asked for by: its id, its folder in the source, its name."""
    if isinstance(item, OtherSkill):
        return ()
    subpath = item.source.subpath
    named = (item.name,) if isinstance(item, FetchedSkill) else ()
    listed = (item.source.listing,) if item.source.kind is SourceKind.INDEX else ()
    return (item.id, subpath, subpath.rpartition("/")[2], *named, *listed)


def _unknown_skills(source: Source, missing: Sequence[str], known: Sequence[str], if_empty: str) -> NotFoundError:
    """The error that tells which skills there are, and which of them may have been meant."""
    nearest = dict.fromkeys(nearest_name(name.casefold(), known) for name in missing[:_SHOWN_NAMES])
    near = [printable(name) for name in nearest if name]
    shown = [printable(name) for name in known[:_SHOWN_NAMES]]
    more = f" and {len(known) - _SHOWN_NAMES:,} more" if len(known) > _SHOWN_NAMES else ""
    meant = f"Did you mean {' and '.join(map(repr, near))}? " if near else ""
    return NotFoundError(
        f"{source} has no skill {' or '.join(map(printable, missing[:_SHOWN_NAMES]))}; nothing was installed.",
        hint=f"{meant}It has: {', '.join(shown)}{more}." if known else if_empty or "It has no skill at all.",
        details={"field": "skill", "value": list(missing), "known": shown, "nearest": near},
    )


def check_source_size(size: int) -> None:
    if size > MAX_SOURCE_BYTES:
        raise LimitError(
            f"The skills of this source have more than {MAX_SOURCE_BYTES} bytes in all.",
            hint="Choose some of them with --skill NAME.",
            details={"limit": MAX_SOURCE_BYTES},
        )


def _duplicate(item: FetchedSkill, first: FetchedSkill) -> RefusedSkill:
    where, other = (skill.source.subpath or "the top folder" for skill in (item, first))
    message = f"The skill in {where} has the same name as the one in {other}, with other content."
    return refusal(
        item.id,
        item.source,
        "skill-duplicate",
        message,
        fix=f"To install this one, name its folder: {item.source}",
    )
