"""Working out what a rule would become: merged with what is there, looked over, and tried on past cases."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillyard.db.database import Database
from skillyard.errors import InputError, UsageError
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.turns import Turns
from skillyard.learning.destinations import new_destinations, review_of
from skillyard.learning.drafts import Draft, Related, remark
from skillyard.learning.models import RuleCaseRow
from skillyard.learning.places import COMMON, Place
from skillyard.learning.rules.checks import Seriousness, report
from skillyard.learning.rules.idle_rows import require_rows_that_count
from skillyard.learning.rules.merge import Merged, merge
from skillyard.learning.rules.past_cases import try_cases
from skillyard.learning.rules.rule import FIRST, DecisionRule, require_words, rule_of
from skillyard.learning.rules.store import cases_of, rule_row
from skillyard.learning.rules.table import DecisionTable, parse_table, table_document
from skillyard.learning.states import MergeMode, Operation, Target


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleWish:
    """What somebody wants a rule to be."""

    operation: Operation
    rule_id: str | None = None
    name: str | None = None
    description: str | None = None
    agent_id: str | None = None
    table: Mapping[str, Any] | DecisionTable | None = None
    merge_mode: MergeMode = MergeMode.REPLACE
    base: str | None = None
    """The version that it was worked out against; None takes the one that there is now."""
    relations: Sequence[Related] = ()
    reasons: Sequence[str] = ()
    place: Place = COMMON
    """Where a new one goes."""


class RuleDrafting:
    """Turns wishes into checked drafts; nothing is written."""

    def __init__(self, database: Database, turns: Turns) -> None:
        self._database = database
        self._turns = turns

    async def draft(self, principal: Principal, wish: RuleWish) -> Draft:
        """What would change. A table that could not decide, or that breaks a pinned case, is refused."""
        principal.require_scope(Scope.WRITE)
        if wish.operation is Operation.CREATE:
            return await self._turns.run(principal, lambda: _created(wish))
        if wish.rule_id is None:
            raise UsageError("rule_id is missing.", hint="Say which rule is meant.", details={"field": "rule_id"})
        async with self._database.read() as session:
            rule = rule_of(await rule_row(session, principal, wish.rule_id))
            cases = await cases_of(session, rule.id)
        if wish.operation is Operation.DELETE:
            return _draft(wish, rule, None, f"Delete the rule {rule.name!r}.", [])
        return await self._turns.run(principal, lambda: _updated(wish, rule, cases))

    async def lesson_draft(self, principal: Principal, wish: RuleWish) -> Draft:
        """The same for a lesson. A new row that would change no answer is refused too, and a person is asked about
        destinations and credentials that the rule did not name.
        """
        draft = await self.draft(principal, wish)
        await require_rows_that_count(self._database, self._turns, principal, draft)
        before: Mapping[str, Any] = {}
        if draft.target_id is not None:
            async with self._database.read() as session:
                before = rule_of(await rule_row(session, principal, draft.target_id)).state
        brought = await self._turns.run(principal, lambda: new_destinations(_texts(before), _texts(draft.content)))
        if not brought:
            return draft
        return replace(draft, locked=True, warnings=[*draft.warnings, remark("person", review_of(brought))])


def _created(wish: RuleWish) -> Draft:
    table = _table(wish)
    require_words(wish.name or "", wish.description or "")
    told = _checked(table)
    content = {
        "name": wish.name,
        "description": wish.description or "",
        "agent_id": wish.agent_id,
        "version": FIRST,
        "locked": False,
        "table": table_document(table),
    }
    return _draft(wish, None, content, f"New rule {wish.name!r} with {_rows(table.rules)}.", told)


def _updated(wish: RuleWish, rule: DecisionRule, cases: Sequence[RuleCaseRow]) -> Draft:
    merged = None if wish.table is None else merge(rule.table, _table(wish), wish.merge_mode)
    table = rule.table if merged is None else merged.table
    name = wish.name if wish.name is not None else rule.name
    description = wish.description if wish.description is not None else rule.description
    require_words(name, description)
    worded = (name, description) != (rule.name, rule.description)
    step = merged.step if merged and merged.step else ("patch" if worded else None)
    told = _checked(table)
    told += _cases_changed(table, cases)
    content = {
        **rule.state,
        "name": name,
        "description": description,
        "table": table_document(table),
        "version": rule.next_version(step) if step else rule.version,
    }
    return _draft(wish, rule, content, _summary(rule, merged), told)


def _draft(
    wish: RuleWish,
    rule: DecisionRule | None,
    content: Mapping[str, Any] | None,
    summary: str,
    warnings: Sequence[Mapping[str, Any]],
) -> Draft:
    return Draft(
        target=Target.DMN_RULE,
        operation=wish.operation,
        target_id=rule and rule.id,
        target_name=rule.name if rule else (wish.name or ""),
        base=wish.base or (rule.version if rule else None),
        content=dict(content or {}),
        summary=summary,
        reasons=wish.reasons,
        relations=wish.relations,
        warnings=warnings,
        locked=bool(rule and rule.locked),
        place=rule.place if rule else wish.place,
    )


def _table(wish: RuleWish) -> DecisionTable:
    return wish.table if isinstance(wish.table, DecisionTable) else parse_table(wish.table)


def _texts(state: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The texts of a rule, each with its place."""
    if not state:
        return []
    table = state["table"]
    columns = {key: table.get(key) for key in ("inputs", "outputs", "default")}
    rows = [
        (row["id"], " | ".join(map(str, (*row["when"], *row["then"], row.get("note", ""))))) for row in table["rules"]
    ]
    about = [("description", state["description"]), ("table", json.dumps(columns, ensure_ascii=False))]
    return [("name", state["name"]), *about, *rows]


