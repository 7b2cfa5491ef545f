"""Agents and their skills as a file declares them: read and checked, nothing looked up.

```toml
[agents.support]
name = "Support"
role = "Answers customers"
skills = ["acme/refunds@1.2", "triage"]
tags = ["support"]

[everyone]
skills = ["acme/tone-of-voice"]
```
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from skillyard.errors import InputError, LimitError
from skillyard.identity.agents import require_agent_id

MAX_AGENTS: Final = 1_000
MAX_ATTACHED: Final = 1_000
"""Skills, and tags, of one agent."""
_TEXTS: Final = ("name", "role", "goal")
_LISTS: Final = ("skills", "tags")
_SHOWN: Final = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Attached:
    """The skills that something is to have: those named, and all that bear one of the tags."""

    skills: tuple[str, ...] = ()
    """Each `name` or `namespace/name`, and perhaps `@` and a version, a tag or a range."""
    tags: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {"skills": list(self.skills), "tags": list(self.tags)}


@dataclass(frozen=True, kw_only=True, slots=True)
class DeclaredAgent:
    """What a file says of one agent; None is what it does not speak of, and that is left as it is."""

    id: str
    name: str | None = None
    role: str | None = None
    goal: str | None = None
    attached: Attached | None = None

    def as_dict(self) -> dict[str, Any]:
        said = {key: getattr(self, key) for key in _TEXTS if getattr(self, key) is not None}
        return {"id": self.id, **said, **(self.attached.as_dict() if self.attached else {})}


@dataclass(frozen=True, kw_only=True, slots=True)
class Declaration:
    agents: tuple[DeclaredAgent, ...] = ()
    everyone: Attached | None = None
    """The skills that every agent of the tenant is to have."""

    def as_dict(self) -> dict[str, Any]:
        """The declaration as plain values, which read back as the same."""
        agents = [agent.as_dict() for agent in self.agents]
        return {"agents": agents, **({"everyone": self.everyone.as_dict()} if self.everyone else {})}


def read_agents_file(text: str, *, filename: str = "agents.toml") -> Declaration:
    """What a TOML file, or one whose name ends in `.json`, declares; errors name the line or the field."""
    is_json = filename.lower().endswith(".json")
    try:
        values: object = json.loads(text) if is_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        language = "JSON" if is_json else "TOML"
        raise InputError(
            f"{filename} is no {language}: {str(error) or 'it is nested too deeply'}.",
            hint="Correct it at the place named.",
            details={"file": filename},
        ) from error
    return read_declaration(values)


def read_declaration(values: object) -> Declaration:
    """The declaration that these plain values are; the first wrong one is named."""
    table = _table(values, "the declaration", known=("agents", "everyone"))
    declared = tuple(_agent(agent_id, fields, where) for agent_id, fields, where in _entries(table.get("agents", {})))
    if len(declared) > MAX_AGENTS:
        raise _too_many("agents", len(declared), MAX_AGENTS)
    seen: set[str] = set()
    for agent in declared:
        if agent.id in seen:
            raise _wrong("agents", agent.id, "Declare each agent once.")
        seen.add(agent.id)
    everyone = None
    if "everyone" in table:
        everyone = _attached(_table(table["everyone"], "everyone", known=_LISTS), "everyone") or Attached()
    return Declaration(agents=declared, everyone=everyone)


def _entries(agents: object) -> Iterable[tuple[str, Any, str]]:
    """Each agent with its id: a table by id, or a list in which each has an `id`."""
    if isinstance(agents, Mapping):
        for agent_id, fields in cast("Mapping[str, Any]", agents).items():
            yield agent_id, _table(fields, f"agents.{agent_id}", known=(*_TEXTS, *_LISTS)), f"agents.{agent_id}"
    elif isinstance(agents, list):
        for position, item in enumerate(cast("list[object]", agents)):
            where = f"agents[{position}]"
            fields = _table(item, where, known=("id", *_TEXTS, *_LISTS))
            yield _text(fields.get("id"), f"{where}.id"), fields, where
    else:
        raise _wrong("agents", agents, "Use one table for each agent: [agents.ID].")


def _agent(agent_id: str, fields: Mapping[str, Any], where: str) -> DeclaredAgent:
    require_agent_id(agent_id)
    texts = {key: _text(fields[key], f"{where}.{key}") for key in _TEXTS if fields.get(key) is not None}
    return DeclaredAgent(id=agent_id, attached=_attached(fields, where), **texts)


def _attached(fields: Mapping[str, Any], where: str) -> Attached | None:
    if all(fields.get(key) is None for key in _LISTS):
        return None
    return Attached(
        skills=_texts(fields.get("skills"), f"{where}.skills"), tags=_texts(fields.get("tags"), f"{where}.tags")
    )


def _table(value: object, where: str, *, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(where, value, f"Use a table with {', '.join(known)}.")
    table = cast("Mapping[str, Any]", value)
    for key in table:
        if key not in known:
            raise _wrong(f"{where}.{key}", table[key], f"What can be said there is {', '.join(known)}.")
    return table


def _texts(value: object, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _wrong(where, value, 'Use a list of texts, such as ["acme/refunds@1.2"].')
    items = cast("list[object]", value)
    if len(items) > MAX_ATTACHED:
        raise _too_many(where, len(items), MAX_ATTACHED)
    return tuple(dict.fromkeys(_text(item, f"{where}[{position}]") for position, item in enumerate(items)))


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(where, value, "Use a text in quotation marks.")
    return value


def _wrong(field: str, value: object, hint: str) -> InputError:
    shown = repr(value)[:_SHOWN]
    return InputError(f"{field} is wrong: {shown}.", hint=hint, details={"field": field, "value": shown})


def _too_many(field: str, count: int, limit: int) -> LimitError:
    return LimitError(
        f"{field} has {count:,} entries; at most {limit:,} are allowed.",
        hint="Split the file.",
        details={"field": field, "limit": limit},
    )
