"""The page of a decision rule: its table to edit, what is wrong with it marked, cases to try, and its versions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from fastapi import Query, Request, Response

from skillyard.app.yard import Yard
from skillyard.errors import SkillyardError
from skillyard.identity.principals import Principal
from skillyard.learning.places import may_change
from skillyard.learning.rules.rule import DecisionRule
from skillyard.learning.rules.values import ValueType
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.history import list_history
from skillyard.server.api.rule_schemas import (
    DecidedSchema,
    RuleCaseSchema,
    RuleChange,
    RuleSchema,
    RuleUpdate,
    RuleVersionSchema,
)
from skillyard.server.api.rules import delete_rule, update_rule
from skillyard.server.web.bodies import body_of
from skillyard.server.web.draft_changes import table_change
from skillyard.server.web.forms import Form, Posted
from skillyard.server.web.learning import LEARNING
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.server.web.rule_editor import edited_in, editor_of, found_in, looked_over, table_in
from skillyard.server.web.rule_form import EnteredTable, entered_in, entered_of, value_of
from skillyard.server.web.rule_rows import compared
from skillyard.server.web.rules import RULES

RULE: Final = f"{RULES}/{{rule_id}}"
_CASE: Final = "case."
_CASES: Final = 20
_ROWS: Final = 100
"""Of a table that is too large to be edited, so many are shown."""

router = PageRouter()


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """A case that somebody tries, and what the rule says to it."""

    given: Mapping[str, str] = field(default_factory=dict[str, str])
    decided: DecidedSchema | None = None
    problem: SkillyardError | None = None


_UNTRIED: Final = Trial()


@router.page(RULE)
async def rule(rule_id: str, request: Request, yard: TheYard, caller: Caller) -> Page:
    """The rule as it stands; an address with inputs also says what it decides for them."""
    found = await yard.learning.rules.get(caller, rule_id)
    given = {key.removeprefix(_CASE): text for key, text in request.query_params.items() if key.startswith(_CASE)}
    return await _page(yard, caller, found, trial=await _tried(yard, caller, found, given))


@router.post(RULE, response_model=None)
async def change(rule_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Keep the table that was entered, look it over, change its rows, or read it from a file."""
    do = form.text("do")
    present = await yard.learning.rules.get(caller, rule_id)
    if do in {"lock", "unlock"}:
        body = RuleUpdate(locked=do == "lock")
        await update_rule(rule_id, body, yard.learning, caller, form.why, None)
        return go_to(f"{RULES}/{rule_id}", done=f"{do}ed")
    if do == "read":
        try:
            _, entered = await table_in(yard, caller, form.uploads.get("file"))
        except SkillyardError as error:
            return await _page(yard, caller, present, problem=error)
        return await _page(yard, caller, present, entered=entered)
    if do != "save":
        edited = await edited_in(yard, caller, form)
        return await _page(yard, caller, present, entered=edited.table, form=form, refused=edited.refused)
    return await _save(yard, caller, present, form)