def _checked(table: DecisionTable) -> list[Mapping[str, Any]]:
    told = report(table)
    errors = [remark for remark in told.remarks if remark.seriousness is Seriousness.ERROR]
    if errors:
        raise InputError(
            f"table: {errors[0].message}",
            hint="Change the rules so that they do not overlap, or choose the hit policy F, P or C.",
            details={"field": "table", "remarks": [remark.as_dict() for remark in errors], "more": told.more},
        )
    return [*(remark.as_dict() for remark in told.remarks), *_not_listed(told.more)]


def _cases_changed(table: DecisionTable, cases: Sequence[RuleCaseRow]) -> list[Mapping[str, Any]]:
    """Past cases that would be decided otherwise."""
    found = try_cases(table, cases)
    changed: list[Mapping[str, Any]] = []
    for case in found.changed:
        if case.pinned:
            raise InputError(
                f"table: the pinned case {case.inputs} must give {case.before}, and would give {case.after}.",
                hint="Change the table, or unpin the case.",
                details={"field": "table", "case": case.id},
            )
        message = f"{case.inputs} gave {case.before} and would give {case.after}."
        changed.append(
            {
                "kind": "case",
                "seriousness": Seriousness.NOTE.value,
                "message": message,
                "case": case.inputs,
                "before": case.before,
                "after": case.after,
            }
        )
    if found.untried:
        changed.append(_note(f"{found.untried:,} past cases were not tried: the table is too large for all of them."))
    return [*changed, *_not_listed(found.more)]


def _not_listed(more: int) -> list[Mapping[str, Any]]:
    return [_note(f"{more:,} more of this kind are not listed.")] if more else []


def _note(message: str) -> Mapping[str, Any]:
    return {"kind": "more", "seriousness": Seriousness.NOTE.value, "message": message}


def _summary(rule: DecisionRule, merged: Merged | None) -> str:
    if merged is None or merged.step is None:
        return f"The rule {rule.name!r} keeps its table."
    done = (
        (merged.added, "{} row added", "{} rows added"),
        (merged.changed, "{} row changed", "{} rows changed"),
        (merged.removed, "{} row removed", "{} rows removed"),
    )
    parts = [(one if len(rows) == 1 else many).format(len(rows)) for rows, one, many in done if rows]
    return f"{rule.name!r}: {', '.join(parts) or 'another order or other columns'}."


def _rows(rows: Sequence[object]) -> str:
    return f"{len(rows)} row" if len(rows) == 1 else f"{len(rows)} rows"
