"""Agents, and the skills attached to them."""

from fastapi import APIRouter

from skillyard.identity.agents import AgentFields
from skillyard.registry.shipping import SkillRef
from skillyard.server.api.agent_schemas import (
    AgentCreate,
    AgentsApply,
    AgentSchema,
    AgentSkillsSchema,
    AgentUpdate,
    AttachmentCreate,
    AttachmentSchema,
    PlanSchema,
)
from skillyard.server.api.caller import Caller, Reason, TheYard
from skillyard.server.api.shapes import BEARER, Listed, errors
from skillyard.server.models import Success

router = APIRouter(prefix="/api/v1", tags=["agents"], responses=errors(), dependencies=[BEARER])


@router.get("/agents", summary="List agents")
async def list_agents(yard: TheYard, caller: Caller) -> Listed[AgentSchema]:
    """The agents of the tenant, by name."""
    return Listed(data=[AgentSchema.of(agent) for agent in await yard.registry.agents.all(caller)])


@router.post("/agents", status_code=201, summary="Create an agent", responses=errors(409, 413))
async def create_agent(body: AgentCreate, yard: TheYard, caller: Caller, why: Reason) -> Success[AgentSchema]:
    """Add an agent to the tenant; for its administrators."""
    fields = AgentFields(name=body.name, role=body.role, goal=body.goal)
    return Success(data=AgentSchema.of(await yard.registry.agents.create(caller, fields, agent_id=body.id, why=why)))


@router.post("/agents/apply", summary="Apply a declaration", responses=errors(409, 413))
async def apply_agents(body: AgentsApply, yard: TheYard, caller: Caller, why: Reason) -> Success[PlanSchema]:
    """Make agents and their skills what is declared, in one go or not at all; agents that are not named stay."""
    plan = await yard.registry.agent_plans.apply(caller, body.declaration, dry_run=body.dry_run, why=why)
    return Success(data=PlanSchema.of(plan))


@router.get("/agents/{agent_id}", summary="Read an agent")
async def get_agent(agent_id: str, yard: TheYard, caller: Caller) -> Success[AgentSchema]:
    return Success(data=AgentSchema.of(await yard.registry.agents.get(caller, agent_id)))


@router.put("/agents/{agent_id}", summary="Change an agent", responses=errors(409, 413))
async def update_agent(
    agent_id: str, body: AgentUpdate, yard: TheYard, caller: Caller, why: Reason
) -> Success[AgentSchema]:
    """Set its name, role or goal."""
    return Success(data=AgentSchema.of(await yard.registry.agents.update(caller, agent_id, body.fields, why=why)))


@router.delete("/agents/{agent_id}", summary="Delete an agent")
async def delete_agent(agent_id: str, yard: TheYard, caller: Caller, why: Reason) -> Success[None]:
    """Take an agent away; undoing brings it back with its skills."""
    await yard.registry.agents.delete(caller, agent_id, why=why)
    return Success(data=None)


@router.get("/agents/{agent_id}/skills", summary="The skills of an agent")
async def get_agent_skills(agent_id: str, yard: TheYard, caller: Caller) -> Success[AgentSkillsSchema]:
    """What is attached to it and to every agent, in which versions, and what these require."""
    return Success(data=AgentSkillsSchema.of(await yard.registry.attachments.agent_skills(caller, agent_id)))


@router.put("/agents/{agent_id}/skills/{skill_id}", summary="Attach a skill to an agent")
async def attach_to_agent(
    agent_id: str, skill_id: str, body: AttachmentCreate, yard: TheYard, caller: Caller, why: Reason
) -> Success[AttachmentSchema]:
    """Give an agent a skill that the caller may see; again with another version to change that."""
    wanted = SkillRef.of(skill_id, body.version)
    made = await yard.registry.attachments.attach(caller, wanted, agent_id=agent_id, why=why)
    return Success(data=AttachmentSchema.of(made))


@router.delete("/agents/{agent_id}/skills/{skill_id}", summary="Detach a skill from an agent")
async def detach_from_agent(agent_id: str, skill_id: str, yard: TheYard, caller: Caller, why: Reason) -> Success[None]:
    await yard.registry.attachments.detach(caller, SkillRef.of(skill_id), agent_id=agent_id, why=why)
    return Success(data=None)


@router.get("/tenant/skills", summary="The skills of every agent")
async def get_tenant_skills(yard: TheYard, caller: Caller) -> Success[AgentSkillsSchema]:
    """What is attached to every agent of the tenant."""
    return Success(data=AgentSkillsSchema.of(await yard.registry.attachments.tenant_skills(caller)))


@router.put("/tenant/skills/{skill_id}", summary="Attach a skill to every agent")
async def attach_to_tenant(
    skill_id: str, body: AttachmentCreate, yard: TheYard, caller: Caller, why: Reason
) -> Success[AttachmentSchema]:
    """Give every agent of the tenant, those to come too, a skill that the caller may see."""
    wanted = SkillRef.of(skill_id, body.version)
    made = await yard.registry.attachments.attach(caller, wanted, agent_id=None, why=why)
    return Success(data=AttachmentSchema.of(made))


@router.delete("/tenant/skills/{skill_id}", summary="Detach a skill from every agent")
async def detach_from_tenant(skill_id: str, yard: TheYard, caller: Caller, why: Reason) -> Success[None]:
    """Take away what every agent had; what is attached to an agent itself stays."""
    await yard.registry.attachments.detach(caller, SkillRef.of(skill_id), agent_id=None, why=why)
    return Success(data=None)
