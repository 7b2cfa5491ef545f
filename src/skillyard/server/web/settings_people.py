"""Namespaces and who is in them; agents and what they get."""

from typing import Final

from fastapi import Response

from skillyard.app.yard import Yard
from skillyard.errors import InputError, SkillyardError
from skillyard.history.entries import Why
from skillyard.identity.agents import AgentFields
from skillyard.identity.namespaces import role_held
from skillyard.identity.policy import ScanRule
from skillyard.identity.principals import Principal, Role
from skillyard.registry.shipping import SkillRef
from skillyard.server.api.agent_schemas import AgentSchema, AgentSkillsSchema
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.people_schemas import MemberSchema, NamespaceSchema
from skillyard.server.web.choices import one_of
from skillyard.server.web.forms import Posted
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.skill.models import Profile

_NAMESPACES: Final = "/settings/namespaces"
_AGENTS: Final = "/settings/agents"
_CHOICES: Final = {"roles": list(Role), "profiles": list(Profile), "scans": list(ScanRule)}

router = PageRouter()


@router.page(_NAMESPACES)
async def namespaces(yard: TheYard, caller: Caller) -> Page:
    return await _namespaces_page(yard, caller)


@router.post(_NAMESPACES, response_model=None)
async def create_namespace(form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Make a team; whoever makes it administers it."""
    try:
        await yard.namespaces.create_team(caller, form.required("name"), why=Why())
    except SkillyardError as error:
        return await _namespaces_page(yard, caller, problem=error)
    return go_to(_NAMESPACES, done="team")


@router.post(f"{_NAMESPACES}/{{name}}/members", response_model=None)
async def set_member(name: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Give a person a role in a team, or take them out of it."""
    person = form.required("person")
    role = one_of(Role, form.text("role"))
    try:
        if form.text("do") == "remove":
            await yard.namespaces.remove_member(caller, name, person, why=Why())
        elif role is None:
            raise InputError("That is no role.", hint="Choose one of the list.", details={"field": "role"})
        else:
            await yard.namespaces.set_member(caller, name, person, role, why=Why())
    except SkillyardError as error:
        return await _namespaces_page(yard, caller, problem=error)
    return go_to(_NAMESPACES, done="members")


@router.post(f"{_NAMESPACES}/{{name}}/policy", response_model=None)
async def set_policy(name: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Say what is asked of versions that are published there; rules that the form does not have stay."""
    asked = {"profile": form.text("profile"), "scan": form.text("scan"), "review": form.is_set("review")}
    try:
        present = await yard.namespaces.get(caller, name)
        await yard.namespaces.set_policy(caller, name, {**present.policy.as_dict(), **asked}, why=form.why)
    except SkillyardError as error:
        return await _namespaces_page(yard, caller, problem=error)
    return go_to(_NAMESPACES, done="policy")


@router.page(_AGENTS)
async def agents(yard: TheYard, caller: Caller) -> Page:
    return await _agents_page(yard, caller)


@router.post(_AGENTS, response_model=None)
async def create_agent(form: Posted, yard: TheYard, caller: Caller) -> Response:
    try:
        fields = AgentFields(name=form.required("name"), role=form.text("role"), goal=form.text("goal"))
        await yard.registry.agents.create(caller, fields, agent_id=form.text("id").strip() or None, why=Why())
    except SkillyardError as error:
        return await _agents_page(yard, caller, problem=error)
    return go_to(_AGENTS, done="agent")


@router.post(f"{_AGENTS}/{{agent_id}}/skills", response_model=None)
async def attach(agent_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Attach a skill by its name, or detach it."""
    namespace, _, name = form.required("skill").rpartition("/")
    try:
        skill = await yard.registry.shelf.named(caller, name, namespace or None)
        attachments = yard.registry.attachments
        if form.text("do") == "detach":
            await attachments.detach(caller, SkillRef.of(skill.id), agent_id=agent_id, why=Why())
        else:
            wanted = SkillRef.of(skill.id, form.text("version").strip())
            await attachments.attach(caller, wanted, agent_id=agent_id, why=Why())
    except SkillyardError as error:
        return await _agents_page(yard, caller, problem=error)
    return go_to(_AGENTS, done="attached")


@router.post(f"{_AGENTS}/{{agent_id}}/delete", response_model=None)
async def delete_agent(agent_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    await yard.registry.agents.delete(caller, agent_id, why=Why(reason=form.text("reason")))
    return go_to(_AGENTS, done="agent_deleted")


async def _namespaces_page(yard: Yard, principal: Principal, *, problem: SkillyardError | None = None) -> Page:
    shown = [
        {
            "namespace": NamespaceSchema.of(place, role_held(principal, place)),
            "members": [MemberSchema.of(each) for each in await yard.namespaces.members(principal, place.name)]
            if place.id in principal.roles
            else [],
        }
        for place in await yard.namespaces.visible(principal)
    ]
    return Page(
        "settings/namespaces.html",
        {"namespaces": shown},
        extra={**_CHOICES, "problem": problem.as_public_dict() if problem else None},
        status=problem.http_status if problem else 200,
        address=_NAMESPACES,
    )


async def _agents_page(yard: Yard, principal: Principal, *, problem: SkillyardError | None = None) -> Page:
    shown = [
        {
            "agent": AgentSchema.of(agent),
            "skills": AgentSkillsSchema.of(await yard.registry.attachments.agent_skills(principal, agent.id)),
        }
        for agent in await yard.registry.agents.all(principal)
    ]
    return Page(
        "settings/agents.html",
        {"agents": shown},
        extra={"problem": problem.as_public_dict() if problem else None},
        status=problem.http_status if problem else 200,
        address=_AGENTS,
    )
