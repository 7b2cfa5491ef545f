"""Making agents and their skills what a file declares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import InputError, LimitError, NotFoundError
from skillyard.history.entries import Why
from skillyard.history.service import History
from skillyard.identity.agent_file import Attached, Declaration, DeclaredAgent
from skillyard.identity.agents import Agent, AgentFields, Agents, agent_with_id, require_agent_rights
from skillyard.identity.models import NamespaceRow
from skillyard.identity.principals import Principal
from skillyard.registry.attachments import Attachment, Attachments, attachment_to, attachments_of
from skillyard.registry.dependencies import Offer
from skillyard.registry.models import SkillRow, SkillTagRow
from skillyard.registry.rights import no_skill
from skillyard.registry.shipping import Shipping, SkillRef, pick

MAX_SKILLS: Final = 2_000
"""Skills that one agent may come to have by a declaration."""
_SHOWN: Final = 20

MAX_STEPS: Final = 2_000
"""Changes that one declaration may make: they are made in one write, for which all others wait."""


class PlanAction(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    ATTACH = "attach"
    """Also where a skill is attached already, to be had in another version."""
    DETACH = "detach"


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanStep:
    """One change on the way from what is to what is declared."""

    action: PlanAction
    agent: str | None
    """The agent's id; None for every agent."""
    skill: str | None = None
    before: Mapping[str, str | None]
    after: Mapping[str, str | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    steps: tuple[PlanStep, ...]
    applied: bool
    """Whether it was done, or only worked out."""


class _Rehearsed(Exception):  # noqa: N818 -- it is no failure: it ends a write of which nothing is to stay
    pass


class AgentPlans:
    """Applies declarations: twice the same changes nothing, and what a declaration does not speak of stays."""

    def __init__(
        self, database: Database, history: History, agents: Agents, attachments: Attachments, shipping: Shipping
    ) -> None:
        self._database = database
        self._history = history
        self._agents = agents
        self._attachments = attachments
        self._shipping = shipping

    async def apply(self, principal: Principal, declaration: Declaration, *, dry_run: bool = False, why: Why) -> Plan:
        """Do everything that is needed, in one go or not at all; a dry run does it and takes it back."""
        require_agent_rights(principal)
        offers = await self._offers(principal, declaration)
        steps: list[PlanStep] = []
        try:
            async with self._database.write() as transaction:
                work = _Work(transaction=transaction, principal=principal, why=why, offers=offers, steps=steps)
                for declared in declaration.agents:
                    agent = await self._make(work, declared)
                    await self._attach(work, agent, declared.attached)
                await self._attach(work, None, declaration.everyone)
                if dry_run:
                    raise _Rehearsed
        except _Rehearsed:
            return Plan(steps=tuple(steps), applied=False)
        return Plan(steps=tuple(steps), applied=True)

    async def _offers(self, principal: Principal, declaration: Declaration) -> dict[str, Offer]:
        """The skills that are named, by what names them; everything that is not there is reported at once."""
        named = [(f"agents.{agent.id}.skills", agent.attached) for agent in declaration.agents]
        named.append(("everyone.skills", declaration.everyone))
        written = {text: SkillRef.parse(text) for _, attached in named if attached for text in attached.skills}
        found = await self._shipping.offers(principal, list(written.values()))
        problems: dict[str, str] = {}
        for text, ref in written.items():
            try:
                if ref not in found:
                    raise no_skill(ref.name)
                if ref.wanted:
                    pick(found[ref], ref.wanted)
            except NotFoundError as error:
                problems[text] = error.message
        if problems:
            raise _not_there(
                [
                    f"{field}: {problems[text]}"
                    for field, attached in named
                    if attached
                    for text in attached.skills
                    if text in problems
                ]
            )
        return {text: found[ref] for text, ref in written.items()}

    async def _make(self, work: "_Work", declared: DeclaredAgent) -> Agent:
        present = await agent_with_id(work.session, work.principal.tenant_id, declared.id)
        if present is None:
            fields = AgentFields(
                name=declared.id if declared.name is None else declared.name,
                role=declared.role or "",
                goal=declared.goal or "",
            )
            work.note(PlanAction.CREATE, declared.id, after=fields.as_dict())
            return await self._agents.add(work.transaction, work.principal, declared.id, fields, work.why)
        said = {"name": declared.name, "role": declared.role, "goal": declared.goal}
        fields = replace(present.fields, **{key: value for key, value in said.items() if value is not None})
        if fields == present.fields:
            return present
        work.note(PlanAction.UPDATE, declared.id, before=present.fields.as_dict(), after=fields.as_dict())
        return await self._agents.rewrite(work.transaction, work.principal, present, fields, work.why)

    async def _attach(self, work: "_Work", agent: Agent | None, attached: Attached | None) -> None:
        if attached is None:
            return
        wanted = {each.skill_id: each for each in await tagged(work.session, work.principal, agent, attached.tags)}
        for text in attached.skills:
            offer = work.offers[text]
            version = SkillRef.parse(text).wanted
            wanted[offer.id] = attachment_to(offer.id, offer.full_name, version, agent, offer.audience)
        present = {each.skill_id: each for each in await attachments_of(work.session, work.principal, agent)}
        _require_few(agent, len(wanted))
        for each in _by_name(wanted):
            if present.get(each.skill_id) != each:
                await self._set(work, agent, each, each.wanted)
        for each in _by_name(present):
            if each.skill_id not in wanted:
                await self._set(work, agent, each, None)

    async def _set(self, work: "_Work", agent: Agent | None, attachment: Attachment, wanted: str | None) -> None:
        tenant_id = work.principal.tenant_id
        change = await self._attachments.set_wanted(work.transaction, tenant_id, agent, attachment, wanted)
        self._history.record(work.transaction, work.principal.actor, change, work.why)
        work.note(
            PlanAction.DETACH if wanted is None else PlanAction.ATTACH,
            agent.id if agent else None,
            skill=attachment.full_name,
            before={"wanted": (change.before or {})["wanted"]},
            after={"wanted": wanted},
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Work:
    """A declaration on its way into the database."""

    transaction: Transaction
    principal: Principal
    why: Why
    offers: Mapping[str, Offer]
    steps: list[PlanStep]

    @property
    def session(self) -> AsyncSession:
        return self.transaction.session

    def note(
        self,
        action: PlanAction,
        agent: str | None,
        *,
        skill: str | None = None,
        before: Mapping[str, str | None] | None = None,
        after: Mapping[str, str | None],
    ) -> None:
        if len(self.steps) == MAX_STEPS:
            raise LimitError(
                f"The declaration needs more than {MAX_STEPS:,} changes at once, and everyone else would have to wait.",
                hint="Apply it in parts: fewer agents, or fewer tags, in each.",
                details={"limit": MAX_STEPS},
            )
        self.steps.append(PlanStep(action=action, agent=agent, skill=skill, before=before or {}, after=after))


async def tagged(
    session: AsyncSession, principal: Principal, agent: Agent | None, tags: Sequence[str]
) -> list[Attachment]:
    """Every visible skill with one of the tags, as something to attach."""
    if not tags:
        return []
    query = (
        select(SkillRow.id, NamespaceRow.name, SkillRow.name, SkillRow.audience)
        .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
        .where(SkillRow.audience.in_(principal.audiences), SkillRow.deleted_at.is_(None))
        .where(SkillRow.id.in_(select(SkillTagRow.skill_id).where(SkillTagRow.tag.in_(tags))))
        .limit(MAX_SKILLS + 1)
    )
    return [
        attachment_to(skill_id, f"{namespace}/{name}", "", agent, audience)
        for skill_id, namespace, name, audience in await session.execute(query)
    ]


def _by_name(attachments: Mapping[str, Attachment]) -> list[Attachment]:
    return sorted(attachments.values(), key=lambda each: each.full_name)


def _require_few(agent: Agent | None, count: int) -> None:
    if count > MAX_SKILLS:
        whose = f"agents.{agent.id}" if agent else "everyone"
        raise LimitError(
            f"{whose} would have more than {MAX_SKILLS:,} skills.",
            hint="Name fewer skills, or narrower tags.",
            details={"field": whose, "limit": MAX_SKILLS},
        )


def _not_there(problems: Sequence[str]) -> InputError:
    more = f" ({len(problems) - 1} more.)" if len(problems) > 1 else ""
    return InputError(
        f"{problems[0]}{more}",
        hint="List what you can see: skillyard registry list",
        details={"problems": list(problems[:_SHOWN])},
    )
