"""Namespaces, their members and their policies."""

from fastapi import APIRouter

from skillyard.identity.namespaces import role_held
from skillyard.identity.principals import Role
from skillyard.server.api.caller import Caller, Reason, TheYard
from skillyard.server.api.people_schemas import MemberSchema, MemberSet, NamespaceCreate, NamespaceSchema, PolicyBody
from skillyard.server.api.shapes import BEARER, Listed, errors
from skillyard.server.models import Success

router = APIRouter(prefix="/api/v1/namespaces", tags=["namespaces"], responses=errors(), dependencies=[BEARER])


@router.get("")
async def list_namespaces(yard: TheYard, caller: Caller) -> Listed[NamespaceSchema]:
    """The namespaces the caller is in, and the system's."""
    found = [NamespaceSchema.of(one, role_held(caller, one)) for one in await yard.namespaces.visible(caller)]
    return Listed(data=found)


@router.post("", status_code=201, responses=errors(409))
async def create_team(body: NamespaceCreate, yard: TheYard, caller: Caller, why: Reason) -> Success[NamespaceSchema]:
    """Make a team; whoever makes it administers it."""
    made = await yard.namespaces.create_team(caller, body.name, why=why)
    return Success(data=NamespaceSchema.of(made, Role.ADMIN))


@router.get("/{name}")
async def get_namespace(name: str, yard: TheYard, caller: Caller) -> Success[NamespaceSchema]:
    """One namespace that the caller is in, or the system's."""
    found = await yard.namespaces.get(caller, name)
    return Success(data=NamespaceSchema.of(found, role_held(caller, found)))


@router.put("/{name}/policy")
async def set_policy(
    name: str, body: PolicyBody, yard: TheYard, caller: Caller, why: Reason
) -> Success[NamespaceSchema]:
    """Set what is demanded of what is published here; for administrators of the namespace."""
    found = await yard.namespaces.set_policy(caller, name, body.model_dump(exclude_unset=True), why=why)
    return Success(data=NamespaceSchema.of(found, role_held(caller, found)))


@router.get("/{name}/members")
async def list_members(name: str, yard: TheYard, caller: Caller) -> Listed[MemberSchema]:
    """Who is in a namespace, and in which role."""
    members = [MemberSchema.of(member) for member in await yard.namespaces.members(caller, name)]
    return Listed(data=members)


@router.put("/{name}/members/{person}", responses=errors(409))
async def set_member(
    name: str, person: str, body: MemberSet, yard: TheYard, caller: Caller, why: Reason
) -> Success[MemberSchema]:
    """Give a person of the tenant a role in a team."""
    return Success(data=MemberSchema.of(await yard.namespaces.set_member(caller, name, person, body.role, why=why)))


@router.delete("/{name}/members/{person}", responses=errors(409))
async def remove_member(name: str, person: str, yard: TheYard, caller: Caller, why: Reason) -> Success[None]:
    """Take a person out of a team; who is in it may always leave."""
    await yard.namespaces.remove_member(caller, name, person, why=why)
    return Success(data=None)
