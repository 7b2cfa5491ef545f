"""Copying skills, and what they require, out of a yard into a folder."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from skillyard.errors import ConflictError, NotFoundError, SkillyardError
from skillyard.library.disk import read_folder, write_folder
from skillyard.remote.client import YardClient
from skillyard.skill.folder_names import folder_name

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
    warning: str = ""
    """What a person should know, such as that the version was yanked."""

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "required_by": list(self.required_by), "path": str(self.path)}


def plan_pull(client: YardClient, names: Sequence[str], into: Path, *, dependencies: bool = True) -> list[Pulled]:
    """What pulling these skills would copy; an error when something required or a free place is missing.

    A name may say which version: `namespace/name@1.2.0`.
    """
    wanted: dict[str, Pulled] = {}
    for text in names:
        for item in _locked(client, text, dependencies=dependencies):
            known = wanted.setdefault(item["full_name"], _pulled(item, into))
            if known.digest != item["digest"]:
                raise _clash(known.skill, known.version, item["version"])
    planned = [_checked(one) for one in wanted.values()]
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


def pull(client: YardClient, plan: Sequence[Pulled]) -> Iterator[Pulled]:
    """Copy what is planned, byte for byte; each skill appears whole or not at all."""
    for one in plan:
        if not one.present:
            bundle = client.bundle(one.skill, version=one.version)
            if bundle.digest != one.digest:
                raise SkillyardError(
                    f"What the yard sent of {one.skill} is not what it promised.",
                    hint="Try again; if it stays so, the yard's store is damaged: skillyard doctor",
                    details={"expected": one.digest, "received": bundle.digest},
                )
            write_folder(bundle, one.path)
        yield one


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
            hint=f"See what there is: skillyard registry versions {skill['full_name']}",
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


def _checked(one: Pulled) -> Pulled:
    if not one.path.exists() and not one.path.is_symlink():
        return one
    bundle = read_folder(one.path).bundle if one.path.is_dir() else None
    if bundle is not None and bundle.digest == one.digest:
        return replace(one, present=True)
    raise ConflictError(
        f"{one.path} is there already, with other content.",
        hint="Choose another folder with --into, or move it away.",
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
        hint=f"To take it without what it requires: skillyard registry pull {text} --alone",
        details={key: found[key] for key in ("missing", "conflicts", "problems")},
    )
