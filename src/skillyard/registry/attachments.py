"""Skills attached to agents, and to all agents of a tenant at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import NotFoundError
from skillyard.history.entries import Change, Entry, Subject, Why
from skillyard.history.service import History, Step, moved_on
from skillyard.identity.agents import (
    Agent,
    agent_subject,
    agent_with_id,
    agents_of,
    require_agent,
    require_agent_rights,
)
from skillyard.identity.models import NamespaceRow
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.attachment_models import EVERY_AGENT, AttachmentRow
from skillyard.registry.dependencies import Offer
from skillyard.registry.models import SkillRow
from skillyard.registry.rights import no_skill, visible_skill
from skillyard.registry.shipping import Shipment, Shipping, SkillRef, pick

ATTACHED: Final = "agent.attached"
DETACHED: Final = "agent.detached"
_EVERY_AGENT_LABEL: Final = "every agent"


class Via(StrEnum):
    """How an agent comes to have a skill."""

    AGENT = "agent"
    TENANT = "tenant"
    """It is attached to every agent of the tenant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attachment:
    skill_id: str
    full_name: str
    wanted: str
    """A version, a tag or a range of versions; empty for the latest."""
    via: Via
    audience: str
    """Who may know of the skill, and so of this."""

    @property
    def ref(self) -> SkillRef:
        return SkillRef(name=self.skill_id, wanted=self.wanted)


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentSkills:
    """What an agent gets, as far as the one who asks may see it."""

    attached: tuple[Attachment, ...]
    shipment: Shipment
    """The versions these come in, with all that they require."""


