"""How the server introduces itself, said without the MCP SDK: importing that takes longer than a client should wait.

Only what is plainly one of the two requests with which connections begin is answered here, and as the SDK would
answer it. It reads the same line once it is there, and answers everything else.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast

import skillyard

NAME: Final = "skillyard"
TITLE: Final = "Skillyard"
INSTRUCTIONS: Final = (
    "Skills are folders of instructions, scripts and references for kinds of tasks. Before a task, look whether one "
    "fits: the tool `skill` lists them, `search_skills` finds them. Load it, then do as it says. Every file of a skill "
    "is also a resource, skill://<skill>/<path>, and every skill a prompt."
)
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

Fields = dict[str, object]
Check = Callable[[object], bool]


@dataclass(frozen=True, kw_only=True)
class Introduction:
    """The answer to the first request of a connection."""

    request: str | int
    line: bytes


def introduction(line: bytes) -> Introduction | None:
    """The answer to a line, if it is plainly the first of a connection; the rest is left to the SDK."""
    try:
        message: object = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    if not _MESSAGE(message) or b"\r" in line.rstrip(b"\r"):  # which ends a line, for the SDK
        return None
    fields = cast("dict[str, Any]", message)
    request, params = fields["id"], fields["params"]
    if fields["method"] == "initialize" and _HANDSHAKE(params):
        result = _greeted(params["protocolVersion"])
    elif fields["method"] == "server/discover" and _DISCOVERY(params):
        result = _discovered()
    else:
        return None
    answer = {"jsonrpc": "2.0", "id": request, "result": result}
    return Introduction(request=request, line=json.dumps(answer, separators=(",", ":")).encode() + b"\n")


def _greeted(version: str) -> dict[str, Any]:
    return {
        "capabilities": _CAPABILITIES,
        "instructions": INSTRUCTIONS,
        "protocolVersion": version if version in HANDSHAKES else HANDSHAKES[-1],
        "serverInfo": _SERVER,
    }


def _discovered() -> dict[str, Any]:
    return {
        **FRESH,
        "capabilities": {**_CAPABILITIES, "extensions": {EXTENSION: SETTINGS}},
        "instructions": INSTRUCTIONS,
        "supportedVersions": [MODERN],
        "_meta": {f"{_META}serverInfo": _SERVER},
    }


def _object(needed: dict[str, Check], optional: dict[str, Check] | None = None) -> Check:
    """Whether something is an object with these fields, and no other."""
    known = {**needed, **(optional or {})}

    def holds(value: object) -> bool:
        if not isinstance(value, dict):
            return False
        fields = cast("Fields", value)
        return needed.keys() <= fields.keys() and all(
            key in known and known[key](field) for key, field in fields.items()
        )

    return holds


def _text(value: object) -> bool:
    # Half a character, which JSON can spell, is no text for the SDK.
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def _id(value: object) -> bool:
    return _text(value) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53)


def _named_objects(value: object) -> bool:
    """Objects by name, with nothing in them that a reader could take for something else."""
    return isinstance(value, dict) and all(_text(key) and field == {} for key, field in cast("Fields", value).items())


def _flag(value: object) -> bool:
    return isinstance(value, bool)


_EMPTY: Final = _object({})
_CLIENT: Final = _object({"name": _text, "version": _text}, {"title": _text, "description": _text})
_CLIENT_CAPABILITIES: Final = _object(
    {},
    {
        "roots": _object({}, {"listChanged": _flag}),
        "sampling": _object({}, {"context": _EMPTY, "tools": _EMPTY}),
        "elicitation": _object({}, {"form": _EMPTY, "url": _EMPTY}),
        "experimental": _named_objects,
    },
)
_MESSAGE: Final = _object(
    {
        "jsonrpc": lambda value: value == "2.0",
        "id": _id,
        "method": _text,
        "params": lambda value: isinstance(value, dict),
    }
)
_HANDSHAKE: Final = _object({"protocolVersion": _text, "capabilities": _CLIENT_CAPABILITIES, "clientInfo": _CLIENT})
_DISCOVERY: Final = _object(
    {
        "_meta": _object(
            {
                f"{_META}protocolVersion": lambda value: value == MODERN,
                f"{_META}clientInfo": _CLIENT,
                f"{_META}clientCapabilities": _CLIENT_CAPABILITIES,
            }
        )
    }
)
