"""The page of a skill: what it says, what is around it, and what happened to it."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Final

from fastapi import Depends, Path, Query, Request

from skillyard.app.yard import Yard
from skillyard.command_text import command_text
from skillyard.errors import SkillyardError
from skillyard.identity.people import SYSTEM
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.registry.rights import require_skill_role
from skillyard.registry.shipping import SkillRef
from skillyard.registry.skills import Skill
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.graph_schemas import DependenciesSchema, ReferencesSchema
from skillyard.server.api.history import LARGEST, list_history
from skillyard.server.api.skill_schemas import SkillSchema
from skillyard.server.api.usage_schemas import UsageDaySchema
from skillyard.server.sign_in.origins import base_url
from skillyard.server.web.links import skill_path
from skillyard.server.web.page import Page, PageRouter
from skillyard.server.web.provenance import provenance_of
from skillyard.server.web.reader import DEEDS

SKILL: Final = "/skills/{namespace}/{name}"
_DAYS: Final = 90
_DEEDS: Final = {
    "edit": (Role.EDITOR, Scope.WRITE),
    "manage": (Role.PUBLISHER, Scope.WRITE),
    "publish": (Role.PUBLISHER, Scope.PUBLISH),
}
"""What can be done with a skill on its pages, and who may: `manage` is to delete it and to say who sees it."""

router = PageRouter()

_Part = Annotated[str, Path(max_length=256)]


async def skill_of(request: Request, namespace: _Part, name: _Part, yard: TheYard, caller: Caller) -> Skill:
    """The skill that a path names, if the caller may see it. Its pages offer no more than the caller may do."""
    skill = await yard.registry.shelf.named(caller, name, namespace)
    setattr(request.state, DEEDS, _deeds_of(caller, skill))
    return skill


TheSkill = Annotated[Skill, Depends(skill_of)]


def skill_to(deed: str) -> Callable[[Skill, Yard, Principal], Awaitable[Skill]]:
    """The same for who may do something with it: a page that is there only for that is for nobody else."""

    async def allowed(skill: TheSkill, yard: TheYard, caller: Caller) -> Skill:
        async with yard.database.read() as session:
            await require_skill_role(session, caller, skill, *_DEEDS[deed])
        return skill

    return allowed


@router.page(SKILL)
async def overview(request: Request, skill: TheSkill, yard: TheYard, caller: Caller) -> Page:
    usage = await yard.registry.usage.of(skill, days=_DAYS)
    references = ReferencesSchema.of(await yard.registry.references.around(caller, skill.id))
    return Page(
        "skill/overview.html",
        {
            "skill": SkillSchema.of(skill),
            "references": references,
            "dependencies": await _dependencies(yard, caller, skill),
            "usage": [UsageDaySchema.of(day) for day in usage],
            "provenance": await provenance_of(yard, caller, skill),
            "is_changed": await _is_changed(yard, caller, skill),
        },
        extra={"pages": _pages_of(references), "install": _install_command(base_url(request.scope), skill)},
    )


@router.page(f"{SKILL}/history")
async def history(
    skill: TheSkill, yard: TheYard, caller: Caller, before: Annotated[int | None, Query(ge=1, le=LARGEST)] = None
) -> Page:
    """What happened to it, and why: the newest first."""
    page = await list_history(yard, caller, skill=skill.id, before=before)
    return Page(
        "skill/history.html",
        {"skill": SkillSchema.of(skill), "entries": page.data, "next_cursor": page.next_cursor},
    )


async def _is_changed(yard: Yard, caller: Principal, skill: Skill) -> bool:
    """Whether the working copy, which the page shows, is another than what is shipped."""
    if skill.latest is None:
        return False
    return (await yard.registry.versions.get(caller, skill.id, skill.latest)).digest != skill.digest


def _deeds_of(principal: Principal, skill: Skill) -> frozenset[str]:
    """What the principal may do with a skill."""
    is_its_admin = skill.namespace == SYSTEM and principal.admin
    role = Role.ADMIN if is_its_admin else principal.role_in(skill.namespace_id)
    return frozenset(
        deed
        for deed, (least, scope) in _DEEDS.items()
        if role is not None and role.covers(least) and principal.scope.covers(scope)
    )


def _install_command(url: str, skill: Skill) -> str:
    """What puts the skill into a project, from this yard and no other, whatever the reader's settings say."""
    return command_text("registry pull", skill.full_name, options=["--into", ".agents/skills", "--server", url])


def _pages_of(references: ReferencesSchema) -> dict[str, str]:
    """The pages of the skills that the text refers to, by the names that it has for them."""
    names = {node.id: node.full_name for node in references.nodes}
    return {edge.name: skill_path(names[edge.target]) for edge in references.outgoing if edge.name and edge.target}


async def _dependencies(yard: Yard, principal: Principal, skill: Skill) -> DependenciesSchema | None:
    """What comes along with it; None where nothing of it is shipped."""
    if not skill.requires:
        return None
    try:
        wanted = SkillRef.of(skill.id, "")
        return DependenciesSchema.of(await yard.registry.shipping.resolve_shipment(principal, [wanted]))
    except SkillyardError:
        return None
