"""Decision rules: the list of them, and making one, by hand or of a file."""

from typing import Annotated, Any, Final

from fastapi import Query, Response

from skillyard.app.yard import Yard
from skillyard.errors import SkillyardError
from skillyard.identity.principals import Principal, Scope
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.rule_schemas import RuleCreate
from skillyard.server.api.rules import create_rule, list_rules
from skillyard.server.web.bodies import body_of
from skillyard.server.web.forms import Form, Posted
from skillyard.server.web.learning import LEARNING
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.server.web.rule_editor import edited_in, editor_of, found_in, table_in
from skillyard.server.web.rule_form import EnteredColumn, EnteredRow, EnteredTable, entered_in

RULES: Final = f"{LEARNING}/rules"
_BEGUN: Final = EnteredTable(
    inputs=(EnteredColumn(),), outputs=(EnteredColumn(),), rows=(EnteredRow(id="r1", when=("-",), then=("",)),)
)
_WORDS: Final = ("name", "description", "agent", "reason")

router = PageRouter()


@router.page(RULES)
async def rules(yard: TheYard, caller: Caller, agent: Annotated[str, Query(max_length=64)] = "") -> Page:
    """All of them by name, or what one agent goes by."""
    found = (await list_rules(yard.learning, caller, agent or None)).data
    return Page(
        "learning/rules.html",
        {"chosen": {"agent": agent}, "rules": found},
        extra={"agents": await yard.registry.agents.all(caller)},
    )


@router.page(f"{RULES}/new")
async def new(yard: TheYard, caller: Caller) -> Page:
    caller.require_scope(Scope.WRITE)
    return await _page(yard, caller, {}, _BEGUN)


@router.post(f"{RULES}/new", response_model=None)
async def create(form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Make the rule that was entered, look it over, change its rows, or take it from a file."""
    do = form.text("do")
    words = {name: form.text(name) for name in _WORDS}
    try:
        if do == "read":
            name, entered = await table_in(yard, caller, form.uploads.get("file"))
            return await _page(yard, caller, {"name": name}, entered)
    except SkillyardError as error:
        return await _page(yard, caller, words, _BEGUN, error)
    if do != "save":
        edited = await edited_in(yard, caller, form)
        return await _page(yard, caller, words, edited.table, refused=edited.refused)
    return await _save(yard, caller, form, words)


async def _save(yard: Yard, caller: Principal, form: Form, words: dict[str, str]) -> Response:
    entered = entered_in(form)
    try:
        body = body_of(
            RuleCreate,
            name=form.required("name"),
            description=words["description"],
            agent_id=words["agent"] or None,
            table=entered.document,
        )
        made = (await create_rule(body, yard, yard.learning, caller, form.why)).data
    except SkillyardError as error:
        return await _page(yard, caller, words, entered, error)
    if made.rule is None:
        return go_to(f"{LEARNING}/proposals/{made.proposal_id}", done="proposed")
    return go_to(f"{RULES}/{made.rule.id}", done="rule_made")


async def _page(
    yard: Yard,
    caller: Principal,
    words: dict[str, str],
    entered: EnteredTable,
    problem: SkillyardError | None = None,
    *,
    refused: str = "",
) -> Page:
    found = await found_in(yard, caller, entered)
    shown: dict[str, Any] = {**dict.fromkeys(_WORDS, ""), **words}
    return Page(
        "learning/rule_new.html",
        {"entered": shown, "found": found},
        extra={
            "editor": editor_of(entered, found, problem, refused=refused),
            "agents": await yard.registry.agents.all(caller),
            "problem": problem.as_public_dict() if problem else None,
        },
        status=problem.http_status if problem else 200,
    )
