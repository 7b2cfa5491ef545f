"""The switches that agents have themselves: reading which skills an agent keeps off, and setting that.

Three spellings are known well enough to be trusted: Claude Code's `skillOverrides` (and denied `Skill(...)`
permissions), Codex's `[[skills.config]]`, and the `skills.disabled` list of Gemini CLI and Qwen Code. Other
agents have no switch that a file could set.
"""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from skillyard.errors import ConflictError, InputError, NotAllowedError, SkillyardError
from skillyard.library.agents import Agent, Place, Scope, SwitchKind, expand
from skillyard.library.roots import Machine, project_folders
from skillyard.library.tables import Table, list_in, read_table, replace_text, table_in, text_in
from skillyard.skill.library import SkillEntry

_LONGEST_PATH: Final = 4_096
_HIDDEN_STATES: Final = frozenset({"off", "user-invocable-only"})


@dataclass(frozen=True, kw_only=True, slots=True)
class NativeState:
    """What an agent's own settings keep off."""

    everything: bool = False
    names: frozenset[str] = frozenset()
    """Skill names, without regard to case."""
    paths: frozenset[str] = frozenset()
    """Real paths of skill files."""
    troubles: tuple[SkillyardError, ...] = ()
    """Settings files that could not be read; what they say is not known."""

    def is_off(self, entry: SkillEntry) -> bool:
        return (
            self.everything
            or not self.names.isdisjoint({entry.id.casefold(), entry.name.casefold()})
            or (bool(self.paths) and os.path.realpath(entry.location) in self.paths)
        )


class _Edit(NamedTuple):
    """A settings file as it is going to be."""

    path: Path
    text: str
    table: Table


def native_state(agent: Agent, machine: Machine) -> NativeState:
    """What the agent's own settings keep off here. A settings file that is broken is told, never raised."""
    tables, troubles = _readable([settings_path(place, machine) for place in agent.settings])
    state = _READERS[agent.switch](list(tables.values())) if agent.switch else NativeState()
    return replace(state, troubles=troubles)


def switch_native(agent: Agent, copies: Sequence[SkillEntry], machine: Machine, *, on: bool) -> tuple[Path, ...]:
    """Turn skills on or off in the agent's own settings; the files that were changed.

    `copies` are all that the agent shows of them: one of each, unless it shows skills of one id side by side. Where
    another setting would keep one as it is, that setting is named and nothing is written.
    """
    if agent.switch is None:
        raise NotAllowedError(
            f"{agent.label} has no switch for single skills that a settings file could set.",
            hint=f"Move {copies[0].location} out of the folders {agent.label} reads.",
            details={"field": "agent", "value": agent.id},
        )
    now = native_state(agent, machine)
    if not now.troubles and all(now.is_off(entry) is not on for entry in copies):
        return ()
    paths = [settings_path(place, machine) for place in agent.settings]
    # A skill is turned off in the person's own settings, and on again wherever it is off.
    planned = [_WRITERS[agent.switch](path, copies, on) for path in (paths if on else paths[:1])]
    edits = {edit.path: edit for edit in planned if edit is not None}
    tables = {path: edits[path].table if path in edits else table for path, table in _readable(paths)[0].items()}
    state = _READERS[agent.switch](list(tables.values()))
    stuck = [entry for entry in copies if state.is_off(entry) is on]
    if stuck:
        raise _in_the_way(agent, stuck, tables, on=on)
    for edit in edits.values():
        replace_text(edit.path, edit.text)
    return tuple(edits)


def settings_path(place: Place, machine: Machine) -> Path:
    if place.scope is Scope.PROJECT:
        return project_folders(machine)[-1] / place.path
    return expand(place.path, home=machine.home, env=machine.env)


