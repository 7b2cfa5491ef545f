"""Decision rules: made and changed by hand, looked over, and evaluated."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from skillyard.errors import NotFoundError
from skillyard.history.entries import Why
from skillyard.identity.agents import MAX_ID
from skillyard.identity.principals import Principal, Scope
from skillyard.learning.drafts import Committed
from skillyard.learning.rules.dmn_write import write_dmn
from skillyard.learning.rules.drafting import RuleWish
from skillyard.learning.rules.preview import preview
from skillyard.learning.rules.rule import DecisionRule
from skillyard.learning.service import LearningRooms
from skillyard.learning.states import MergeMode, Operation
from skillyard.server.api.caller import Caller, Reason, TheYard
from skillyard.server.api.learning_shapes import Base, Learning, by_hand, by_whom_may, made_id, require_base, tag_of
from skillyard.server.api.rule_schemas import (
    XML,
    CasePin,
    ChangedRule,
    CheckedRule,
    DecidedSchema,
    NewRule,
    RuleCase,
    RuleCaseSchema,
    RuleChange,
    RuleCheck,
    RuleCreate,
    RuleReport,
    RuleSchema,
    RuleUpdate,
    RuleVersionSchema,
    either,
)
from skillyard.server.api.shapes import BEARER, Listed, errors
from skillyard.server.auth import not_kept
from skillyard.server.models import Success
from skillyard.server.raw_files import download

router = APIRouter(prefix="/api/v1", tags=["rules"], responses=errors(), dependencies=[BEARER])


@router.get("/rules", summary="List decision rules")
async def list_rules(
    learning: Learning,
    caller: Caller,
    agent: Annotated[str | None, Query(max_length=MAX_ID, description="What this agent goes by.")] = None,
) -> Listed[RuleSchema]:
    """By name."""
    return Listed(data=[RuleSchema.told(rule) for rule in await learning.rules.all(caller, agent_id=agent)])


@router.post(
    "/rules",
    status_code=201,
    summary="Make a decision rule",
    responses=errors(413),
    openapi_extra=either(RuleCreate),
)
async def create_rule(
    body: NewRule, yard: TheYard, learning: Learning, caller: Caller, why: Reason
) -> Success[RuleChange]:
    """Keep a decision table, as JSON or as DMN XML. What overlaps and what has no answer is told; a table that would
    not decide is refused.
    """
    if body.agent_id is not None:
        await yard.registry.agents.get(caller, body.agent_id)
    wish = RuleWish(
        operation=Operation.CREATE,
        name=body.name,
        description=body.description,
        agent_id=body.agent_id,
        table=body.table,
        place=await learning.place(caller, body.namespace, private=body.visibility == "private"),
    )
    return Success(data=await _change(learning, caller, wish, why))


@router.post("/rules/check", summary="Look a table over", responses=errors(413), openapi_extra=either(RuleCheck))
async def check_rule(body: CheckedRule, learning: Learning, caller: Caller) -> Success[RuleReport]:
    """What there is to say about a table, or about what it would make of a rule. Nothing is kept."""
    mode = MergeMode(body.merge_mode)
    return Success(
        data=RuleReport.of(await preview(learning.rules, learning.turns, caller, body.table, body.rule_id, mode))
    )


@router.get(
    "/rules/{rule_id}.dmn",
    summary="Read a decision rule as DMN",
    response_class=Response,
    responses={200: {"content": {XML: {}}, "description": "DMN 1.3."}},
)
async def get_rule_dmn(rule_id: str, learning: Learning, caller: Caller) -> Response:
    """A rule for other engines and editors."""
    rule = await learning.rules.get(caller, rule_id)
    data = await learning.turns.run(caller, lambda: write_dmn(rule.table, name=rule.name).encode())
    return download(data, f"{rule.name}.dmn", XML, {"ETag": _tag(rule)})


@router.get("/rules/{rule_id}", summary="Read a decision rule")
async def get_rule(rule_id: str, learning: Learning, caller: Caller, response: Response) -> Success[RuleSchema]:
    rule = await learning.rules.get(caller, rule_id)
    response.headers["ETag"] = _tag(rule)
    return Success(data=RuleSchema.told(rule))


@router.put(
    "/rules/{rule_id}", summary="Change a decision rule", responses=errors(409, 413), openapi_extra=either(RuleUpdate)
)
async def update_rule(
    rule_id: str, body: ChangedRule, learning: Learning, caller: Caller, why: Reason, base: Base
) -> Success[RuleChange]:
    """Set its table, name or description, as a new version; past cases that it would decide otherwise are told, and a
    table that breaks a pinned one is refused.
    """
    wish = RuleWish(
        operation=Operation.UPDATE,
        rule_id=rule_id,
        name=body.name,
        description=body.description,
        table=body.table,
        merge_mode=MergeMode(body.merge_mode),
        base=base,
    )
    told: RuleChange | None = None
    if body.model_fields_set & {"name", "description", "table"}:
        told = await _change(learning, caller, wish, why)
    if body.locked is not None:
        rule = RuleSchema.told(await learning.rules.lock(by_hand(caller, why), rule_id, locked=body.locked))
        told = told.model_copy(update={"rule": rule}) if told else _untouched(rule)
    return Success(data=told or _untouched(RuleSchema.told(await learning.rules.get(caller, rule_id))))


@router.delete("/rules/{rule_id}", summary="Delete a decision rule", responses=errors(409))
async def delete_rule(rule_id: str, learning: Learning, caller: Caller, why: Reason, base: Base) -> Success[RuleChange]:
    """Take a rule away; undoing its entry in the history brings it back."""
    wish = RuleWish(operation=Operation.DELETE, rule_id=rule_id, base=base)
    return Success(data=await _change(learning, caller, wish, why))


@router.post("/rules/{rule_id}/evaluate", summary="Decide a case")
async def evaluate_rule(rule_id: str, body: RuleCase, learning: Learning, caller: Caller) -> Success[DecidedSchema]:
    """What a rule says to some inputs, and by which of its rows."""
    rule, decided = await learning.rules.evaluate(caller, rule_id, body.inputs, keep=body.keep)
    return Success(data=DecidedSchema(**decided.as_dict(), version=rule.version))


@router.get("/rules/{rule_id}/versions", summary="The versions of a decision rule")
async def list_rule_versions(rule_id: str, learning: Learning, caller: Caller) -> Listed[RuleVersionSchema]:
    """The newest first."""
    return Listed(data=[RuleVersionSchema.of(each) for each in await learning.rules.versions(caller, rule_id)])


@router.get("/rules/{rule_id}/cases", summary="The cases of a decision rule", dependencies=[Depends(not_kept)])
async def list_rule_cases(rule_id: str, learning: Learning, caller: Caller) -> Listed[RuleCaseSchema]:
    """What it decided: the pinned ones, then the latest."""
    return Listed(data=[RuleCaseSchema.of(each) for each in await learning.rules.cases(caller, rule_id)])


@router.post("/rules/{rule_id}/cases/{case_id}/pin", summary="Keep a case as an example")
async def pin_rule_case(
    rule_id: str, case_id: str, learning: Learning, caller: Caller, body: CasePin | None = None
) -> Success[RuleCaseSchema]:
    """Have a case hold whatever the rule becomes, or no longer."""
    await learning.rules.pin(caller, rule_id, case_id, pinned=body.pinned if body else True)
    for case in await learning.rules.cases(caller, rule_id):
        if case.id == case_id:
            return Success(data=RuleCaseSchema.of(case))
    raise NotFoundError(
        f"The rule has no case {case_id[:64]!r}.", hint=f"List them: /api/v1/rules/{rule_id[:64]}/cases"
    )


async def _change(learning: LearningRooms, caller: Principal, wish: RuleWish, why: Why) -> RuleChange:
    draft = by_whom_may(caller, await learning.drafting.draft(caller, wish))
    present = await learning.rules.get(caller, wish.rule_id) if wish.rule_id else None
    if present is not None and wish.operation is Operation.UPDATE and draft.content == present.state:
        require_base(wish.base, present.version, {"version": present.version})
        caller.require_scope(Scope.PUBLISH)
        return RuleChange.made(Committed(effects=()), draft, present)
    result = await learning.commits.commit(by_hand(caller, why), draft)
    made = made_id(result, draft)
    return RuleChange.made(result, draft, None if made is None else await learning.rules.get(caller, made))


def _untouched(rule: RuleSchema) -> RuleChange:
    return RuleChange(state="committed", effects=[], proposal_id=None, warnings=[], rule=rule)


def _tag(rule: DecisionRule) -> str:
    return tag_of(rule.version, rule.updated_at.isoformat())