@router.post(f"{RULE}/delete", response_model=None)
async def delete(rule_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    made = (await delete_rule(rule_id, yard.learning, caller, form.why, form.text("base") or None)).data
    return _after(made, RULES, done="rule_deleted")


@router.post(f"{RULE}/cases", response_model=None)
async def keep_case(rule_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Keep a case as an example that must hold whatever the rule becomes, or no longer."""
    rules = yard.learning.rules
    case_id = form.text("case")
    if not case_id:
        found = await rules.get(caller, rule_id)
        given = {key.removeprefix(_CASE): form.text(key) for key in form.fields if key.startswith(_CASE)}
        inputs = _inputs(found, given)
        await rules.evaluate(caller, rule_id, inputs)
        case_id = next((case.id for case in await rules.cases(caller, rule_id) if case.inputs == inputs), "")
    pinned = form.text("do") != "unpin"
    await rules.pin(caller, rule_id, case_id, pinned=pinned)
    return go_to(f"{RULES}/{rule_id}", done="pinned" if pinned else "unpinned")


@router.page(f"{RULE}/versions")
async def versions(
    rule_id: str,
    yard: TheYard,
    caller: Caller,
    old: Annotated[str, Query(alias="from", max_length=64)] = "",
    new: Annotated[str, Query(alias="to", max_length=64)] = "",
) -> Page:
    """What the rule was, and what differs between any two states; by default what the latest changed."""
    found = await yard.learning.rules.get(caller, rule_id)
    kept = await yard.learning.rules.versions(caller, rule_id)
    tables = {each.version: each.table for each in kept}
    names = list(tables)
    new = new if new in tables else found.version
    earlier = names[names.index(new) + 1 :] if new in tables else []
    old = old if old in tables else (earlier[0] if earlier else new)
    past = await list_history(yard, caller, subject_kind="rule", subject_id=rule_id)
    after = tables.get(new, found.document)
    return Page(
        "learning/rule_versions.html",
        {
            "rule": RuleSchema.told(found),
            "versions": [RuleVersionSchema.of(each) for each in kept],
            "from": old,
            "to": new,
            "change": await table_change(tables.get(old), after),
            "history": past.data,
        },
        extra={"old": old, "new": new},
    )


async def _save(yard: Yard, caller: Principal, present: DecisionRule, form: Form) -> Response:
    entered = entered_in(form)
    try:
        body = body_of(
            RuleUpdate,
            name=form.required("name"),
            description=form.text("description"),
            table=entered.document,
        )
        base = form.text("base") or None
        made = (await update_rule(present.id, body, yard.learning, caller, form.why, base)).data
    except SkillyardError as error:
        return await _page(yard, caller, present, entered=entered, form=form, problem=error)
    return _after(made, f"{RULES}/{present.id}", done="saved")


def _after(made: RuleChange, path: str, *, done: str) -> Response:
    """To what was changed, or to where that waits for someone's word."""
    if made.proposal_id is not None:
        return go_to(f"{LEARNING}/proposals/{made.proposal_id}", done="proposed")
    return go_to(path, done=done)


async def _tried(yard: Yard, caller: Principal, found: DecisionRule, given: Mapping[str, str]) -> Trial:
    if not given:
        return _UNTRIED
    try:
        _, answer = await yard.learning.rules.evaluate(caller, found.id, _inputs(found, given), keep=False)
    except SkillyardError as error:
        return Trial(given=given, problem=error)
    return Trial(given=given, decided=DecidedSchema(**answer.as_dict(), version=found.version))


def _inputs(found: DecisionRule, given: Mapping[str, str]) -> dict[str, Any]:
    """The inputs of a case by their columns; what was left empty is left out."""
    read = {
        column["id"]: value_of(given.get(column["id"], ""), ValueType(column["type"]), field=f"inputs.{column['id']}")
        for column in found.document["inputs"]
    }
    return {name: value for name, value in read.items() if value is not None}


async def _page(
    yard: Yard,
    caller: Principal,
    found: DecisionRule,
    *,
    entered: EnteredTable | None = None,
    form: Form | None = None,
    trial: Trial = _UNTRIED,
    problem: SkillyardError | None = None,
    refused: str = "",
) -> Page:
    document = found.document
    shown = entered or entered_of(document)
    said = await found_in(yard, caller, shown) if entered else await looked_over(yard, caller, document)
    cases = await yard.learning.rules.cases(caller, found.id)
    wrong = problem or trial.problem
    return Page(
        "learning/rule.html",
        {
            "rule": RuleSchema.told(found),
            "found": said,
            "decided": trial.decided,
            "cases": [RuleCaseSchema.of(case) for case in cases[:_CASES]],
        },
        extra={
            "may_change": may_change(caller, found.place, locked=found.locked),
            "editor": editor_of(shown, said, problem, refused=refused),
            "rows": compared(document, document)[:_ROWS],
            "is_edited": entered is not None,
            "entered": {
                "name": form.text("name", found.name) if form else found.name,
                "description": form.text("description", found.description) if form else found.description,
                "reason": form.text("reason") if form else "",
            },
            "base": (form.text("base") if form else "") or found.version,
            "tried": trial.given,
            "problem": problem.as_public_dict() if problem else None,
            "untried": trial.problem.as_public_dict() if trial.problem else None,
        },
        status=wrong.http_status if wrong else 200,
    )
