"""How the server introduces itself and its tools, without the MCP SDK: importing that takes longer than clients wait.

Only what is plainly one of the requests with which connections begin is answered here, and as the SDK would answer it.
The SDK reads the introduction too, once it is there, and answers everything else.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import skillyard

NAME: Final = "skillyard"
TITLE: Final = "Skillyard"
_ALWAYS: Final = (
    "Skills are folders of instructions, scripts and references for kinds of tasks. Every file of a skill is a "
    "resource, skill://<skill>/<path>, and every skill a prompt."
)
_OF_TOOLSETS: Final = {
    "skills": "Before a task, look whether a skill fits: the tool `skill` lists them, `search_skills` finds them. Load "
    "it, then do as it says.",
    "registry": "Skills of the yard are found, read, written and published with the tools of its registry.",
    "sandbox": "Commands, code and web pages run in sandboxes: `create_sandbox` makes one.",
    "releases": "Skills learned from runs are found with `search_learned_skills` and run with `run_skill`; say how a "
    "task went with `report_skill_outcome`.",
    "learning": "What people say about your work is taken up as feedback, and what was learned of it is there to be "
    "recalled.",
}
EXTENSION: Final = "io.modelcontextprotocol/skills"
"""The Skills extension of MCP (SEP-2640)."""
SETTINGS: Final[dict[str, Any]] = {"directoryRead": True}
FRESH: Final[dict[str, Any]] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
"""Skills change at any time, and what one sees is no one else's business."""
HANDSHAKES: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The versions of the protocol whose connections begin with `initialize`."""
MODERN: Final = "2026-07-28"
"""The version whose requests tell each for itself who asks."""

_SERVER: Final = {"name": NAME, "title": TITLE, "version": skillyard.__version__}
_CAPABILITIES: Final[dict[str, Any]] = {
    "completions": {},
    "prompts": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "tools": {"listChanged": True},
}
_META: Final = "io.modelcontextprotocol/"
_HALF_A_CHARACTER: Final = re.compile(rb"\\u[dD][89a-fA-F]")
"""JSON can spell one without its other half, which is no text for the SDK."""
_MOST_BRACKETS: Final = 100
"""As deep as that the SDK surely reads."""

Fields = dict[str, object]
Check = Callable[[object], bool]


@dataclass(frozen=True, kw_only=True)
class Introduction:
    """The answer to the first request of a connection."""

    request: str | int
    line: bytes
    is_modern: bool
    """Whether each request says for itself who asks: then no other has to come before it."""


def instructions(toolsets: Sequence[str]) -> str:
    """What a server tells its client at the start: of the tools that it has, and no others."""
    return " ".join([_ALWAYS, *(_OF_TOOLSETS[name] for name in toolsets)])


def introduction(line: bytes, told: str) -> Introduction | None:
    """The answer to a line, if it is plainly the first of a connection; the rest is left to the SDK."""
    fields = _message(line)
    if fields is None:
        return None
    request, method, params = fields["id"], fields["method"], fields["params"]
    if method == "initialize" and _HANDSHAKE(params):
        result = _greeted(params["protocolVersion"], told)
    elif method == "server/discover" and _DISCOVERY(params):
        result = _discovered(told)
    else:
        return None
    return Introduction(request=request, line=_answer(request, result), is_modern=method == "server/discover")


def begins_session(line: bytes) -> bool:
    """Whether a client says that it has read the introduction, after which it may ask for anything."""
    return b'"notifications/initialized"' in line and b'"id"' not in line


def listing_request(line: bytes, *, is_modern: bool) -> str | int | None:
    """The request, if a line plainly asks for all tools."""
    fields = _message(line) if b'"tools/list"' in line else None
    if fields is None or fields["method"] != "tools/list":
        return None
    return fields["id"] if (_MODERN_LISTING if is_modern else _LISTING)(fields["params"]) else None


def listing(request: str | int, tools: Sequence[Fields], *, is_modern: bool) -> bytes:
    """The answer with these tools."""
    around = {**FRESH, "_meta": {f"{_META}serverInfo": _SERVER}} if is_modern else {}
    return _answer(request, {"tools": tools, **around})


def _message(line: bytes) -> dict[str, Any] | None:
    if not _is_plain(line):
        return None
    try:
        message: object = json.loads(line.decode(), parse_constant=_no_constant)
    except ValueError:
        return None
    return {"params": {}, **cast("dict[str, Any]", message)} if _MESSAGE(message) else None


def _answer(request: str | int, result: Fields) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request, "result": result}, separators=(",", ":")).encode() + b"\n"


def _greeted(version: str, told: str) -> dict[str, Any]:
    return {
        "capabilities": _CAPABILITIES,
        "instructions": told,
        "protocolVersion": version if version in HANDSHAKES else HANDSHAKES[-1],
        "serverInfo": _SERVER,
    }


def _discovered(told: str) -> dict[str, Any]:
    return {
        **FRESH,
        "capabilities": {**_CAPABILITIES, "extensions": {EXTENSION: SETTINGS}},
        "instructions": told,
        "supportedVersions": [MODERN],
        "_meta": {f"{_META}serverInfo": _SERVER},
    }


def _is_plain(line: bytes) -> bool:
    """Whether every reader of JSON takes the line for the same."""
    return (
        b"\r" not in line.rstrip(b"\r")  # which ends a line, for the SDK
        and line.count(b"{") + line.count(b"[") <= _MOST_BRACKETS
        and not _HALF_A_CHARACTER.search(line)
    )


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _object(needed: dict[str, Check], optional: dict[str, Check] | None = None, *, others: bool = True) -> Check:
    """Whether something is an object with these fields. As for the SDK, what is optional may be null."""
    known = {**needed, **(optional or {})}

    def holds(value: object) -> bool:
        if not isinstance(value, dict):
            return False
        fields = cast("Fields", value)
        return needed.keys() <= fields.keys() and all(
            known[key](field) or (field is None and key not in needed) if key in known else others
            for key, field in fields.items()
        )

    return holds


def _text(value: object) -> bool:
    return isinstance(value, str)


def _id(value: object) -> bool:
    return _text(value) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53)


def _flag(value: object) -> bool:
    return isinstance(value, bool)


def _list(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, cast("list[object]", value)))


def _objects(value: object) -> bool:
    """Objects by name."""
    return isinstance(value, dict) and all(map(_ANY_OBJECT, cast("Fields", value).values()))


_ANY_OBJECT: Final = _object({})
_ICON: Final = _object(
    {"src": _text}, {"mimeType": _text, "sizes": _list(_text), "theme": lambda value: value in ("light", "dark")}
)
_CLIENT: Final = _object(
    {"name": _text, "version": _text},
    {"title": _text, "description": _text, "websiteUrl": _text, "icons": _list(_ICON)},
)
_TASKS: Final = _object(
    {},
    {
        "list": _ANY_OBJECT,
        "cancel": _ANY_OBJECT,
        "requests": _object(
            {},
            {
                "sampling": _object({}, {"createMessage": _ANY_OBJECT}),
                "elicitation": _object({}, {"create": _ANY_OBJECT}),
            },
        ),
    },
)
_CLIENT_CAPABILITIES: Final = _object(
    {},
    {
        "roots": _object({}, {"listChanged": _flag}),
        "sampling": _object({}, {"context": _ANY_OBJECT, "tools": _ANY_OBJECT}),
        "elicitation": _object({}, {"form": _ANY_OBJECT, "url": _ANY_OBJECT}),
        "experimental": _objects,
        "extensions": _objects,
        "tasks": _TASKS,
    },
)
_MESSAGE: Final = _object(
    {
        "jsonrpc": lambda value: value == "2.0",
        "id": _id,
        "method": _text,
    },
    {"params": lambda value: isinstance(value, dict)},
    others=False,
)
_HANDSHAKE: Final = _object(
    {"protocolVersion": _text, "capabilities": _CLIENT_CAPABILITIES, "clientInfo": _CLIENT},
    {"_meta": _object({}, {"progressToken": _id}, others=False)},
    others=False,
)
_WHO_ASKS: Final = _object(
    {
        f"{_META}protocolVersion": lambda value: value == MODERN,
        f"{_META}clientCapabilities": _CLIENT_CAPABILITIES,
    },
    {f"{_META}clientInfo": _CLIENT, "progressToken": _id},
    others=False,
)
_DISCOVERY: Final = _object({"_meta": _WHO_ASKS}, others=False)
_NO_CURSOR: Final[dict[str, Check]] = {"cursor": lambda _value: False}
"""All tools are on the first page."""
_MODERN_LISTING: Final = _object({"_meta": _WHO_ASKS}, _NO_CURSOR, others=False)
_LISTING: Final = _object({}, {"_meta": _object({}, {"progressToken": _id}), **_NO_CURSOR}, others=False)
