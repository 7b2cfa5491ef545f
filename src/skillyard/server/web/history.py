"""The history: what happened, who did it and why; each change with what it did to the files, and undone from here."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query, Response

from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.history import LARGEST, Number, get_entry, list_history
from skillyard.server.web.draft_changes import state_change
from skillyard.server.web.forms import Posted
from skillyard.server.web.page import Page, PageRouter, go_to

router = PageRouter()


@router.page("/history")
async def history(
    yard: TheYard,
    caller: Caller,
    skill: Annotated[str, Query(max_length=400)] = "",
    actor: Annotated[str, Query(max_length=64)] = "",
    before: Annotated[int | None, Query(ge=1, le=LARGEST)] = None,
) -> Page:
    """What happened to what the caller may see, the newest first."""
    page = await list_history(yard, caller, skill=skill or None, actor=actor or None, before=before)
    return Page(
        "history.html",
        {"chosen": {"skill": skill, "actor": actor}, "entries": page.data, "next_cursor": page.next_cursor},
    )


@router.page("/history/{number}")
async def entry(number: Number, yard: TheYard, caller: Caller, view: Annotated[str, Query(max_length=16)] = "") -> Page:
    found = (await get_entry(number, yard, caller)).data
    extra = {
        "view": view,
        "change": await state_change(found),
        "facts": _facts(found.before or {}, found.after or {}),
        "may_undo": await yard.registry.chronicle.may_undo(caller, number),
    }
    return Page("entry.html", {"entry": found}, extra=extra)


@router.post("/history/{number}/undo", response_model=None)
async def undo(number: Number, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Take a change back; that is a change, too."""
    made = await yard.registry.chronicle.undo(caller, number, why=form.why)
    return go_to(f"/history/{made.number}", done="undone")


def _facts(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What is known of either state, by name, what differs first."""
    names = {**after, **before}
    facts = [{"name": name, "is_changed": before.get(name) != after.get(name)} for name in names]
    return sorted(facts, key=lambda fact: not fact["is_changed"])
