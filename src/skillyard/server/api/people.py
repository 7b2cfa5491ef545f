"""The people of a tenant, and who the caller is."""

from fastapi import APIRouter

from skillyard.identity.namespaces import role_held
from skillyard.server.api.caller import Caller, Reason, TheYard
from skillyard.server.api.people_schemas import (
    MeSchema,
    NamespaceSchema,
    PersonCreate,
    PersonSchema,
    TenantCreate,
    TenantPolicy,
    TenantSchema,
)
from skillyard.server.api.shapes import BEARER, Listed, errors
from skillyard.server.models import Success

router = APIRouter(prefix="/api/v1", tags=["people"], responses=errors(), dependencies=[BEARER])


@router.get("/me")
async def me(yard: TheYard, caller: Caller) -> Success[MeSchema]:
    """Who the caller is: their name, tenant, rights and namespaces."""
    tenant = await yard.people.tenant_of(caller)
    namespaces = await yard.namespaces.visible(caller)
    return Success(
        data=MeSchema(
            id=caller.person_id,
            name=caller.name,
            tenant=TenantSchema.of(tenant),
            scope=caller.scope,
            admin=caller.admin,
            operator=caller.operator,
            token_id=caller.token_id,
            namespaces=[NamespaceSchema.of(one, role_held(caller, one)) for one in namespaces],
        )
    )


@router.get("/people")
async def list_people(yard: TheYard, caller: Caller) -> Listed[PersonSchema]:
    """Everyone in the tenant, by name; for its administrators."""
    people = [PersonSchema.of(person) for person in await yard.people.everyone(caller)]
    return Listed(data=people)


@router.post("/people", status_code=201, responses=errors(409))
async def create_person(body: PersonCreate, yard: TheYard, caller: Caller, why: Reason) -> Success[PersonSchema]:
    """Add a person, with a namespace of their own."""
    person = await yard.people.create(caller, body.name, admin=body.admin, tenant=body.tenant, why=why)
    return Success(data=PersonSchema.of(person))


@router.post("/people/{name}/disable", responses=errors(409))
async def disable_person(name: str, yard: TheYard, caller: Caller, why: Reason) -> Success[PersonSchema]:
    """Shut a person out: none of their tokens works any more. Their skills stay."""
    return Success(data=PersonSchema.of(await yard.people.set_disabled(caller, name, disabled=True, why=why)))


@router.post("/people/{name}/enable", responses=errors(409))
async def enable_person(name: str, yard: TheYard, caller: Caller, why: Reason) -> Success[PersonSchema]:
    """Let a person in again."""
    return Success(data=PersonSchema.of(await yard.people.set_disabled(caller, name, disabled=False, why=why)))


@router.get("/tenant/policy", summary="Get the policy of the tenant")
async def get_tenant_policy(yard: TheYard, caller: Caller) -> Success[TenantPolicy]:
    """What the people of the caller's tenant may do, whatever their namespaces say."""
    tenant = await yard.people.tenant_of(caller)
    return Success(data=TenantPolicy(discoverable=tenant.shows_world))


@router.put("/tenant/policy", summary="Set the policy of the tenant")
async def set_tenant_policy(body: TenantPolicy, yard: TheYard, caller: Caller, why: Reason) -> Success[TenantPolicy]:
    """Set it; for administrators of the tenant. What is shown to the world already stays so."""
    tenant = await yard.world.allow(caller, allowed=body.discoverable, why=why)
    return Success(data=TenantPolicy(discoverable=tenant.shows_world))


@router.post("/tenants", status_code=201, responses=errors(409))
async def create_tenant(body: TenantCreate, yard: TheYard, caller: Caller, why: Reason) -> Success[TenantSchema]:
    """Make a tenant; for the operator, who then adds its first administrator."""
    return Success(data=TenantSchema.of(await yard.people.create_tenant(caller, body.name, why=why)))
