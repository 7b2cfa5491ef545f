"""Values in a text that is JSON: where they stand, and the keys that they stand beside."""

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from skillyard.releases.payloads import VariableType

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}\[\],:]|\s+')
_LONGEST: Final = 64 * 1024


class JsonPlace(NamedTuple):
    start: int
    end: int
    value: str
    label: str
    type: VariableType | None


def json_places(text: str) -> list[JsonPlace]:
    """The values in a text; none if it is not a JSON object or list."""
    stripped = text.strip()
    if len(text) > _LONGEST or stripped[:1] not in {"{", "["}:
        return []
    try:
        json.loads(stripped)
    except (ValueError, RecursionError):
        return []
    return list(_places(text))


def json_form(text: str) -> str:
    """The same text with a mark in place of each value, and no blanks."""
    written: list[str] = []
    at = 0
    for place in json_places(text):
        written += [text[at : place.start], '"?"']
        at = place.end
    return re.sub(r"\s+", "", "".join([*written, text[at:]])).replace('""?""', '"?"')


def _places(text: str) -> Iterator[JsonPlace]:
    label = ""
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token[0] == '"':
            if re.compile(r"\s*:").match(text, found.end()):
                label = str(json.loads(token, strict=False))
            else:
                value = str(json.loads(token, strict=False))
                yield JsonPlace(found.start() + 1, found.end() - 1, value, label, None)
        elif token in {"true", "false"}:
            yield JsonPlace(found.start(), found.end(), token, label, VariableType.BOOLEAN)
        elif token[0].isdigit() or token[0] == "-":
            kind = VariableType.INTEGER if token.lstrip("-").isdigit() else VariableType.NUMBER
            yield JsonPlace(found.start(), found.end(), token, label, kind)
