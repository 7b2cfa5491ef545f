"""The rules of a tenant: read, changed, evaluated, and taken back."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, NotFoundError
from skillyard.history.entries import Change, Entry
from skillyard.history.service import History
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.identity.turns import Turns
from skillyard.learning.drafts import Author, Draft, Effect
from skillyard.learning.kept_knowledge import KeptKnowledge
from skillyard.learning.models import RuleCaseRow, RuleRow, RuleVersionRow
from skillyard.learning.places import COMMON, place_of, require_at
from skillyard.learning.rules.evaluation import Decided, Decider
from skillyard.learning.rules.idle_rows import require_rows_that_count
from skillyard.learning.rules.rule import DecisionRule, rule_of
from skillyard.learning.rules.store import (
    cases_of,
    free_version,
    no_rule,
    note_case,
    rule_row,
    rules_of,
    version_by,
    versions_of,
)
from skillyard.learning.rules.table import digest_of
from skillyard.learning.states import Operation, Target

_PREFIX: Final = "rule"


class Rulebook(KeptKnowledge[RuleRow, DecisionRule]):
    """The rules of a tenant, which everyone in it may evaluate. Each version is kept."""

    target = Target.DMN_RULE

    def __init__(self, database: Database, history: History, turns: Turns, *, clock: Clock = utc_now) -> None:
        super().__init__(database, history, "rule", RuleRow, clock=clock)
        self._turns = turns

    async def all(self, principal: Principal, *, agent_id: str | None = None) -> list[DecisionRule]:
        """The rules by name; with an agent, those that it goes by."""
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            return await rules_of(session, principal, agent_id)

    async def versions(self, principal: Principal, rule_id: str) -> list[RuleVersionRow]:
        """The versions of a rule, the newest first."""
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            await rule_row(session, principal, rule_id)
            return await versions_of(session, rule_id)

    async def cases(self, principal: Principal, rule_id: str) -> Sequence[RuleCaseRow]:
        """The cases that it decided: the pinned ones, then the latest."""
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            await rule_row(session, principal, rule_id)
            return await cases_of(session, rule_id)

    async def apply(self, draft: Draft, author: Author) -> Sequence[Effect]:
        """Make a prepared change. A row of a lesson that would change no answer is refused here too, because a change
        that waited for approval may be older than that check.
        """
        if author.lesson_id is not None:
            await require_rows_that_count(self._database, self._turns, author.principal, draft)
        return await super().apply(draft, author)

    async def evaluate(
        self, principal: Principal, rule_id: str, inputs: Mapping[str, Any], *, keep: bool = True
    ) -> tuple[DecisionRule, Decided]:
        """Decide a case. It is kept with its answer, to be tried on what would replace the rule."""
        rule = await self.get(principal, rule_id)
        answer = await self._turns.run(principal, lambda: Decider(rule.table).decide(inputs))
        if keep:
            async with self._database.write(bookkeeping=True) as transaction:
                await note_case(transaction.session, rule, inputs, answer.outputs, now=self._clock())
        return rule, answer

    async def pin(self, principal: Principal, rule_id: str, case_id: str, *, pinned: bool) -> None:
        """Keep a case as an example that must hold, or no longer."""
        principal.require_scope(Scope.PUBLISH)
        async with self._database.write(bookkeeping=True) as transaction:
            row = await rule_row(transaction.session, principal, rule_id)
            require_at(principal, place_of(row), Role.EDITOR, Scope.PUBLISH, locked=row.locked)
            case = await transaction.session.get(RuleCaseRow, case_id)
            if case is not None and case.rule_id == rule_id:
                case.pinned = pinned

    def _value(self, row: RuleRow) -> DecisionRule:
        return rule_of(row)

    def _missing(self, key: str) -> NotFoundError:
        return no_rule(key)

    def _require_base(self, row: RuleRow, draft: Draft) -> None:
        if row.version != draft.base:
            raise ConflictError(
                f"The rule {row.name!r} is at {row.version}; the change was worked out against {draft.base}.",
                hint="Look at it again, and work the change out anew.",
                details={"field": "base", "value": draft.base, "version": row.version},
            )

    def _create(self, transaction: Transaction, draft: Draft, author: Author) -> Effect:
        now = self._clock()
        row = RuleRow(
            id=self._id(_PREFIX, author),
            tenant_id=author.principal.tenant_id,
            created_at=now,
            updated_at=now,
            deleted_at=None,
            **(draft.place or COMMON).columns,
            **_columns(draft.content),
        )
        transaction.session.add(row)
        self._keep_version(transaction, row, author)
        return self._record_new(transaction, author, row, Operation.CREATE)

    async def _update(self, transaction: Transaction, row: RuleRow, draft: Draft, author: Author) -> Sequence[Effect]:
        present = rule_of(row)
        if present.state == draft.content:
            same = Change(action=self._updated, subject=present.subject, after=present.state)
            return (self._effect(same, Operation.UPDATE, None),)
        version = await free_version(transaction.session, row.id, draft.content["version"])
        change = self._set(row, {**draft.content, "version": version})
        self._keep_version(transaction, row, author)
        return (self._record(transaction, author, change, Operation.UPDATE),)

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

    def _fill(self, row: RuleRow, state: Mapping[str, Any]) -> None:
        for name, value in _columns(state).items():
            setattr(row, name, value)

    async def _entries(self, transaction: Transaction, draft: Draft, author: Author) -> Sequence[Entry | None]:
        if draft.operation is Operation.CREATE:
            return [await self._trace(transaction, author, self._id(_PREFIX, author), self._created, lambda _: True)]
        lesson = author.lesson_id
        made = await version_by(transaction.session, lesson) if lesson else None
        if lesson and made is None:
            return []

        def fits(entry: Entry) -> bool:
            if author.turn and entry.undone_by is not None:
                return False  # it is of an earlier turn
            return _is_step(entry, draft) if made is None else _after(entry).get("version") == made.version

        return [await self._trace(transaction, author, draft.target_id or "", self._updated, fits)]


def _after(entry: Entry) -> Mapping[str, Any]:
    return entry.change.after or {}


def _is_step(entry: Entry, draft: Draft) -> bool:
    """Whether a change led from the base of a draft to what it holds, whichever number that was given."""
    version = {"version": _after(entry).get("version")}
    return (entry.change.before or {}).get("version") == draft.base and _after(entry) == {**draft.content, **version}


def _columns(content: Mapping[str, Any]) -> dict[str, Any]:
    names = ("name", "description", "agent_id", "version", "locked", "table")
    return {name: content[name] for name in names} | {"digest": digest_of(content["table"])}
