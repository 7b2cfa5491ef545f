"""Payloads of kinds that clients name themselves, as far as they hold commands for the browser."""

from collections.abc import Mapping
from typing import Any, Final, cast

from skillyard.releases.payload_json import is_replayable
from skillyard.releases.payloads import PayloadKind, VariableType
from skillyard.releases.placeholders import placeholders

_COMMANDS: Final = ("commands", "steps")
_TYPES: Final = frozenset(kind.value for kind in VariableType)


def commands_document(document: object) -> object:
    """The same payload as one that can be replayed: of the kind that it says, else as commands for the browser.

    Such payloads carry more than is known here, which is left out, and variables that no command names.
    """
    if not isinstance(document, Mapping):
        return {"kind": PayloadKind.BROWSER.value, "commands": document}
    given = cast("Mapping[str, Any]", document)
    if is_replayable(str(given.get("kind"))):
        return given
    known = {name: given[name] for name in _COMMANDS if name in given}
    named = placeholders(str(list(known.values())))
    declared = _fields(given.get("variables"))
    return {
        "kind": PayloadKind.BROWSER.value,
        "variables": {name: _variable(declared.get(name)) for name in sorted(named)},
        **known,
    }


def _variable(said: object) -> dict[str, Any]:
    given = _fields(said)
    secret = given.get("secret") is True
    default = None if secret else given.get("default", given.get("default_value"))
    return {
        "type": given.get("type") if given.get("type") in _TYPES else VariableType.STRING.value,
        "description": str(given.get("description") or ""),
        "secret": secret,
        **({} if default is None else {"default": default}),
    }


def _fields(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else dict[str, Any]()
