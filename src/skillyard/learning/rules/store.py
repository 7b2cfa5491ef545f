"""Queries about decision rules, their versions and the cases that they decided."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.errors import NotFoundError
from skillyard.identity.principals import Principal
from skillyard.learning.ids import new_id
from skillyard.learning.models import RuleCaseRow, RuleRow, RuleVersionRow
from skillyard.learning.places import is_visible, visible
from skillyard.learning.rules.rule import DecisionRule, rule_of
from skillyard.skill.versions import Version

MAX_CASES: Final = 500
"""Cases that are kept of one rule; the oldest that nobody pinned go first."""
MAX_CASE: Final = 8_000
"""Characters of the inputs of a case that is kept."""


async def rules_of(session: AsyncSession, principal: Principal, agent_id: str | None) -> list[DecisionRule]:
    """The rules of a tenant by name; with an agent, those that it goes by."""
    query = select(RuleRow).where(visible(principal, RuleRow), RuleRow.deleted_at.is_(None))
    if agent_id is not None:
        query = query.where(or_(RuleRow.agent_id.is_(None), RuleRow.agent_id == agent_id))
    return [rule_of(row) for row in await session.scalars(query.order_by(RuleRow.name, RuleRow.id))]


async def rule_row(session: AsyncSession, principal: Principal, rule_id: str) -> RuleRow:
    row = await session.get(RuleRow, rule_id)
    if row is None or row.deleted_at is not None or not is_visible(principal, row):
        raise no_rule(rule_id)
    return row


def no_rule(rule_id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no decision rule {rule_id[:64]!r}.",
        hint="List them: skillyard learn rules",
        details={"rule": rule_id[:64]},
    )


async def versions_of(session: AsyncSession, rule_id: str) -> list[RuleVersionRow]:
    """The versions of a rule, the newest first."""
    query = select(RuleVersionRow).where(RuleVersionRow.rule_id == rule_id)
    return list(await session.scalars(query.order_by(RuleVersionRow.created_at.desc(), RuleVersionRow.version.desc())))


async def version_by(session: AsyncSession, lesson_id: str) -> RuleVersionRow | None:
    """The last version that a lesson made, if it made one."""
    query = select(RuleVersionRow).where(RuleVersionRow.lesson_id == lesson_id)
    return await session.scalar(query.order_by(RuleVersionRow.created_at.desc()).limit(1))


async def free_version(session: AsyncSession, rule_id: str, wanted: str) -> str:
    """The wanted version, or the next after it that no version of the rule had: undoing leaves those behind."""
    taken = {row.version for row in await versions_of(session, rule_id)}
    version = Version.parse(wanted)
    while str(version) in taken:
        version = version.bump("patch")
    return str(version)


async def cases_of(session: AsyncSession, rule_id: str) -> Sequence[RuleCaseRow]:
    """The cases that a rule decided: the pinned ones, then the latest."""
    query = select(RuleCaseRow).where(RuleCaseRow.rule_id == rule_id)
    ordered = query.order_by(RuleCaseRow.pinned.desc(), RuleCaseRow.last_at.desc(), RuleCaseRow.id)
    return (await session.scalars(ordered.limit(MAX_CASES))).all()


async def note_case(
    session: AsyncSession, rule: DecisionRule, inputs: Mapping[str, Any], outputs: object, *, now: datetime
) -> None:
    """Count a case that a rule decided."""
    text = json.dumps(inputs, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    if len(text) > MAX_CASE:
        return
    hashed = hashlib.sha256(text.encode()).hexdigest()
    query = select(RuleCaseRow).where(RuleCaseRow.rule_id == rule.id, RuleCaseRow.inputs_hash == hashed)
    row = await session.scalar(query)
    if row is not None:
        row.times += 1
        row.last_at = now
        if not row.pinned:
            row.outputs, row.version = outputs, rule.version
        return
    await _make_room(session, rule.id)
    session.add(
        RuleCaseRow(
            id=new_id("case"),
            rule_id=rule.id,
            inputs=json.loads(text),
            inputs_hash=hashed,
            outputs=outputs,
            version=rule.version,
            times=1,
            pinned=False,
            last_at=now,
        )
    )


async def _make_room(session: AsyncSession, rule_id: str) -> None:
    count = await session.scalar(select(func.count()).where(RuleCaseRow.rule_id == rule_id))
    if (count or 0) < MAX_CASES:
        return
    oldest = select(RuleCaseRow.id).where(RuleCaseRow.rule_id == rule_id, RuleCaseRow.pinned.is_(False))
    oldest = oldest.order_by(RuleCaseRow.last_at, RuleCaseRow.id).limit((count or 0) - MAX_CASES + 1)
    await session.execute(delete(RuleCaseRow).where(RuleCaseRow.id.in_(oldest.scalar_subquery())))
