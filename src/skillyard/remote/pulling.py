"""Copying skills, and what they require, out of a yard into a folder."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from skillyard.command_text import command_text
from skillyard.errors import ConflictError, InputError, NotFoundError, SkillyardError
from skillyard.library.disk import discard_folder, read_folder, swap_folder, write_folder
from skillyard.remote.client import YardClient
from skillyard.skill.bundle import SKILL_FILE, Bundle
from skillyard.skill.folder_names import folder_name
from skillyard.skill.models import Finding, Severity, has_errors
from skillyard.skill.scan import scan

_ABSENT: Final = frozenset({"unknown-skill", "unknown-version", "not-published"})
"""Problems of what was asked for itself, not of what it requires."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pulled:
    """One skill that is copied, and where to."""

    skill: str
    version: str | None
    """None where nothing was ever published: then it is the working copy."""
    digest: str
    required_by: tuple[str, ...]
    path: Path
    present: bool = False
    """Whether exactly this is there already."""
    replaces: str = ""
    """The published version that is there unedited and is replaced."""
    edited: bool = False
    """Whether something that is not a published version is replaced."""
    found: str = ""
    """The digest of what is replaced."""
    warning: str = ""
    """What a person should know, such as that the version was yanked."""
    findings: tuple[Finding, ...] = ()
    """The findings of the scan in the pulled skill, without notes."""

    def as_dict(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "required_by": list(self.required_by),
            "path": str(self.path),
            "findings": [finding.as_dict() for finding in self.findings],
        }


def plan_pull(
    client: YardClient, names: Sequence[str], into: Path, *, dependencies: bool = True, force: bool = False
) -> list[Pulled]:
    """What pulling these skills would copy; an error if a requirement is missing or a place is taken.

    A name may state a version: `namespace/name@1.2.0`. An unedited other version is replaced, anything else only with
    `force`.
    """
    wanted: dict[str, Pulled] = {}
    for text in names:
        for item in _locked(client, text, dependencies=dependencies):
            known = wanted.setdefault(item["full_name"], _pulled(item, into))
            if known.digest != item["digest"]:
                raise _clash(known.skill, known.version, item["version"])
    planned = [_checked(client, one, force=force) for one in wanted.values()]
    folders: dict[str, Pulled] = {}
    for one in planned:
        first = folders.setdefault(one.path.name.casefold(), one)
        if first is not one:
            raise ConflictError(
                f"{first.skill} and {one.skill} would both be copied to {one.path}.",
                hint="Pull them one by one, each with another --into.",
                details={"skills": [first.skill, one.skill], "path": str(one.path)},
            )
    return planned


def pull(
    client: YardClient,
    plan: Sequence[Pulled],
    *,
    put_away: Callable[[Path], object] | None = None,
    allow_risky: bool = False,
    dry_run: bool = False,
) -> Iterator[Pulled]:
    """Copy what is planned, byte for byte; each skill appears whole or not at all.

    `put_away` moves away what is replaced and is not a version of the skill; without it, that stays and is an error.
    Nothing is copied if the scan finds something serious in one of them, unless that is allowed.
    """
    fetched = [(one, None if one.present else _fetched(client, one)) for one in plan]
    planned = [(replace(one, findings=_worth(bundle)) if bundle else one, bundle) for one, bundle in fetched]
    if not allow_risky:
        _require_safe([one for one, _ in planned])
    for one, bundle in planned:
        if bundle is not None and not dry_run:
            if one.found:
                _replace(bundle, one, put_away)
            else:
                write_folder(bundle, one.path)
        yield one


class RiskError(InputError):
    """Skills that could do harm, by what the scan found."""

    code = "scan_refused"


def _fetched(client: YardClient, one: Pulled) -> Bundle:
    bundle = client.bundle(one.skill, version=one.version)
    if bundle.digest != one.digest:
        raise SkillyardError(
            f"The files that the yard sent for {one.skill} do not have the digest that it announced.",
            hint="Try again; if it happens again, the yard's store is damaged: skillyard doctor",
            details={"expected": one.digest, "received": bundle.digest},
        )
    return bundle


def _worth(bundle: Bundle) -> tuple[Finding, ...]:
    return tuple(finding for finding in scan(bundle) if finding.severity is not Severity.INFO)


