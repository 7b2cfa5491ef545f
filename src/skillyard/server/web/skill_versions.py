"""The versions of a skill, and what differs between any two."""

from typing import Annotated, Literal

from fastapi import Query

from skillyard.app.yard import Yard
from skillyard.errors import SkillyardError
from skillyard.identity.principals import Principal
from skillyard.registry.skills import Skill
from skillyard.registry.versions import DRAFT
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.skill_schemas import SkillSchema
from skillyard.server.api.version_schemas import SkillDiff, VersionSchema
from skillyard.server.web.forms import Form
from skillyard.server.web.page import Page, PageRouter
from skillyard.server.web.provenance import provenance_of
from skillyard.server.web.skill import SKILL, TheSkill

router = PageRouter()

State = Annotated[str, Query(max_length=200)]


@router.page(f"{SKILL}/versions")
async def versions(skill: TheSkill, yard: TheYard, caller: Caller) -> Page:
    """All versions, the highest first."""
    return await versions_page(yard, caller, skill)


@router.page(f"{SKILL}/diff")
async def diff(
    skill: TheSkill,
    yard: TheYard,
    caller: Caller,
    old: Annotated[State, Query(alias="from")] = "",
    new: Annotated[State, Query(alias="to")] = DRAFT,
    view: Literal["unified", "sides"] = "unified",
) -> Page:
    """What differs between two states; by default from the latest version to the working copy."""
    found = await yard.registry.states.diff(caller, skill.id, old=old or None, new=new or DRAFT)
    all_versions = await yard.registry.versions.all(caller, skill.id)
    return Page(
        "skill/diff.html",
        {"skill": SkillSchema.of(skill), "diff": SkillDiff.of(found)},
        extra={"view": view, "states": [DRAFT, *(version.version for version in all_versions)]},
    )


async def versions_page(
    yard: Yard, caller: Principal, skill: Skill, *, form: Form | None = None, problem: SkillyardError | None = None
) -> Page:
    """The versions; with the `form` that would have made another, and why it did not."""
    found = await yard.registry.versions.all(caller, skill.id)
    return Page(
        "skill/versions.html",
        {
            "skill": SkillSchema.of(skill),
            "versions": [VersionSchema.of(version) for version in found],
            "provenance": {one.version: one for one in await provenance_of(yard, caller, skill)},
        },
        extra={
            "entered": {name: form.text(name) if form else "" for name in ("version", "notes")},
            "problem": problem.as_public_dict() if problem else None,
        },
        status=problem.http_status if problem else 200,
    )
