"""What is remembered: for whom, where it comes from, and adding, changing and forgetting it by hand."""

from typing import Annotated, Any, Final

from fastapi import Query, Response

from skillyard.app.yard import Yard
from skillyard.errors import SkillyardError
from skillyard.identity.principals import Principal
from skillyard.learning.places import may_change
from skillyard.learning.recall import MAX_RECALLED
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.history import list_history
from skillyard.server.api.learning_shapes import Cursor
from skillyard.server.api.memories import (
    MemoryChange,
    MemoryCreate,
    MemoryJudgement,
    MemorySchema,
    MemoryUpdate,
    create_memory,
    delete_memory,
    judge_memory,
    list_memories,
    update_memory,
)
from skillyard.server.web.bodies import body_of
from skillyard.server.web.forms import Form, Posted
from skillyard.server.web.learning import LEARNING
from skillyard.server.web.page import Page, PageRouter, go_to

MEMORIES: Final = f"{LEARNING}/memories"
MEMORY: Final = f"{MEMORIES}/{{memory_id}}"
_PER_PAGE: Final = 100
_FIELDS: Final = ("text", "agent", "expires")

router = PageRouter()


@router.page(MEMORIES)
async def memories(
    yard: TheYard,
    caller: Caller,
    q: Annotated[str, Query(max_length=2000)] = "",
    agent: Annotated[str, Query(max_length=64)] = "",
    everything: bool = False,
    cursor: Cursor = 0,
) -> Page:
    """What fits a question, best first; without one, all of it by whom it is for."""
    return await _list_page(yard, caller, q=q, agent=agent, everything=everything, cursor=cursor)


@router.post(MEMORIES, response_model=None)
async def remember(form: Posted, yard: TheYard, caller: Caller) -> Response:
    entered = {name: form.text(name).strip() for name in _FIELDS}
    try:
        body = body_of(
            MemoryCreate,
            text=form.required("text"),
            agent_id=entered["agent"] or None,
            expires_at=entered["expires"] or None,
        )
        made = (await create_memory(body, yard, yard.learning, caller, form.why)).data
    except SkillyardError as error:
        return await _list_page(yard, caller, entered=entered, problem=error)
    return _after(made, MEMORIES, done="remembered")


@router.page(MEMORY)
async def memory(memory_id: str, yard: TheYard, caller: Caller) -> Page:
    return await _page(yard, caller, memory_id)


@router.post(MEMORY, response_model=None)
async def change(memory_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Say it otherwise, hold it against lessons, count that it helped, or forget it."""
    do = form.text("do")
    base = form.text("base") or None
    try:
        if do == "forget":
            made = (await delete_memory(memory_id, yard.learning, caller, form.why, base)).data
            return _after(made, MEMORIES, done="forgotten")
        if do in {"helpful", "harmful"}:
            await judge_memory(memory_id, body_of(MemoryJudgement, verdict=do), yard.learning, caller)
            return go_to(f"{MEMORIES}/{memory_id}", done="counted")
        body = body_of(MemoryUpdate, **_changed(form, do))
        made = (await update_memory(memory_id, body, yard.learning, caller, form.why, base)).data
    except SkillyardError as error:
        return await _page(yard, caller, memory_id, form=form, problem=error)
    at = f"{MEMORIES}/{made.memory.id if made.memory else memory_id}"
    return _after(made, at, done={"lock": "locked", "unlock": "unlocked"}.get(do, "saved"))


def _changed(form: Form, do: str) -> dict[str, Any]:
    if do in {"lock", "unlock"}:
        return {"locked": do == "lock"}
    return {"text": form.required("text"), "expires_at": form.text("expires").strip() or None}


def _after(made: MemoryChange, path: str, *, done: str) -> Response:
    """To what was changed, or to where that waits for someone's word."""
    if made.proposal_id is not None:
        return go_to(f"{LEARNING}/proposals/{made.proposal_id}", done="proposed")
    return go_to(path, done=done)


async def _list_page(
    yard: Yard,
    caller: Principal,
    *,
    q: str = "",
    agent: str = "",
    everything: bool = False,
    cursor: int = 0,
    entered: dict[str, str] | None = None,
    problem: SkillyardError | None = None,
) -> Page:
    following = None
    if q.strip():
        found = await yard.learning.recall.recall(caller, q, agent_id=agent or None, limit=MAX_RECALLED)
        shown, total = [MemorySchema.of(each) for each in found], len(found)
    else:
        listed = await list_memories(yard.learning, caller, agent or None, everything, cursor, _PER_PAGE)
        shown, total, following = listed.data, listed.total, listed.next_cursor
    return Page(
        "learning/memories.html",
        {
            "chosen": {"q": q, "agent": agent, "everything": everything},
            "memories": shown,
            "total": total,
            "next_cursor": following,
        },
        extra={
            "scopes": _by_scope(shown) if not q.strip() else [("", shown)],
            "agents": await yard.registry.agents.all(caller),
            "entered": {**dict.fromkeys(_FIELDS, ""), **(entered or {})},
            "problem": problem.as_public_dict() if problem else None,
        },
        status=problem.http_status if problem else 200,
    )


def _by_scope(memories: list[MemorySchema]) -> list[tuple[str, list[MemorySchema]]]:
    """Those for every agent first, then agent by agent; within each the newest first."""
    scopes: dict[str, list[MemorySchema]] = {}
    for each in memories:
        scopes.setdefault(each.agent_id or "", []).append(each)
    return sorted(scopes.items())


async def _page(
    yard: Yard,
    caller: Principal,
    memory_id: str,
    *,
    form: Form | None = None,
    problem: SkillyardError | None = None,
) -> Page:
    present = await yard.learning.memories.get(caller, memory_id)
    found = MemorySchema.of(present)
    past = await list_history(yard, caller, subject_kind="memory", subject_id=memory_id)
    expires = found.expires_at.strftime("%Y-%m-%dT%H:%M") if found.expires_at else ""
    return Page(
        "learning/memory.html",
        {"memory": found, "history": past.data},
        extra={
            "may_change": may_change(caller, present.place, locked=present.locked),
            "may_judge": may_change(caller, present.place),
            "base": form.text("base") if form else found.updated_at.isoformat(),
            "entered": {
                "text": form.text("text", found.text) if form else found.text,
                "expires": form.text("expires", expires) if form else expires,
            },
            "problem": problem.as_public_dict() if problem else None,
        },
        status=problem.http_status if problem else 200,
    )
