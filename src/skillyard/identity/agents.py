"""The agents of a tenant: who they are and what they are for."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.base import new_id
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, InputError, LimitError, NotAllowedError, NotFoundError
from skillyard.history.entries import Change, Entry, Subject, Why
from skillyard.history.service import History, Step, moved_on
from skillyard.identity.models import AgentRow
from skillyard.identity.principals import Principal, Scope, tenant_audience
from skillyard.skill.names import hidden_characters

AGENT_CREATED: Final = "agent.created"
AGENT_UPDATED: Final = "agent.updated"
AGENT_DELETED: Final = "agent.deleted"
MAX_ID: Final = 128
MAX_TEXT: Final = 20_000
"""Characters of a role or a goal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentFields:
    """What is said about an agent."""

    name: str
    role: str = ""
    goal: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "role": self.role, "goal": self.goal}

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> "AgentFields":
        return cls(name=values["name"], role=values["role"], goal=values["goal"])


@dataclass(frozen=True, kw_only=True, slots=True)
class Agent:
    id: str
    tenant_id: str
    name: str
    role: str
    goal: str
    created_at: datetime
    key: str
    """Tells it from an agent that had the same id before it."""

    @property
    def state(self) -> dict[str, Any]:
        """The agent as the history keeps it."""
        return {**self.fields.as_dict(), "key": self.key}

    @property
    def fields(self) -> AgentFields:
        return AgentFields(name=self.name, role=self.role, goal=self.goal)


