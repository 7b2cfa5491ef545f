"""What happens in sandboxes, as it happens, for the pages that show it."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

from fastapi import APIRouter, Request

from skillyard.app.yard import Yard
from skillyard.errors import NotAllowedError, NotFoundError, UnauthenticatedError
from skillyard.identity.principals import Principal
from skillyard.sandbox.onlookers import Begun, Onlooker, Seen, Wrote
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.auth import Admit
from skillyard.server.streams import EventStream, Streams
from skillyard.server.web.sandbox import SANDBOX, TheSandbox
from skillyard.server.web.sandboxes import SANDBOXES

_LOOK_SECONDS: Final = 2.0
"""How long a change that nobody tells of stays unseen, as one that another process makes."""
_HELLO: Final = b"retry: 2000\n: skillyard\n\n"
_LISTED: Final = 50

router = APIRouter(include_in_schema=False)


@router.get(f"{SANDBOXES}/live", response_model=None)
async def follow_all(request: Request, yard: TheYard, caller: Caller) -> EventStream:
    """Says when something in the list is not as it was."""

    async def state(principal: Principal) -> object:
        page = await yard.sandboxes.sandboxes.page(principal, limit=_LISTED)
        return [(one.id, one.status, one.expires_at) for one in page.sandboxes]

    return _stream(request, yard, caller, sandbox_id="", state=state)


@router.get(f"{SANDBOX}/live", response_model=None)
async def follow(sandbox: TheSandbox, request: Request, yard: TheYard, caller: Caller) -> EventStream:
    """What begins, writes and ends in one sandbox, whoever asked for it; and when its state changes."""

    async def state(principal: Principal) -> object:
        now = await yard.sandboxes.sandboxes.get(principal, sandbox.id)
        return now.status, now.expires_at, now.error, now.skills_injected_at

    return _stream(request, yard, caller, sandbox_id=sandbox.id, state=state)


def _stream(
    request: Request,
    yard: Yard,
    caller: Principal,
    *,
    sandbox_id: str,
    state: Callable[[Principal], Awaitable[object]],
) -> EventStream:
    streams: Streams = request.app.state.streams
    over = streams.begin(caller.person_id)

    async def events() -> AsyncIterator[bytes]:
        yield _HELLO
        with yard.sandboxes.onlookers.looking_at(sandbox_id) as onlooker:
            async for event in _events(onlooker, streams, request.state.admit, state):
                yield event

    return EventStream(events(), over=over)


async def _events(
    onlooker: Onlooker, streams: Streams, admit: Admit, state: Callable[[Principal], Awaitable[object]]
) -> AsyncIterator[bytes]:
    known: object = None
    while not streams.closed:
        try:
            now = await state((await admit()).principal)
        except (UnauthenticatedError, NotAllowedError):
            return
        except NotFoundError:
            yield _event("gone", {})
            return
        if known not in (None, now):
            yield _event("changed", {})
        known = now
        seen = await onlooker.look(_LOOK_SECONDS)
        for each in seen:
            yield _told(each)
        if not seen:
            yield b": alive\n\n"


def _told(seen: Seen) -> bytes:
    if isinstance(seen, Begun):
        return _event("begun", {"run": seen.run_id, "kind": seen.exec_type, "code": seen.code})
    if isinstance(seen, Wrote):
        return _event("wrote", {"run": seen.run_id, "stream": seen.stream, "text": seen.text})
    return _event("ended", {"run": seen.run_id})


def _event(name: str, data: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
