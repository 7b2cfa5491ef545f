"""Telling clients that skills changed: through subscriptions, and older ones by plain notifications."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Final

from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import event_to_notification
from mcp_types import SubscriptionsListenRequestParams, SubscriptionsListenResult

from skillyard.agents.changes import SkillChanges, changes_between
from skillyard.agents.source import SkillSource
from skillyard.errors import SkillyardError, UnavailableError
from skillyard.server.mcp.errors import mcp_error
from skillyard.server.mcp.manifests import files_of
from skillyard.server.mcp.threads import aside
from skillyard.server.mcp.uris import file_uri, skill_ids_in

MOST_UPDATED: Final = 100
"""Of so many changed skills each file is told of; whoever follows more looks at the list."""
LOOKS_AT_ALL: Final = 60
"""Of so many looks one is at every file: not every source is told of a change to one beside `SKILL.md`."""
MOST_WATCHED: Final = 1_000
"""Addresses that one older client may subscribe to."""

_log = logging.getLogger(__name__)


class News:
    """What is new for one client. Skills are looked after only while somebody wants to know.

    `wait` comes back when there may be something new, or after some time. `begin` counts one more stream, answers
    with what ends the count, and refuses when there are too many.
    """

    def __init__(
        self,
        source: SkillSource,
        wait: Callable[[], Awaitable[None]],
        *,
        tools: bool,
        begin: Callable[[], Callable[[], None]] | None = None,
    ) -> None:
        self._source = source
        self._wait = wait
        self._begin = begin
        self._tools = tools
        """Whether the tools change with the skills."""
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._older: dict[Connection, set[str]] = {}
        """Clients that get plain notifications, and the addresses they subscribed to."""
        self._streams: list[list[str]] = []
        """The addresses that each stream of events is asked to tell of."""
        self._holders = 0
        self._following: asyncio.Task[None] | None = None
        self._begun: asyncio.Future[None] | None = None

    async def listen(
        self, context: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve one stream of events until the client ends it."""
        try:
            over = self._begin() if self._begin else None
        except SkillyardError as error:
            raise mcp_error(error) from error
        watched = params.notifications.resource_subscriptions or []
        self._streams.append(watched)
        try:
            async with self._held():
                return await self._listen(context, params)
        finally:
            self._streams.remove(watched)
            if over is not None:
                over()

    async def tell(self, connection: Connection) -> set[str]:
        """Send an older client notifications for as long as it is there; of these addresses each by itself."""
        if connection not in self._older:
            self._older[connection] = set()
            connection.exit_stack.callback(self._older.pop, connection, None)
            try:
                await connection.exit_stack.enter_async_context(self._held())
            except MCPError:
                self._older.pop(connection, None)  # it may ask again
                raise
        elif self._begun is not None:
            await asyncio.shield(self._begun)  # it said hello a moment ago, and the first look is under way
        return self._older.get(connection, set())

    def close(self) -> None:
        """End every stream, and say so."""
        self._listen.close()
        if self._following is not None:
            self._following.cancel()

    @asynccontextmanager
    async def _held(self) -> AsyncGenerator[None]:
        self._holders += 1
        try:
            if self._following is None or self._following.done():
                self._begun = asyncio.get_running_loop().create_future()
                self._following = asyncio.create_task(self._follow(self._begun))
            if self._begun is not None:
                # The first look is over before anything is promised: what changes from now on is told.
                await asyncio.shield(self._begun)
            yield
        finally:
            self._holders -= 1
            if not self._holders and self._following is not None:
                self._following.cancel()
                self._following = None

    async def _follow(self, begun: "asyncio.Future[None]") -> None:
        stamp, before = "", dict[str, str]()
        try:
            stamp = await aside(self._source.stamp)
            before = await aside(self._source.snapshot)
        except MCPError as error:
            if not _is_away(error):
                begun.set_exception(error)
                return
            stamp = ""  # whatever is there when it is back is new
        finally:
            if not begun.done():
                begun.set_result(None)
        for turn in count(1):
            await self._wait()
            try:
                seen = await aside(self._source.stamp)
                if seen == stamp and turn % LOOKS_AT_ALL:
                    continue
                after = await aside(self._source.snapshot)
                changes = changes_between(before, after)
                if changes:
                    await self._publish(changes)
                stamp, before = seen, after
            except MCPError as error:
                if _is_away(error):
                    continue  # what changes meanwhile is told when it is back
                # The client's rights ended, or the skills cannot be read: nothing more can be told.
                _log.info("a client is told no more of changes: %s", error)
                self._listen.close()
                return

    async def _publish(self, changes: SkillChanges) -> None:
        lists: list[ServerEvent] = [ResourcesListChanged(), PromptsListChanged()]
        if self._tools:
            lists.append(ToolsListChanged())
        watched = {uri for uris in (*self._streams, *self._older.values()) for uri in uris}
        updated = await aside(lambda: self._updated(changes, watched))
        for event in (*lists, *updated):
            await self._bus.publish(event)
        for connection, watched in list(self._older.items()):
            for event in (*lists, *(event for event in updated if event.uri in watched)):
                notification = event_to_notification(event, {})
                dumped = notification.model_dump(by_alias=True, mode="json", exclude_none=True)
                await connection.notify(dumped["method"], dumped.get("params"))

    def _updated(self, changes: SkillChanges, watched: set[str]) -> list[ResourceUpdated]:
        """Every file of what changed, and what somebody watches of it: that may be gone."""
        changed = {*changes.added, *changes.updated, *changes.removed}
        uris = dict.fromkeys(uri for uri in sorted(watched) if changed & skill_ids_in(uri))
        # One that was away for a moment, while its file was written, comes back as a new one.
        for skill_id in (*changes.updated, *changes.added)[:MOST_UPDATED]:
            found = self._source.find(skill_id)
            if found is not None:
                uris |= dict.fromkeys(file_uri(found, path) for path in files_of(self._source, found))
        return [ResourceUpdated(uri=uri) for uri in uris]


def _is_away(error: MCPError) -> bool:
    """Whether the skills cannot be reached for the moment."""
    return isinstance(error.__cause__, UnavailableError)
