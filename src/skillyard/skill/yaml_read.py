"""Reading frontmatter: a safe, small part of YAML in which every scalar is a string.

Frontmatter of plain `key: value` lines, which most skills have, is read by one regular expression.
Everything else goes through libyaml's events, which show anchors, tags and duplicates before anything is built
from them. `docs/decisions/0001-yaml.md` has the measurements.
"""

import re
from typing import Final

from skillyard.skill.limits import MAX_FRONTMATTER_DEPTH
from skillyard.skill.models import PlainScalar, Value
from skillyard.skill.yaml_refusal import RefusedYamlError

_TEXT: Final = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff"
_PLAIN_LINE: Final = re.compile(
    r"(?P<indent>(?:  )?)(?P<key>[A-Za-z][A-Za-z0-9_-]*):(?: +(?:"
    rf'"(?P<double>[^"\\{_TEXT}]*)"'
    rf"|'(?P<single>[^'{_TEXT}]*)'"
    rf"|(?P<plain>[A-Za-z0-9\u00a1-\u1fff\u2e80-\ud7ff](?:[^:#{_TEXT}]++|:(?=[^ {_TEXT}])|(?<! )#)*+)"
    r"))? *(?:\n|\Z)"
)
_TYPED: Final = re.compile(
    r"(?:true|false|yes|no|on|off|y|n|null|~|[-+.\d][\w.:+ -]*|\.inf|\.nan)\Z", re.IGNORECASE | re.ASCII
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff\ud800-\udfff]")


def read_mapping(text: str) -> dict[str, Value]:
    """The fields of a frontmatter text; raises RefusedYamlError and nothing else."""
    fields = _read_plain(text)
    return _read_events(text) if fields is None else fields


def _read_plain(text: str) -> dict[str, Value] | None:
    """The fields when every line is plainly `key: value`, at most one level deep; None otherwise."""
    fields: dict[str, Value] = {}
    parent: dict[str, Value] | None = None
    opened = ""
    position = 0
    match_line = _PLAIN_LINE.match
    while position < len(text):
        match = match_line(text, position)
        if match is None:
            return None
        indent, key, double, single, plain = match.groups()
        position = match.end()
        value = plain_scalar(plain.rstrip(" ")) if plain is not None else single if single is not None else double
        if indent:
            if parent is None:
                return None
            target = parent
        else:
            if opened and not parent:
                return None
            opened = ""
            parent = None
            target = fields
        if key in target:
            return None
        if value is None:
            if indent:
                return None
            opened = key
            parent = {}
            target[key] = parent
        else:
            target[key] = value
    return None if opened and not parent else fields


def plain_scalar(text: str) -> str:
    """An unquoted scalar, marked where other readers would not take it for a text."""
    return PlainScalar(text) if _TYPED.match(text) else text


def _read_events(text: str) -> dict[str, Value]:
    control = _CONTROL.search(text)
    if control:
        line = text.count("\n", 0, control.start())
        raise RefusedYamlError("control-character", f"The frontmatter holds U+{ord(control.group()):04X}.", line)
    _check_flow_depth(text)
    from skillyard.skill.yaml_events import read_events  # noqa: PLC0415 - plain frontmatter does not need PyYAML

    return read_events(text, plain_scalar)


def _check_flow_depth(text: str) -> None:
    """Parsers take quadratic time on deep brackets, so their depth is bounded before any of them sees it."""
    if text.count("[") + text.count("{") <= MAX_FRONTMATTER_DEPTH:
        return
    depth = 0
    for match in re.finditer(r"[\[\]{}]", text):
        char = match.group()
        if char in "[{":
            depth += 1
            if depth > MAX_FRONTMATTER_DEPTH:
                line = text.count("\n", 0, match.start())
                raise RefusedYamlError(
                    "yaml-too-deep", f"Brackets are nested deeper than {MAX_FRONTMATTER_DEPTH}.", line
                )
        elif depth:
            depth -= 1
