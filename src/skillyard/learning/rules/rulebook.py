"""The rules of a tenant: read, changed, evaluated, and taken back."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError
from skillyard.history.entries import Change, Entry
from skillyard.history.service import History, Step, moved_on
from skillyard.identity.principals import Principal, Scope
from skillyard.learning.drafts import Author, Draft, Effect
from skillyard.learning.ids import id_of, new_id
from skillyard.learning.models import RuleCaseRow, RuleRow, RuleVersionRow
from skillyard.learning.rules.evaluation import Decided, decide_many
from skillyard.learning.rules.rule import DecisionRule, rule_of
from skillyard.learning.rules.store import (
    cases_of,
    free_version,
    note_case,
    rule_row,
    rules_of,
    version_by,
    versions_of,
)
from skillyard.learning.rules.table import parse_table
from skillyard.learning.states import Operation, Target
from skillyard.learning.traces import same_words, trace_of

RULE_CREATED: Final = "rule.created"
RULE_UPDATED: Final = "rule.updated"
RULE_DELETED: Final = "rule.deleted"


class Rulebook:
    """Everyone in a tenant may read and evaluate its rules; changing them takes the scope `publish`."""

    target = Target.DMN_RULE

    def __init__(self, database: Database, history: History, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._history = history
        self._clock = clock
        history.register_undo(RULE_CREATED, self._uncreate)
        history.register_undo(RULE_UPDATED, self._revert)
        history.register_undo(RULE_DELETED, self._undelete)

    async def all(self, principal: Principal, *, agent_id: str | None = None) -> list[DecisionRule]:
        """The rules by name; with an agent, those that it goes by."""
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            return await rules_of(session, principal.tenant_id, agent_id)

    async def get(self, principal: Principal, rule_id: str) -> DecisionRule:
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            return rule_of(await rule_row(session, principal.tenant_id, rule_id))

    async def versions(self, principal: Principal, rule_id: str) -> list[RuleVersionRow]:
        """The versions of a rule, the newest first."""
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            await rule_row(session, principal.tenant_id, rule_id)
            return await versions_of(session, rule_id)

    async def cases(self, principal: Principal, rule_id: str) -> Sequence[RuleCaseRow]:
        """The cases that it decided: the pinned ones, then the latest."""
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            await rule_row(session, principal.tenant_id, rule_id)
            return await cases_of(session, rule_id)

    async def evaluate(
        self, principal: Principal, rule_id: str, inputs: Mapping[str, Any], *, keep: bool = True
    ) -> tuple[DecisionRule, Decided]:
        """Decide a case. It is kept with its answer, to be tried on what would replace the rule."""
        rule = await self.get(principal, rule_id)
        answer = (await decide_many(rule.table, [inputs]))[0]
        if isinstance(answer, Exception):
            raise answer
        if keep:
            async with self._database.write(bookkeeping=True) as transaction:
                await note_case(transaction.session, rule, inputs, answer.outputs, now=self._clock())
        return rule, answer

    async def pin(self, principal: Principal, rule_id: str, case_id: str, *, pinned: bool) -> None:
        """Keep a case as an example that must hold, or no longer."""
        principal.require_scope(Scope.PUBLISH)
        async with self._database.write(bookkeeping=True) as transaction:
            await rule_row(transaction.session, principal.tenant_id, rule_id)
            case = await transaction.session.get(RuleCaseRow, case_id)
            if case is not None and case.rule_id == rule_id:
                case.pinned = pinned

    async def lock(self, author: Author, rule_id: str, *, locked: bool) -> DecisionRule:
        """Hold a rule, so that lessons are only proposed against it, or let it go."""
        author.principal.require_scope(Scope.PUBLISH)
        async with self._database.write() as transaction:
            row = await rule_row(transaction.session, author.principal.tenant_id, rule_id)
            rule = rule_of(row)
            if rule.locked != locked:
                change = self._set(row, {**rule.state, "locked": locked})
                self._history.record(transaction, author.principal.actor, change, author.why)
            return rule_of(row)

    async def apply(self, draft: Draft, author: Author) -> Sequence[Effect]:
        """Make a change that was worked out by `RuleDrafting`."""
        author.principal.require_scope(Scope.PUBLISH)
        async with self._database.write() as transaction:
            done = await self._done_before(transaction, draft, author)
            if done is not None:
                return (done,)
            if draft.operation is Operation.CREATE:
                return (self._create(transaction, draft, author),)
            row = await rule_row(transaction.session, author.principal.tenant_id, draft.target_id or "")
            if row.version != draft.base:
                raise ConflictError(
                    f"The rule {row.name!r} is at {row.version}; the change was worked out against {draft.base}.",
                    hint="Look at it again, and work the change out anew.",
                    details={"field": "base", "value": draft.base, "version": row.version},
                )
            if draft.operation is Operation.DELETE:
                change = self._remove(row)
            elif rule_of(row).state == draft.content:
                return (_effect(row, draft.operation, None),)
            else:
                version = await free_version(transaction.session, row.id, draft.content["version"])
                change = self._set(row, {**draft.content, "version": version})
                self._keep_version(transaction, row, author)
            number = self._history.record(transaction, author.principal.actor, change, author.why)
            return (_effect(row, draft.operation, number),)

    def _create(self, transaction: Transaction, draft: Draft, author: Author) -> Effect:
        now = self._clock()
        lesson = author.lesson_id
        row = RuleRow(
            id=id_of("rule", lesson) if lesson else new_id("rule"),
            tenant_id=author.principal.tenant_id,
            created_at=now,
            updated_at=now,
            deleted_at=None,
            **_columns(draft.content),
        )
        transaction.session.add(row)
        self._keep_version(transaction, row, author)
        rule = rule_of(row)
        change = Change(action=RULE_CREATED, subject=rule.subject, after=rule.state, digest_after=row.digest)
        number = self._history.record(transaction, author.principal.actor, change, author.why)
        return _effect(row, Operation.CREATE, number)

    def _keep_version(self, transaction: Transaction, row: RuleRow, author: Author) -> None:
        kept = {
            "rule_id": row.id,
            "version": row.version,
            "table": row.table,
            "digest": row.digest,
            "lesson_id": author.lesson_id,
            "created_by": author.principal.person_id,
            "created_at": row.updated_at,
        }
        transaction.insert_last(RuleVersionRow, kept)

    def _set(self, row: RuleRow, content: Mapping[str, Any]) -> Change:
        before = rule_of(row)
        for name, value in _columns(content).items():
            setattr(row, name, value)
        row.updated_at = self._clock()
        after = rule_of(row)
        return Change(
            action=RULE_UPDATED,
            subject=after.subject,
            before=before.state,
            after=after.state,
            digest_before=before.digest,
            digest_after=after.digest,
        )

    def _remove(self, row: RuleRow) -> Change:
        rule = rule_of(row)
        row.deleted_at = self._clock()
        return Change(action=RULE_DELETED, subject=rule.subject, before=rule.state, digest_before=rule.digest)

    async def _done_before(self, transaction: Transaction, draft: Draft, author: Author) -> Effect | None:
        """What this lesson did to its rule already."""
        if author.lesson_id is None:
            return None
        session, tenant_id = transaction.session, author.principal.tenant_id
        if draft.operation is Operation.DELETE:
            row = await session.get(RuleRow, draft.target_id)
            if row is None or row.deleted_at is None:
                return None
            entry = await trace_of(
                session, tenant_id, ("rule", row.id), RULE_DELETED, lambda entry: same_words(entry.why, author.why)
            )
            return entry and _effect(row, Operation.DELETE, entry.number)
        made = await version_by(session, author.lesson_id)
        row = None if made is None else await session.get(RuleRow, made.rule_id)
        if made is None or row is None:
            return None
        action = RULE_CREATED if draft.operation is Operation.CREATE else RULE_UPDATED
        entry = await trace_of(
            session, tenant_id, ("rule", row.id), action, lambda entry: _version_after(entry) == made.version
        )
        return replace(_effect(row, draft.operation, entry and entry.number), version=made.version)

    async def _uncreate(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            return self._remove(await _as_left(transaction, entry))

        return step

    async def _revert(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            return self._set(await _as_left(transaction, entry), entry.change.before or {})

        return step

    async def _undelete(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            row = await transaction.session.get(RuleRow, entry.change.subject.id)
            if row is None or row.deleted_at is None:
                raise moved_on(entry)
            row.deleted_at = None
            rule = rule_of(row)
            return Change(action=RULE_CREATED, subject=rule.subject, after=rule.state, digest_after=rule.digest)

        return step


async def _as_left(transaction: Transaction, entry: Entry) -> RuleRow:
    row = await rule_row(transaction.session, entry.tenant_id, entry.change.subject.id)
    if rule_of(row).state != entry.change.after:
        raise moved_on(entry)
    return row


def _version_after(entry: Entry) -> str | None:
    return (entry.change.after or {}).get("version")


def _columns(content: Mapping[str, Any]) -> dict[str, Any]:
    names = ("name", "description", "agent_id", "version", "locked", "table")
    return {name: content[name] for name in names} | {"digest": parse_table(content["table"]).digest}


def _effect(row: RuleRow, operation: Operation, number: int | None) -> Effect:
    return Effect(kind="rule", operation=operation, id=row.id, label=row.name, version=row.version, history=number)
