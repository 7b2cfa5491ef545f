"""One skill of a library, read whole: what `show` prints and the server answers."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from skillyard.app.findings import about, findings_of
from skillyard.command_text import command_text
from skillyard.errors import InputError, NotFoundError
from skillyard.library.regular import read_regular
from skillyard.library.switches import Disabled, WithSwitches, switched_off
from skillyard.skill.bundle import Bundle
from skillyard.skill.library import Layered, Library, SkillEntry
from skillyard.skill.limits import MAX_SKILL_MD_BYTES
from skillyard.skill.models import Finding, Severity, SkillDocument
from skillyard.skill.names import nearest_name


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillView:
    """A skill with its text, its files and what there is to say about them."""

    entry: SkillEntry
    document: SkillDocument
    findings: tuple[Finding, ...]
    bundle: Bundle | None
    """None when its files cannot be taken as they are; the findings say why."""

    def as_dict(self) -> dict[str, Any]:
        """The skill as JSON has it."""
        document = self.document
        return {
            **self.entry._asdict(),
            "license": document.license,
            "compatibility": document.compatibility,
            "metadata": document.metadata,
            "allowed_tools": list(document.allowed_tools),
            "tags": list(document.tags),
            "frontmatter": document.fields,
            "body": document.body,
            "digest": self.bundle.digest if self.bundle else "",
            "files": file_list(self.bundle),
            "findings": [finding.as_dict() for finding in self.findings],
        }


def file_list(bundle: Bundle | None) -> list[dict[str, Any]]:
    return [{"path": file.path, "bytes": len(file.data), "executable": file.executable} for file in bundle or ()]


def find_entry(library: Library, wanted: str) -> SkillEntry:
    """The skill of that id or name; when it cannot be had, the error says why and what is near."""
    catalog = library.catalog()
    entry = catalog.find(wanted)
    if entry is not None:
        return entry
    folded = wanted.casefold()
    for problem in catalog.problems:
        if problem.id.casefold() == folded:
            raise InputError(
                f"The skill {problem.id!r} is there but cannot be used: {problem.location}",
                hint=problem.findings[0].fix if problem.findings else "",
                details={"findings": [finding.as_dict() for finding in findings_of(problem)]},
            )
    off = switched_off(wanted, disabled_in(library))
    if off is not None:
        raise off
    near = _near(folded, [entry.id for entry in catalog.entries])
    hint = f"Did you mean {near!r}?" if near else "`skillyard list` shows what is there."
    raise NotFoundError(f"There is no skill {wanted!r} here.", hint=hint, details={"skill": wanted})


def _near(folded: str, ids: Sequence[str]) -> str:
    """The id that is most likely meant: one that looks alike, else one that starts with or holds the word."""
    holding = [key for key in ids if folded and folded in key.casefold()]
    return nearest_name(folded, ids) or min(holding, key=lambda key: key.casefold().index(folded), default="")


def read_skill(library: Library, wanted: str) -> SkillView:
    """The skill of that id or name, read now."""
    entry = find_entry(library, wanted)
    parsed = library.read(entry)
    findings = about(os.path.basename(entry.location), parsed.findings)  # noqa: PTH119 -- a location is a text
    if parsed.document is None:
        raise InputError(
            f"The skill {entry.id!r} can no longer be read: {entry.location}",
            hint=f"`{command_text('validate', entry.location)}` says what is wrong.",
            details={"findings": [finding.as_dict() for finding in findings]},
        )
    bundle, trouble = _bundle(library, entry)
    return SkillView(entry=entry, document=parsed.document, findings=(*findings, *trouble), bundle=bundle)


def read_source(library: Library, wanted: str) -> tuple[SkillEntry, bytes]:
    """The skill of that id or name and its `SKILL.md`, byte for byte."""
    entry = find_entry(library, wanted)
    return entry, read_regular(os.path.realpath(entry.location), MAX_SKILL_MD_BYTES)


def disabled_in(library: Library) -> Iterator[Disabled]:
    """What the last catalog left out because it is switched off."""
    for part in library.libraries if isinstance(library, Layered) else (library,):
        if isinstance(part, WithSwitches):
            yield from part.disabled


def _bundle(library: Library, entry: SkillEntry) -> tuple[Bundle | None, tuple[Finding, ...]]:
    # The text of a skill is worth showing even when some file beside it is unfit to ship.
    try:
        return library.bundle(entry), ()
    except InputError as error:
        finding = Finding(code=error.code, severity=Severity.ERROR, message=error.message, fix=error.hint)
        return None, (finding,)