class Agents:
    """Everyone in a tenant may know its agents; its administrators change them."""

    def __init__(self, database: Database, history: History, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._history = history
        self._clock = clock
        history.register_undo(AGENT_CREATED, self._uncreate)
        history.register_undo(AGENT_UPDATED, self._revert)
        history.register_undo(AGENT_DELETED, self._undelete)

    async def all(self, principal: Principal) -> list[Agent]:
        """The agents of the tenant, by name."""
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            return await agents_of(session, principal.tenant_id)

    async def get(self, principal: Principal, agent_id: str) -> Agent:
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            return await require_agent(session, principal.tenant_id, agent_id)

    async def create(
        self, principal: Principal, fields: AgentFields, *, agent_id: str | None = None, why: Why
    ) -> Agent:
        """Add an agent, under an id of the caller's choice or a new one."""
        require_agent_rights(principal)
        async with self._database.write() as transaction:
            return await self.add(transaction, principal, agent_id or new_id(), fields, why)

    async def update(self, principal: Principal, agent_id: str, fields: Mapping[str, str], *, why: Why) -> Agent:
        """Set some of an agent's name, role and goal; the others stay."""
        require_agent_rights(principal)
        async with self._database.write() as transaction:
            present = await require_agent(transaction.session, principal.tenant_id, agent_id)
            wanted = AgentFields.read({**present.fields.as_dict(), **fields})
            if wanted == present.fields:
                return present
            return await self.rewrite(transaction, principal, present, wanted, why)

    async def delete(self, principal: Principal, agent_id: str, *, why: Why) -> None:
        """Take an agent away; undoing brings it back with its skills."""
        require_agent_rights(principal)
        async with self._database.write() as transaction:
            agent = await require_agent(transaction.session, principal.tenant_id, agent_id)
            change = await self._remove(transaction, agent)
            self._history.record(transaction, principal.actor, change, why)

    async def add(
        self, transaction: Transaction, principal: Principal, agent_id: str, fields: AgentFields, why: Why
    ) -> Agent:
        """Write a new agent within a transaction."""
        require_agent_id(agent_id)
        _require_fields(fields)
        session = transaction.session
        if await agent_with_id(session, principal.tenant_id, agent_id) is not None:
            raise ConflictError(
                f"There is an agent with the id {agent_id!r} already.",
                hint="Change that one, or leave the id out to get a new one.",
                details={"field": "id", "value": agent_id},
            )
        await _require_free_name(session, principal.tenant_id, agent_id, fields.name)
        agent = Agent(
            id=agent_id,
            tenant_id=principal.tenant_id,
            name=fields.name,
            role=fields.role,
            goal=fields.goal,
            created_at=self._clock(),
            key=new_id(),
        )
        session.add(AgentRow(**asdict(agent), deleted_at=None))
        await session.flush()
        change = Change(action=AGENT_CREATED, subject=agent_subject(agent), after=agent.state)
        self._history.record(transaction, principal.actor, change, why)
        return agent

    async def rewrite(
        self, transaction: Transaction, principal: Principal, agent: Agent, fields: AgentFields, why: Why
    ) -> Agent:
        """Set everything that is said about an agent within a transaction."""
        change = await self._rewritten(transaction, agent, fields)
        self._history.record(transaction, principal.actor, change, why)
        return replace(agent, name=fields.name, role=fields.role, goal=fields.goal)

    async def _rewritten(self, transaction: Transaction, agent: Agent, fields: AgentFields) -> Change:
        _require_fields(fields)
        await _require_free_name(transaction.session, agent.tenant_id, agent.id, fields.name)
        row = await transaction.session.get_one(AgentRow, agent.key)
        row.name, row.role, row.goal = fields.name, fields.role, fields.goal
        await transaction.session.flush()
        now = _agent(row)
        return Change(action=AGENT_UPDATED, subject=agent_subject(now), before=agent.state, after=now.state)

    async def _remove(self, transaction: Transaction, agent: Agent) -> Change:
        row = await transaction.session.get_one(AgentRow, agent.key)
        row.deleted_at = self._clock()
        await transaction.session.flush()
        return Change(action=AGENT_DELETED, subject=agent_subject(agent), before=agent.state)

    async def _uncreate(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            return await self._remove(transaction, await _as_left(transaction, entry))

        return step

    async def _revert(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            agent = await _as_left(transaction, entry)
            return await self._rewritten(transaction, agent, AgentFields.read(entry.change.before or {}))

        return step

    async def _undelete(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            session = transaction.session
            row = await session.get(AgentRow, (entry.change.before or {})["key"])
            if row is None or row.deleted_at is None or await agent_with_id(session, row.tenant_id, row.id):
                raise moved_on(entry)
            await _require_free_name(session, row.tenant_id, row.id, row.name)
            row.deleted_at = None
            agent = _agent(row)
            return Change(action=AGENT_CREATED, subject=agent_subject(agent), after=agent.state)

        return step


async def agents_of(session: AsyncSession, tenant_id: str) -> list[Agent]:
    query = select(AgentRow).where(AgentRow.tenant_id == tenant_id, AgentRow.deleted_at.is_(None))
    return [_agent(row) for row in await session.scalars(query.order_by(AgentRow.name))]


async def agent_with_id(session: AsyncSession, tenant_id: str, agent_id: str) -> Agent | None:
    query = select(AgentRow).where(
        AgentRow.tenant_id == tenant_id, AgentRow.id == agent_id, AgentRow.deleted_at.is_(None)
    )
    row = await session.scalar(query)
    return row and _agent(row)


async def require_agent(session: AsyncSession, tenant_id: str, agent_id: str) -> Agent:
    agent = await agent_with_id(session, tenant_id, agent_id)
    if agent is None:
        raise NotFoundError(
            f"There is no agent {agent_id[:MAX_ID]!r}.",
            hint="List them: skillyard registry agents list",
            details={"agent": agent_id[:MAX_ID]},
        )
    return agent


def agent_subject(agent: Agent, audience: str | None = None) -> Subject:
    """The agent as the history names it; its whole tenant may know, unless the change tells more than that."""
    return Subject(kind="agent", id=agent.id, label=agent.name, audience=audience or tenant_audience(agent.tenant_id))


def require_agent_rights(principal: Principal) -> None:
    """Refuses whoever may not change agents and what is attached to them."""
    principal.require_scope(Scope.WRITE)
    if not principal.admin:
        raise NotAllowedError("Only an administrator of the tenant may change its agents.", hint="Ask one of them.")


def require_agent_id(agent_id: str) -> None:
    is_odd = hidden_characters(agent_id) or any(char.isspace() or not char.isprintable() for char in agent_id)
    if not agent_id or len(agent_id) > MAX_ID or "/" in agent_id or agent_id in {".", ".."} or is_odd:
        raise InputError(
            f"{agent_id[:MAX_ID]!r} cannot be the id of an agent.",
            hint=f"Use 1 to {MAX_ID} characters without spaces and slashes, such as 'support-1'.",
            details={"field": "id", "value": agent_id[:MAX_ID], "limit": MAX_ID},
        )


def _require_fields(fields: AgentFields) -> None:
    if not fields.name.strip() or len(fields.name) > MAX_ID or hidden_characters(fields.name):
        raise InputError(
            f"{fields.name[:MAX_ID]!r} cannot be the name of an agent.",
            hint=f"Use 1 to {MAX_ID} visible characters.",
            details={"field": "name", "value": fields.name[:MAX_ID], "limit": MAX_ID},
        )
    for field in ("role", "goal"):
        length = len(getattr(fields, field))
        if length > MAX_TEXT:
            raise LimitError(
                f"The {field} of the agent has {length:,} characters; at most {MAX_TEXT:,} are allowed.",
                hint="Shorten it.",
                details={"field": field, "limit": MAX_TEXT},
            )


async def _require_free_name(session: AsyncSession, tenant_id: str, agent_id: str, name: str) -> None:
    query = select(AgentRow.id).where(
        AgentRow.tenant_id == tenant_id, AgentRow.name == name, AgentRow.id != agent_id, AgentRow.deleted_at.is_(None)
    )
    other = await session.scalar(query)
    if other is not None:
        raise ConflictError(
            f"The agent {other!r} is called {name!r} already.",
            hint="Choose another name.",
            details={"field": "name", "value": name},
        )


async def _as_left(transaction: Transaction, entry: Entry) -> Agent:
    """The agent as an entry left it; a later change would be lost with it."""
    agent = await agent_with_id(transaction.session, entry.tenant_id, entry.change.subject.id)
    if agent is None or agent.state != entry.change.after:
        raise moved_on(entry)
    return agent


def _agent(row: AgentRow) -> Agent:
    return Agent(
        id=row.id,
        tenant_id=row.tenant_id,
        name=row.name,
        role=row.role,
        goal=row.goal,
        created_at=row.created_at,
        key=row.key,
    )
