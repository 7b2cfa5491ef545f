"""What is looked at before a skill is kept: the format, the scan, its references, and what it may do."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from skillyard.errors import InputError
from skillyard.learning.destinations import new_destinations, review_of, texts_of_bundle
from skillyard.learning.skills.edits import misplaced
from skillyard.learning.skills.known_skills import LOCK
from skillyard.learning.skills.placeholders import placeholders
from skillyard.registry.drafts import Draft, draft_as
from skillyard.skill.bundle import SKILL_FILE, Bundle
from skillyard.skill.document import parse
from skillyard.skill.models import Finding, Profile, Severity, Value
from skillyard.skill.references import Reference
from skillyard.skill.scan import SCAN_CODES

TOOLS: Final = "allowed-tools"
VERSION: Final = "version"
_OWN: Final = frozenset({"name", "description"})
_FRONTMATTER: Final = re.compile(r"\s*---[ \t]*\r?\n[ \t]*(?:name|description)[ \t]*:")
_BROKEN: Final = frozenset({"reference-broken", "reference-leaves-skill"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Inspection:
    """What was found in a skill that is to be kept."""

    problems: tuple[str, ...]
    """What keeps it from being kept."""
    asks: tuple[str, ...]
    """What a person must agree to first."""
    warnings: tuple[str, ...]
    references: tuple[Reference, ...]
    """Those that the old one did not have."""


def inspect(new: Bundle, old: Bundle | None, *, name: str) -> Inspection:
    """Look a skill over. On a change, what the old one had wrong already does not count."""
    try:
        draft, before = draft_as(new, name), draft_as(old, name) if old else None
    except InputError as error:
        return Inspection(problems=(f"{error.message} {error.hint}".strip(),), asks=(), warnings=(), references=())
    found = _new_findings(draft, before, name)
    problems = [
        *misplaced(new, old),
        *placeholders(new, old),
        *_second_frontmatter(draft, before),
        *(_said(finding) for finding in found if finding.severity is Severity.ERROR or finding.code in _BROKEN),
    ]
    brought = new_destinations(texts_of_bundle(old), texts_of_bundle(new))
    asks = [review_of(brought)] if brought else []
    if before is not None:
        problems += _lost_fields(draft, before)
        asks += _changed_fields(draft, before)
    warned = [each for each in found if each.severity is Severity.WARNING and each.code in SCAN_CODES]
    known = {(each.target_skill, each.target_path) for each in (before.references if before else ())}
    return Inspection(
        problems=tuple(problems),
        asks=tuple(asks),
        warnings=tuple(_said(finding) for finding in warned),
        references=tuple(each for each in draft.references if (each.target_skill, each.target_path) not in known),
    )


def _second_frontmatter(draft: Draft, before: Draft | None) -> Iterator[str]:
    """A body that begins with a frontmatter of its own would be shown to agents as text, beside the one that counts."""
    was_so = before is not None and _FRONTMATTER.match(before.document.body)
    if _FRONTMATTER.match(draft.document.body) and not was_so:
        yield f"{SKILL_FILE}: the text begins with a frontmatter of its own; give the text below it alone."


def _new_findings(draft: Draft, before: Draft | None, name: str) -> list[Finding]:
    known = {_key(finding) for finding in (_findings(before, name) if before else ())}
    return [finding for finding in _findings(draft, name) if _key(finding) not in known]


def _findings(draft: Draft, name: str) -> Iterator[Finding]:
    file = draft.bundle.get(SKILL_FILE)
    yield from parse(file.data if file else b"", folder=name, profile=Profile.STRICT).findings
    yield from (finding for finding in draft.findings if finding.code in SCAN_CODES | _BROKEN)


def _key(finding: Finding) -> tuple[str, str, str]:
    # The message quotes the line: one that stayed is known, and another of its kind is not.
    return finding.code, finding.file, finding.message


def _lost_fields(draft: Draft, before: Draft) -> Iterator[str]:
    if draft.name != before.name:
        yield f"{SKILL_FILE}: the name must stay {before.name!r}."
    for key in before.document.fields:
        if key not in draft.document.fields:
            yield f"{SKILL_FILE}: the field {key!r} is gone from the frontmatter; keep it."
    if draft.document.metadata.get(LOCK) != before.document.metadata.get(LOCK):
        yield f"{SKILL_FILE}: 'metadata.{LOCK}' is for a person to change."


def _changed_fields(draft: Draft, before: Draft) -> Iterator[str]:
    if set(draft.document.allowed_tools) != set(before.document.allowed_tools):
        added = sorted(set(draft.document.allowed_tools) - set(before.document.allowed_tools))
        what = f"would also allow {', '.join(added)}" if added else "would allow less"
        yield f"The change is one of {TOOLS}: the skill {what}."
    for key, value in draft.document.fields.items():
        if key not in _OWN | {TOOLS} and _unnumbered(value) != _unnumbered(before.document.fields.get(key)):
            yield f"The change sets {key!r} in the frontmatter."


def _unnumbered(value: "Value | None") -> "Value | None":
    """Metadata without the version, which moves with every change."""
    return {key: each for key, each in value.items() if key != VERSION} if isinstance(value, dict) else value


def _said(finding: Finding) -> str:
    place = f"{finding.file or SKILL_FILE}:{finding.line}: " if finding.line else ""
    return f"{place}{finding.message} {finding.fix}".strip()
