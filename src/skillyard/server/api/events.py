"""The change feed, live, as server-sent events."""

from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Header, Request

from skillyard.errors import NotAllowedError, UnauthenticatedError
from skillyard.registry.chronicle import Chronicle, FeedItem
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.changes import Since
from skillyard.server.api.history import LARGEST
from skillyard.server.api.history_schemas import ChangeSchema
from skillyard.server.api.shapes import BEARER, errors
from skillyard.server.auth import Admit
from skillyard.server.streams import EventStream, Streams

router = APIRouter(prefix="/api/v1", tags=["changes"], responses=errors(), dependencies=[BEARER])

_HELLO: Final = b"retry: 2000\n: skillyard\n\n"


async def _streams(request: Request) -> Streams:
    return request.app.state.streams


@router.get(
    "/events",
    status_code=200,
    response_class=EventStream,
    responses={200: {"content": {"text/event-stream": {}}, "description": "It lasts until it is closed."}},
)
async def follow(
    request: Request,
    yard: TheYard,
    caller: Caller,
    streams: Annotated[Streams, Depends(_streams)],
    since: Since | None = None,
    last_event_id: Annotated[str, Header(description="Where an earlier stream ended; it goes before `since`.")] = "",
) -> EventStream:
    """Every change the caller may know of, as it is committed: after `since`, else from now on.

    Events are named `change` and `removed`; their data is that of `GET /changes`, their id the number of the change.
    The stream ends when the caller's token does.
    """
    latest = await yard.database.number()
    start = _number(last_event_id)
    if start is None:
        start = latest if since is None else since
    over = streams.begin(caller.person_id)
    events = _events(yard.registry.chronicle, streams, request.state.admit, min(start, latest))
    return EventStream(events, over=over)


async def _events(chronicle: Chronicle, streams: Streams, admit: Admit, number: int) -> AsyncIterator[bytes]:
    yield _HELLO
    while not streams.closed:
        try:
            principal = (await admit()).principal
            page = await chronicle.feed(principal, since=number)
            if (await admit()).principal != principal:
                continue  # the caller's rights changed while the page was read: it may hold too much
        except (UnauthenticatedError, NotAllowedError):
            return
        for item in page.items:
            yield _event(item)
        if page.next == number:
            await streams.news(number)
            # Also a reader who was told nothing goes on from here when the connection breaks.
            yield b": alive\nid: %d\n\n" % number
        number = page.next


def _event(item: FeedItem) -> bytes:
    change = ChangeSchema.of(item)
    data = change.model_dump_json(exclude_none=True)
    return f"id: {change.number}\nevent: {change.type}\ndata: {data}\n\n".encode()


def _number(last_event_id: str) -> int | None:
    if not last_event_id.isascii() or not last_event_id.isdigit():
        return None
    return min(int(last_event_id[:20]), LARGEST)