def _readable(paths: Sequence[Path]) -> tuple[dict[Path, Table], tuple[SkillyardError, ...]]:
    """What the settings files say, weakest first, and which of them could not be read."""
    tables: dict[Path, Table] = {}
    troubles: list[SkillyardError] = []
    for path in paths:
        try:
            tables[path] = read_table(path)
        except SkillyardError as error:
            troubles.append(error)
    return tables, tuple(troubles)


def _in_the_way(agent: Agent, copies: Sequence[SkillEntry], tables: Mapping[Path, Table], *, on: bool) -> ConflictError:
    """The setting that keeps a skill as it is, for a person to change: it was put there on purpose."""
    file, setting = next(_obstacles(copies, tables, on), (next(iter(tables), Path()), "another setting"))
    return ConflictError(
        f"{copies[0].id!r} stays {'off' if on else 'on'} for {agent.label}: {file} has {setting}.",
        hint=f"Take it out of {file}, then try again.",
        details={"file": str(file), "field": setting, "value": copies[0].id},
    )


def _obstacles(copies: Sequence[SkillEntry], tables: Mapping[Path, Table], on: bool) -> Iterator[tuple[Path, str]]:
    names = _names_of(copies)
    for path, table in reversed(list(tables.items())):
        for rule in _denied(table):
            if on and (rule == "Skill" or _denied_name(rule) in names):
                yield path, f"{rule!r} in permissions.deny"
        for name, state in table_in(table, "skillOverrides").items():
            if name.casefold() in names and (state in _HIDDEN_STATES) is on:
                yield path, f"{name!r} as {state!r} in skillOverrides"


def _names_of(copies: Sequence[SkillEntry]) -> set[str]:
    return {name.casefold() for entry in copies for name in (entry.id, entry.name)}


def _read_claude(tables: list[Table]) -> NativeState:
    states: dict[str, str] = {}
    denied: set[str] = set()
    for table in tables:
        overrides = table_in(table, "skillOverrides")
        states.update({name.casefold(): state for name, state in overrides.items() if isinstance(state, str)})
        denied.update(_denied(table))
    hidden = {name for name, state in states.items() if state in _HIDDEN_STATES}
    named = {name for rule in denied if (name := _denied_name(rule))}
    return NativeState(everything="Skill" in denied, names=frozenset(hidden | named))


def _denied(table: Table) -> list[str]:
    return [str(rule).strip() for rule in list_in(table_in(table, "permissions"), "deny")]


def _denied_name(rule: str) -> str:
    """The skill that a rule such as `Skill(pdf)` denies; empty for other rules."""
    return rule[len("Skill(") : -1].casefold() if rule.startswith("Skill(") and rule.endswith(")") else ""


def _read_codex(tables: list[Table]) -> NativeState:
    names: set[str] = set()
    paths: set[str] = set()
    for table in tables:
        for rule in list_in(table_in(table, "skills"), "config"):
            rules: Table = cast("Table", rule) if isinstance(rule, dict) else {}
            path, name = text_in(rules, "path"), text_in(rules, "name").strip()
            # Codex ignores a rule with both or neither, and the last rule for a skill counts.
            if bool(path) == bool(name):
                continue
            known, key = (paths, _real(path)) if path else (names, name.casefold())
            if rules.get("enabled") is True:
                known.discard(key)
            else:
                known.add(key)
    return NativeState(names=frozenset(names), paths=frozenset(paths))


def _real(path: str) -> str:
    """Where a path leads; empty for one that no file can have."""
    return "" if "\0" in path or len(path) > _LONGEST_PATH else os.path.realpath(path)


def _read_disabled_list(tables: list[Table]) -> NativeState:
    names = (str(name) for table in tables for name in list_in(table_in(table, "skills"), "disabled"))
    return NativeState(names=frozenset(name.casefold() for name in names))


