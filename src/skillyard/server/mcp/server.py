"""The MCP server: which method is answered by what."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, TypeVar

import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

import skillyard
from skillyard.errors import LimitError
from skillyard.server.mcp.completions import completed
from skillyard.server.mcp.errors import mcp_error
from skillyard.server.mcp.guests import Guests, Visit
from skillyard.server.mcp.introduction import EXTENSION, NAME, SETTINGS, TITLE, instructions
from skillyard.server.mcp.news import MOST_WATCHED
from skillyard.server.mcp.progress import told_to
from skillyard.server.mcp.prompts import listed_prompts, prompt_of
from skillyard.server.mcp.resources import listed_resources, listed_templates, read_resource
from skillyard.server.mcp.skills_extension import (
    GetSkillParams,
    ReadDirectoryParams,
    get_skill,
    list_skills,
    read_directory,
)
from skillyard.server.mcp.threads import aside
from skillyard.server.mcp.tools import called, listed_tools, tool_named
from skillyard.skill.paths import printable

_log: Final = logging.getLogger(__name__)
Context = ServerRequestContext[Any, Any]
P = TypeVar("P", bound=BaseModel)
_LONGEST_AGENT: Final = 100
"""Characters of the name of a client that are kept."""


class SkillServer(Server[Any]):
    """The server of the SDK, with the handlers of one kind of guests."""

    def __init__(self, guests: Guests) -> None:
        self._guests = guests
        super().__init__(
            NAME,
            version=skillyard.__version__,
            title=TITLE,
            # Headers that repeat arguments are for tools that declare some; the SDK would list all tools to find out.
            get_tool_input_schema=lambda _name: None,
            on_list_tools=self._answering(lambda visit, _: listed_tools(visit)),
            on_call_tool=self._call_tool,
            on_list_resources=self._answering(
                lambda visit, params: listed_resources(visit.guest.source, _cursor(params)),
            ),
            on_list_resource_templates=self._answering(lambda _visit, _params: listed_templates()),
            on_read_resource=self._answering(
                lambda visit, params: read_resource(
                    visit.guest.source, params.uri, session=visit.guest.session, agent=visit.agent
                )
            ),
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen,
            on_list_prompts=self._answering(lambda visit, params: listed_prompts(visit.guest.source, _cursor(params))),
            on_get_prompt=self._answering(
                lambda visit, params: prompt_of(
                    visit.guest.source,
                    params.name,
                    params.arguments,
                    session=visit.guest.session,
                    agent=visit.agent,
                    place=visit.guest.place,
                )
            ),
            on_completion=self._answering(lambda visit, params: completed(visit.guest.source, params)),
        )
        self.extensions[EXTENSION] = SETTINGS
        self.add_request_handler(
            "skills/list",
            types.PaginatedRequestParams,
            self._answering(
                lambda visit, params: list_skills(visit.guest.source, visit.guest.manifests, params.cursor)
            ),
        )
        self.add_request_handler(
            "skills/get",
            GetSkillParams,
            self._answering(lambda visit, params: get_skill(visit.guest.source, params.uri)),
        )
        self.add_request_handler(
            "resources/directory/read",
            ReadDirectoryParams,
            self._answering(lambda visit, params: read_directory(visit.guest.source, params.uri, params.cursor)),
        )
        self.middleware.append(self._introduce)

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """What older clients are told at the start: that they will be notified."""
        told = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        return super().create_initialization_options(
            notification_options or told, experimental_capabilities, extensions
        )

    def _answering(self, answer: Callable[[Visit, Any], Any]) -> Callable[[Context, Any], Awaitable[Any]]:
        """A handler that finds out who asks, and answers in a thread."""

        async def handler(context: Context, params: Any) -> Any:  # noqa: ANN401 -- of the kind that the method has
            return await aside(partial(answer, await self._visit(context), params))

        return handler

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        visit = await self._visit(context)
        tool = await aside(partial(tool_named, visit.toolbox, params.name))
        async with told_to(context.session):
            return await aside(partial(called, tool, params.arguments or {}), visit.guest.calls)

    async def _visit(self, context: Context) -> Visit:
        client = context.session.client_params
        agent = printable(client.client_info.name).strip()[:_LONGEST_AGENT] if client else ""
        return Visit(guest=await self._guests.guest_of(context), agent=agent)

    async def _listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        guest = await self._guests.guest_of(context)
        return await guest.news.listen(context, params)

    async def _subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        guest = await self._guests.guest_of(context)
        watched = await guest.news.tell(_connection(context))
        if len(watched) >= MOST_WATCHED:
            raise mcp_error(
                LimitError(
                    f"You follow {MOST_WATCHED:,} resources; no more are taken.",
                    hint="Unsubscribe from some, or follow the list of resources.",
                    details={"limit": MOST_WATCHED},
                )
            )
        watched.add(params.uri)
        return types.EmptyResult()

    async def _unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        guest = await self._guests.guest_of(context)
        (await guest.news.tell(_connection(context))).discard(params.uri)
        return types.EmptyResult()

    async def _introduce(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Tell a client of its tools, and have older ones told of changes from the start; newer ones subscribe."""
        if ctx.method in {"initialize", "server/discover"}:
            greeting = await call_next(ctx)
            guest = await self._guests.guest_of(ctx)
            assert isinstance(greeting, dict)  # noqa: S101 -- as the SDK writes it for the wire
            return {**greeting, "instructions": instructions(guest.toolsets)}
        if ctx.method == "notifications/initialized" and ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            guest = await self._guests.guest_of(ctx)
            try:
                await guest.news.tell(_connection(ctx))
            except MCPError as error:  # nobody waits for an answer to this, and whatever is asked next says it again
                _log.info("a client is not told of changes: %s", error)
        return await call_next(ctx)


def _cursor(params: types.PaginatedRequestParams | None) -> str | None:
    return params.cursor if params else None


def _connection(context: Context) -> Connection:
    # The SDK shows handlers the connection in no other way, and only it knows when it ends.
    return context.session._connection  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
