"""The JSON of agents and their skills."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, Field

from skillyard.identity.agent_file import MAX_AGENTS, MAX_ATTACHED, Declaration, read_declaration
from skillyard.identity.agents import MAX_ID, MAX_TEXT, Agent
from skillyard.registry.agent_plans import Plan, PlanAction, PlanStep
from skillyard.registry.attachments import AgentSkills, Attachment, Via
from skillyard.server.api.graph_schemas import LockedSchema, ProblemSchema
from skillyard.server.api.shapes import Request

_ROLE: Any = Field(default="", max_length=MAX_TEXT, examples=["Answers customers"])
_GOAL: Any = Field(default="", max_length=MAX_TEXT, examples=["Every refund within a day"])
_SKILLS: Any = Field(default=None, max_length=MAX_ATTACHED, examples=[["acme/refunds@1.2", "triage"]])
_TAGS: Any = Field(default=None, max_length=MAX_ATTACHED, examples=[["support"]])


class AgentCreate(Request):
    id: str | None = Field(
        default=None, min_length=1, max_length=MAX_ID, description="Without it, one is made.", examples=["support"]
    )
    name: str = Field(min_length=1, max_length=MAX_ID, examples=["Support"])
    role: str = _ROLE
    goal: str = _GOAL


class AgentUpdate(Request):
    """What is left out stays."""

    name: str | None = Field(default=None, min_length=1, max_length=MAX_ID)
    role: str | None = Field(default=None, max_length=MAX_TEXT)
    goal: str | None = Field(default=None, max_length=MAX_TEXT)

    @property
    def fields(self) -> dict[str, str]:
        return self.model_dump(exclude_none=True)


class AgentSchema(BaseModel):
    id: str
    name: str
    role: str
    goal: str
    created_at: datetime

    @classmethod
    def of(cls, agent: Agent) -> Self:
        return cls(id=agent.id, name=agent.name, role=agent.role, goal=agent.goal, created_at=agent.created_at)


class AttachmentCreate(Request):
    version: str = Field(
        default="", max_length=256, description="A version, a tag or a range; empty for the latest.", examples=["1.2"]
    )


class AttachmentSchema(BaseModel):
    skill_id: str
    full_name: str
    version: str = Field(description="What was asked for; empty for the latest.")
    via: Via = Field(description="Whether it is attached to this agent or to every agent of the tenant.")

    @classmethod
    def of(cls, attachment: Attachment) -> Self:
        return cls(
            skill_id=attachment.skill_id,
            full_name=attachment.full_name,
            version=attachment.wanted,
            via=attachment.via,
        )


class AgentSkillsSchema(BaseModel):
    """What an agent gets, as far as the caller may see it."""

    attached: list[AttachmentSchema]
    locked: list[LockedSchema] = Field(description="The versions it comes in, with all that is required.")
    problems: list[ProblemSchema]

    @classmethod
    def of(cls, skills: AgentSkills) -> Self:
        return cls(
            attached=[AttachmentSchema.of(each) for each in skills.attached],
            locked=[LockedSchema.of(item) for item in skills.shipment.items],
            problems=[ProblemSchema.of(problem) for problem in skills.shipment.problems],
        )


class AttachedBody(Request):
    skills: list[str] | None = _SKILLS
    tags: list[str] | None = _TAGS


class DeclaredAgentBody(AttachedBody):
    """An agent as it is to be; what is left out stays, and without `skills` and `tags` so does what is attached."""

    id: str = Field(min_length=1, max_length=MAX_ID, examples=["support"])
    name: str | None = Field(default=None, examples=["Support"])
    role: str | None = None
    goal: str | None = None


class AgentsApply(Request):
    agents: list[DeclaredAgentBody] = Field(default=[], max_length=MAX_AGENTS)
    everyone: AttachedBody | None = Field(default=None, description="What every agent of the tenant is to have.")
    dry_run: bool = Field(default=False, description="Only say what would be done.")

    @property
    def declaration(self) -> Declaration:
        return read_declaration(self.model_dump(exclude={"dry_run"}, exclude_none=True))


class PlanStepSchema(BaseModel):
    action: PlanAction
    agent: str | None = Field(description="The agent's id; null for every agent.")
    skill: str | None
    before: Mapping[str, str | None]
    after: Mapping[str, str | None]

    @classmethod
    def of(cls, step: PlanStep) -> Self:
        return cls(action=step.action, agent=step.agent, skill=step.skill, before=step.before, after=step.after)


class PlanSchema(BaseModel):
    applied: bool
    steps: list[PlanStepSchema]

    @classmethod
    def of(cls, plan: Plan) -> Self:
        return cls(applied=plan.applied, steps=[PlanStepSchema.of(step) for step in plan.steps])