class Attachments:
    """Everyone in a tenant may ask; administrators attach what they themselves may see."""

    def __init__(self, database: Database, history: History, shipping: Shipping, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._history = history
        self._shipping = shipping
        self._clock = clock
        history.register_undo(ATTACHED, self._as_before)
        history.register_undo(DETACHED, self._as_before)

    async def agent_skills(self, principal: Principal, agent_id: str) -> AgentSkills:
        """What is attached to an agent and to every agent, the agent's own choice of version first."""
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            agent = await require_agent(session, principal.tenant_id, agent_id)
            shared = await attachments_of(session, principal, None)
            own = await attachments_of(session, principal, agent)
        attached = {each.skill_id: each for each in (*shared, *own)}
        return await self._shipped(principal, tuple(attached.values()))

    async def tenant_skills(self, principal: Principal) -> AgentSkills:
        """What is attached to every agent of the tenant."""
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            shared = await attachments_of(session, principal, None)
        return await self._shipped(principal, tuple(shared))

    async def holders(self, principal: Principal, skill_id: str) -> list[Agent | None]:
        """The agents of the tenant that a skill is attached to, by name; None, the first, stands for every agent."""
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            await visible_skill(session, principal, skill_id)
            having = select(AttachmentRow.agent_key).where(
                AttachmentRow.tenant_id == principal.tenant_id, AttachmentRow.skill_id == skill_id
            )
            keys = set(await session.scalars(having))
            agents = await agents_of(session, principal.tenant_id) if keys - {EVERY_AGENT} else []
        everyone: list[Agent | None] = [None] if EVERY_AGENT in keys else []
        return [*everyone, *(agent for agent in agents if agent.key in keys)]

    async def attach(self, principal: Principal, skill: SkillRef, *, agent_id: str | None, why: Why) -> Attachment:
        """Give an agent, or with None every agent, a skill; again with another version to change that."""
        require_agent_rights(principal)
        offer = await self._offer(principal, skill)
        if skill.wanted:
            pick(offer, skill.wanted)
        async with self._database.write() as transaction:
            agent = await _agent(transaction.session, principal, agent_id)
            found = await visible_skill(transaction.session, principal, offer.id)
            attachment = attachment_to(found.id, found.full_name, skill.wanted, agent, found.audience)
            change = await self.set_wanted(transaction, principal.tenant_id, agent, attachment, skill.wanted)
            if change.before != change.after:
                self._history.record(transaction, principal.actor, change, why)
        return attachment

    async def detach(self, principal: Principal, skill: SkillRef, *, agent_id: str | None, why: Why) -> None:
        """Take a skill from an agent, or with None what every agent had."""
        require_agent_rights(principal)
        offer = await self._offer(principal, skill)
        async with self._database.write() as transaction:
            agent = await _agent(transaction.session, principal, agent_id)
            found = await visible_skill(transaction.session, principal, offer.id)
            attachment = attachment_to(found.id, found.full_name, "", agent, found.audience)
            change = await self.set_wanted(transaction, principal.tenant_id, agent, attachment, None)
            if change.before == change.after:
                raise NotFoundError(
                    f"{found.full_name!r} is not attached to {_label(agent)!r}.",
                    hint="List what is: skillyard registry agents skills ID",
                    details={"skill": found.full_name},
                )
            self._history.record(transaction, principal.actor, change, why)

    async def set_wanted(
        self,
        transaction: Transaction,
        tenant_id: str,
        agent: Agent | None,
        attachment: Attachment,
        wanted: str | None,
    ) -> Change:
        """Attach a skill within a transaction, or with None detach it; the change may turn out to be none."""
        session = transaction.session
        key = agent.key if agent else EVERY_AGENT
        row = await session.get(AttachmentRow, (tenant_id, key, attachment.skill_id))
        before = row.wanted if row else None
        if wanted is None:
            if row is not None:
                await session.delete(row)
        elif row is None:
            session.add(
                AttachmentRow(
                    tenant_id=tenant_id,
                    agent_key=key,
                    skill_id=attachment.skill_id,
                    wanted=wanted,
                    created_at=self._clock(),
                )
            )
        else:
            row.wanted = wanted
        await session.flush()
        about = {"key": key, "skill_id": attachment.skill_id, "skill": attachment.full_name}
        return Change(
            action=DETACHED if wanted is None else ATTACHED,
            subject=_subject(tenant_id, agent, attachment.audience),
            before={**about, "wanted": before},
            after={**about, "wanted": wanted},
        )

    async def _offer(self, principal: Principal, skill: SkillRef) -> Offer:
        offers = await self._shipping.offers(principal, [skill])
        if skill not in offers:
            raise no_skill(skill.name)
        return offers[skill]

    async def _shipped(self, principal: Principal, attached: tuple[Attachment, ...]) -> AgentSkills:
        in_order = tuple(sorted(attached, key=lambda each: each.full_name))
        shipment = await self._shipping.resolve_shipment(principal, [each.ref for each in in_order])
        return AgentSkills(attached=in_order, shipment=shipment)

    async def _as_before(self, entry: Entry) -> Step:
        before, after = entry.change.before or {}, entry.change.after or {}

        async def step(transaction: Transaction) -> Change:
            agent = await _same_agent(transaction, entry, after)
            row = await transaction.session.get(AttachmentRow, (entry.tenant_id, after["key"], after["skill_id"]))
            if (row.wanted if row else None) != after["wanted"]:
                raise moved_on(entry)
            attachment = attachment_to(
                after["skill_id"], after["skill"], before["wanted"] or "", agent, entry.change.subject.audience
            )
            return await self.set_wanted(transaction, entry.tenant_id, agent, attachment, before["wanted"])

        return step


async def attachments_of(session: AsyncSession, principal: Principal, agent: Agent | None) -> list[Attachment]:
    """What is attached to an agent itself, or with None to every agent, as far as the principal may see it."""
    query = (
        select(SkillRow.id, NamespaceRow.name, SkillRow.name, AttachmentRow.wanted, SkillRow.audience)
        .join(SkillRow, SkillRow.id == AttachmentRow.skill_id)
        .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
        .where(AttachmentRow.tenant_id == principal.tenant_id)
        .where(AttachmentRow.agent_key == (agent.key if agent else EVERY_AGENT))
        .where(SkillRow.audience.in_(principal.audiences), SkillRow.deleted_at.is_(None))
    )
    return [
        attachment_to(skill_id, f"{namespace}/{name}", wanted, agent, audience)
        for skill_id, namespace, name, wanted, audience in await session.execute(query)
    ]


def attachment_to(skill_id: str, full_name: str, wanted: str, agent: Agent | None, audience: str) -> Attachment:
    via = Via.AGENT if agent else Via.TENANT
    return Attachment(skill_id=skill_id, full_name=full_name, wanted=wanted, via=via, audience=audience)


def _subject(tenant_id: str, agent: Agent | None, audience: str) -> Subject:
    """What the history tells of an attachment is for those who may know of the skill."""
    if agent is not None:
        return agent_subject(agent, audience)
    return Subject(kind="tenant", id=tenant_id, label=_EVERY_AGENT_LABEL, audience=audience)


def _label(agent: Agent | None) -> str:
    return agent.name if agent else _EVERY_AGENT_LABEL


async def _agent(session: AsyncSession, principal: Principal, agent_id: str | None) -> Agent | None:
    return None if agent_id is None else await require_agent(session, principal.tenant_id, agent_id)


async def _same_agent(transaction: Transaction, entry: Entry, after: Mapping[str, Any]) -> Agent | None:
    if after["key"] == EVERY_AGENT:
        return None
    agent = await agent_with_id(transaction.session, entry.tenant_id, entry.change.subject.id)
    if agent is None or agent.key != after["key"]:
        raise moved_on(entry)
    return agent
