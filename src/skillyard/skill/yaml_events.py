"""Building plain values from libyaml's events, refusing what frontmatter must not have."""

from collections.abc import Callable
from typing import Any, cast

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from skillyard.skill.limits import MAX_FRONTMATTER_DEPTH, MAX_FRONTMATTER_NODES
from skillyard.skill.models import Value
from skillyard.skill.yaml_refusal import UNQUOTED_COLON, RefusedYamlError

_OPENED = ("while parsing a flow sequence", "while parsing a flow mapping", "while scanning a quoted scalar")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_events(text: str, plain_scalar: Callable[[str], str]) -> dict[str, Value]:
    """The fields of a frontmatter text; raises RefusedYamlError and nothing else."""
    loader: Any = None
    try:
        loader = _Loader(text)
        return _Reader(loader.get_event, plain_scalar).document()
    except yaml.MarkedYAMLError as error:
        # What is never closed is found at the end, but it is the start that must be looked at.
        unclosed = error.context in _OPENED
        mark = (error.context_mark if unclosed else None) or error.problem_mark
        problem = (error.problem or error.context or "cannot be read").strip()
        is_colon = problem == "mapping values are not allowed in this context"
        message = UNQUOTED_COLON if is_colon else f"YAML: {problem}."
        raise RefusedYamlError("yaml-invalid", message, mark.line if mark else 0) from None
    except yaml.YAMLError as error:
        raise RefusedYamlError("yaml-invalid", f"YAML: {str(error).splitlines()[0]}.") from None
    finally:
        if loader is not None:
            loader.dispose()


class _Reader:
    def __init__(self, next_event: Callable[[], Any], plain_scalar: Callable[[str], str]) -> None:
        self._next = next_event
        self._plain_scalar = plain_scalar
        self._nodes = 0

    def document(self) -> dict[str, Value]:
        self._next()
        if type(self._next()) is StreamEndEvent:
            return {}
        value = self._node(self._next(), 0)
        if not isinstance(value, dict):
            if value == "":
                return {}
            raise RefusedYamlError("frontmatter-not-mapping", "The frontmatter is not `key: value` lines.")
        self._next()
        after = self._next()
        if type(after) is not StreamEndEvent:
            line = after.start_mark.line
            raise RefusedYamlError("yaml-documents", "The frontmatter holds more than one YAML document.", line)
        return value

    def _node(self, event: Any, depth: int) -> Value:  # noqa: ANN401 - parser events share no useful type
        self._nodes += 1
        kind = cast("type[object]", type(event))
        if kind is AliasEvent or event.anchor is not None or event.tag is not None:
            self._refuse_mark(event)
        if self._nodes > MAX_FRONTMATTER_NODES:
            message = f"The frontmatter has more than {MAX_FRONTMATTER_NODES:,} values."
            raise RefusedYamlError("yaml-too-many-nodes", message, event.start_mark.line)
        if kind is ScalarEvent:
            return event.value if event.style else self._plain_scalar(event.value)
        if depth >= MAX_FRONTMATTER_DEPTH:
            message = f"Values are nested deeper than {MAX_FRONTMATTER_DEPTH}."
            raise RefusedYamlError("yaml-too-deep", message, event.start_mark.line)
        return self._sequence(depth) if kind is SequenceStartEvent else self._mapping(depth)

    def _refuse_mark(self, event: Any) -> None:  # noqa: ANN401 - as above
        line = event.start_mark.line
        if type(event) is AliasEvent:
            raise RefusedYamlError("yaml-alias", f"`*{event.anchor}` is a YAML alias.", line)
        if event.anchor is not None:
            raise RefusedYamlError("yaml-anchor", f"`&{event.anchor}` is a YAML anchor.", line)
        raise RefusedYamlError("yaml-tag", f"`{event.tag}` is a YAML tag.", line)

    def _sequence(self, depth: int) -> list[Value]:
        items: list[Value] = []
        while type(event := self._next()) is not SequenceEndEvent:
            items.append(self._node(event, depth + 1))
        return items

    def _mapping(self, depth: int) -> dict[str, Value]:
        mapping: dict[str, Value] = {}
        while type(event := self._next()) is not MappingEndEvent:
            key = self._node(event, depth + 1)
            if not isinstance(key, str):
                raise RefusedYamlError("yaml-key", "A key is a list or a mapping.", event.start_mark.line)
            if key in mapping:
                raise RefusedYamlError("yaml-duplicate-key", f"The key {key!r} is there twice.", event.start_mark.line)
            mapping[key] = self._node(self._next(), depth + 1)
        return mapping
