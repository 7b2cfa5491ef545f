"""What is done to a whole skill: published, yanked, reviewed, shown to others, locked, deleted."""

from typing import Annotated, Final

from fastapi import Depends, Response

from skillyard.errors import InputError, SkillyardError
from skillyard.registry.skills import Skill, Visibility
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.graph_schemas import ReferencesSchema
from skillyard.server.api.skill_schemas import SkillSchema
from skillyard.server.web.choices import one_of
from skillyard.server.web.forms import Posted
from skillyard.server.web.links import skill_path
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.server.web.skill import SKILL, TheSkill, skill_to
from skillyard.server.web.skill_versions import versions_page

_VERSION: Final = f"{SKILL}/versions/{{version}}"

router = PageRouter()


@router.post(f"{SKILL}/publish", response_model=None)
async def publish(skill: TheSkill, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Make a version of the working copy that was looked at."""
    try:
        await yard.registry.publishing.publish(
            caller,
            skill.id,
            version=form.text("version").strip() or None,
            base=form.text("base") or None,
            notes=form.text("notes"),
            why=form.risky_why,
        )
    except SkillyardError as error:
        return await versions_page(yard, caller, skill, form=form, problem=error)
    return go_to(skill_path(skill.full_name, "versions"), done="published")


@router.post(f"{_VERSION}/yank", response_model=None)
async def yank(version: str, skill: TheSkill, form: Posted, yard: TheYard, caller: Caller) -> Response:
    await yard.registry.versions.yank(caller, skill.id, version, why=form.why)
    return go_to(skill_path(skill.full_name, "versions"), done="yanked")


@router.post(f"{_VERSION}/restore", response_model=None)
async def restore(version: str, skill: TheSkill, form: Posted, yard: TheYard, caller: Caller) -> Response:
    await yard.registry.versions.restore(caller, skill.id, version, why=form.why)
    return go_to(skill_path(skill.full_name, "versions"), done="restored")


@router.post(f"{_VERSION}/review", response_model=None)
async def review(version: str, skill: TheSkill, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Let a version that waits be shipped, or turn it down."""
    approve = form.text("do") == "approve"
    await yard.registry.versions.review(caller, skill.id, version, approve=approve, why=form.why)
    return go_to(skill_path(skill.full_name, "versions"), done="approved" if approve else "rejected")


@router.post(f"{SKILL}/visibility", response_model=None)
async def show(skill: TheSkill, form: Posted, yard: TheYard, caller: Caller) -> Response | Page:
    """Change who may see it; before it is shown to the world, the page asks."""
    visibility = one_of(Visibility, form.text("visibility"))
    if visibility is None:
        raise InputError("That is no visibility.", hint="Choose one of the list.", details={"field": "visibility"})
    if visibility is Visibility.DISCOVERABLE and visibility is not skill.visibility and not form.is_set("sure"):
        return Page("skill/world.html", {"skill": SkillSchema.of(skill)})
    await yard.registry.workbench.show(caller, skill.id, visibility, why=form.why)
    return go_to(skill_path(skill.full_name), done="shown")


@router.post(f"{SKILL}/lock", response_model=None)
async def lock(skill: TheSkill, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Let what is learned only be proposed for it, or not."""
    locked = form.text("do") == "lock"
    await yard.registry.workbench.lock(caller, skill.id, locked=locked, why=form.why)
    return go_to(skill_path(skill.full_name), done="locked" if locked else "unlocked")


@router.page(f"{SKILL}/delete")
async def ask(skill: Annotated[Skill, Depends(skill_to("manage"))], yard: TheYard, caller: Caller) -> Page:
    """What deleting it would break, before it is done."""
    around = await yard.registry.references.around(caller, skill.id)
    holders = await yard.registry.attachments.holders(caller, skill.id)
    digests = {version.digest for version in await yard.registry.versions.all(caller, skill.id)}
    releases = await yard.releases.releases.holding(caller, digests)
    shown = {
        "skill": SkillSchema.of(skill),
        "references": ReferencesSchema.of(around),
        "is_for_every_agent": None in holders,
        "agents": [{"id": agent.id, "name": agent.name} for agent in holders if agent],
        "releases": [
            {"id": each.id, "skill_key": each.skill_key, "version": each.version, "stage": each.stage}
            for each in releases
        ],
    }
    return Page("skill/delete.html", shown)


@router.post(f"{SKILL}/delete", response_model=None)
async def delete(skill: TheSkill, form: Posted, yard: TheYard, caller: Caller) -> Response:
    await yard.registry.workbench.delete(caller, skill.id, base=form.text("base") or None, why=form.why)
    page = await yard.registry.chronicle.entries(caller, skill=skill.id, limit=1)
    return go_to(f"/history/{page.entries[0].number}" if page.entries else "/skills", done="deleted")