def _require_safe(plan: Sequence[Pulled]) -> None:
    risky = [one for one in plan if has_errors(one.findings)]
    if risky:
        names = ", ".join(one.skill for one in risky)
        raise RiskError(
            f"The scan found something serious in {names}; nothing was copied.",
            hint="Read the findings; --allow-risky (allow_risky in Python) copies them all the same.",
            details={
                "skills": [one.skill for one in risky],
                "findings": [
                    {**finding.as_dict(), "file": str(one.path / (finding.file or SKILL_FILE))}
                    for one in risky
                    for finding in one.findings
                ],
            },
        )


def _replace(bundle: Bundle, one: Pulled, put_away: Callable[[Path], object] | None) -> None:
    """Replace what the plan saw, but nothing that was saved there since."""
    there = read_folder(one.path).bundle
    if there is None or there.digest != one.found:
        raise ConflictError(f"{one.path} changed meanwhile.", hint="Run the command again.")
    if not one.edited:
        old = swap_folder(bundle, one.path)
        if old is not None:
            discard_folder(old)
    elif put_away is not None:
        put_away(one.path)
        write_folder(bundle, one.path)
    else:
        raise ConflictError(f"{one.path} was edited.", hint="Move it away first.")


def _locked(client: YardClient, text: str, *, dependencies: bool) -> list[dict[str, Any]]:
    name, _, version = text.partition("@")
    try:
        skill = client.skill(name)
    except NotFoundError:
        if not version:
            raise
        skill, version = client.skill(text), ""  # older yards have names with an @
    found = client.dependencies(skill["id"], version=version or None, alone=not dependencies)
    absent = next((one for one in found["problems"] if one["code"] in _ABSENT), None)
    if absent is not None:
        raise NotFoundError(
            absent["message"],
            hint=f"See what there is: {command_text('registry versions', skill['full_name'])}",
            details={"skill": skill["full_name"], "version": version or None},
        )
    if not found["complete"]:
        raise _incomplete(text, found)
    warnings = {one["skill"]: one["message"] for one in found["problems"] if one["code"] == "yanked"}
    return [{**item, "warning": warnings.get(item["full_name"], "")} for item in found["locked"]]


def _pulled(item: dict[str, Any], into: Path) -> Pulled:
    return Pulled(
        skill=item["full_name"],
        version=item["version"],
        digest=item["digest"],
        required_by=tuple(item["required_by"]),
        path=into / folder_name(item["full_name"].rpartition("/")[2]),
        warning=item["warning"],
    )


def _checked(client: YardClient, one: Pulled, *, force: bool) -> Pulled:
    if not one.path.exists() and not one.path.is_symlink():
        return one
    bundle = read_folder(one.path).bundle if one.path.is_dir() else None
    if bundle is not None and bundle.digest == one.digest:
        return replace(one, present=True)
    if bundle is not None and not os.path.lexists(one.path / ".git"):
        published = {version["digest"]: version["version"] for version in client.versions(one.skill)}
        if bundle.digest in published:
            return replace(one, replaces=published[bundle.digest], found=bundle.digest)
        if force:
            return replace(one, edited=True, found=bundle.digest)
        hint = "Replace it with --force (it goes to the trash), or choose another folder with --into."
    else:
        hint = "Choose another folder with --into, or move it away."
    raise ConflictError(
        f"{one.path} is there already, with content that is no published version of {one.skill}.",
        hint=hint,
        details={"path": str(one.path)},
    )


def _clash(skill: str, first: str | None, second: str | None) -> ConflictError:
    return ConflictError(
        f"Two versions of {skill} are asked for: {first or 'draft'} and {second or 'draft'}.",
        hint="Pull them one by one, each with another --into.",
        details={"skill": skill, "versions": [first, second]},
    )


def _incomplete(text: str, found: dict[str, Any]) -> ConflictError:
    reasons = [f"{one['name']} is not there" for one in found["missing"]]
    reasons.extend(one["message"].rstrip(".") for one in found["conflicts"])
    known = {*reasons}
    reasons.extend(
        message
        for one in found["problems"]
        if not one["warning"] and (message := one["message"].rstrip(".")) not in known and one["code"] != "missing"
    )
    return ConflictError(
        f"Not all that {text} requires can be had: {'; '.join(dict.fromkeys(reasons))}.",
        hint=f"To take it without what it requires: {command_text('registry pull', text, options=['--alone'])}",
        details={key: found[key] for key in ("missing", "conflicts", "problems")},
    )