def _write_claude(path: Path, copies: Sequence[SkillEntry], on: bool) -> _Edit | None:
    settings = read_table(path)
    wanted = _names_of(copies)
    overrides = {
        name: state
        for name, state in table_in(settings, "skillOverrides").items()
        if name.casefold() not in wanted or (on and state not in _HIDDEN_STATES)
    }
    if not on:
        overrides |= dict.fromkeys((name for entry in copies for name in (entry.id, entry.name)), "off")
    after = {**settings, "skillOverrides": overrides}
    return _json_edit(path, settings, after, command="/skills inside Claude Code")


def _write_disabled_list(path: Path, copies: Sequence[SkillEntry], on: bool) -> _Edit | None:
    settings = read_table(path)
    skills = dict(table_in(settings, "skills"))
    wanted = _names_of(copies)
    kept = [name for name in list_in(skills, "disabled") if str(name).casefold() not in wanted]
    names = dict.fromkeys(entry.name for entry in copies)
    skills["disabled"] = kept if on else [*kept, *names]
    command = f"/skills {'enable' if on else 'disable'} {copies[0].name} inside the agent"
    return _json_edit(path, settings, {**settings, "skills": skills}, command=command)


def _write_codex(path: Path, copies: Sequence[SkillEntry], on: bool) -> _Edit | None:
    import tomlkit.items  # noqa: PLC0415 -- only editing needs it

    table = read_table(path)  # a broken file is refused with its line before anything is written
    skills = table.get("skills", {})
    if not isinstance(skills, dict) or not isinstance(cast("Table", skills).get("config", []), list):
        raise InputError(
            f"{path} has a skills section that Codex itself cannot read.",
            hint=f"Correct it by hand: [[skills.config]] with path and enabled, in {path}.",
            details={"file": str(path), "field": "skills"},
        )
    before = path.read_text(encoding="utf-8-sig") if path.is_file() else ""
    document = tomlkit.parse(before)
    section = cast("dict[str, Any]", document.setdefault("skills", tomlkit.table(is_super_table=True)))
    rules = cast("list[Any]", section.setdefault("config", tomlkit.aot()))
    files, names = {os.path.realpath(entry.location) for entry in copies}, _names_of(copies)
    for index in reversed(range(len(rules))):
        rule = cast("Table", rules[index])
        is_named = text_in(rule, "name").strip().casefold() in names
        if _real(text_in(rule, "path")) in files or (on and is_named):
            del rules[index]
    if not on:
        for file in sorted(files):
            row = tomlkit.table() if isinstance(rules, tomlkit.items.AoT) else tomlkit.inline_table()
            row.add("path", file)
            row.add("enabled", False)
            rules.append(row)  # pyright: ignore[reportUnknownMemberType]
    elif not rules:
        del section["config"]
        if not section:
            del document["skills"]
    after = tomlkit.dumps(document)  # pyright: ignore[reportUnknownMemberType]
    return None if after == before else _Edit(path, after, tomllib.loads(after))


def _json_edit(path: Path, before: Table, after: Table, *, command: str) -> _Edit | None:
    """The settings written anew, if they differ; refused if that would lose something."""
    kept = {key: value for key, value in after.items() if value not in ({}, {"disabled": []}) or key in before}
    if kept == before:
        return None
    if path.is_file():
        try:
            json.loads(path.read_text(encoding="utf-8-sig"))
        except ValueError:
            raise InputError(
                f"{path} has comments, which writing it again would lose.",
                hint=f"Use {command} instead.",
                details={"file": str(path)},
            ) from None
    return _Edit(path, f"{json.dumps(kept, indent=2, ensure_ascii=False)}\n", kept)


_READERS: Final = {
    SwitchKind.CLAUDE: _read_claude,
    SwitchKind.CODEX: _read_codex,
    SwitchKind.DISABLED_LIST: _read_disabled_list,
}
_WRITERS: Final = {
    SwitchKind.CLAUDE: _write_claude,
    SwitchKind.CODEX: _write_codex,
    SwitchKind.DISABLED_LIST: _write_disabled_list,
}
