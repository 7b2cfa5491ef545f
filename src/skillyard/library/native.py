"""The switches that agents have themselves: reading which skills an agent keeps off, and setting that.

Three spellings are known well enough to be trusted: Claude Code's `skillOverrides` (and denied `Skill(...)`
permissions), Codex's `[[skills.config]]`, and the `skills.disabled` list of Gemini CLI and Qwen Code. Other
agents have no switch that a file could set.
"""

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from skillyard.errors import InputError, NotAllowedError, SkillyardError
from skillyard.library.agents import Agent, Place, Scope, SwitchKind, expand
from skillyard.library.roots import Machine, project_folders
from skillyard.library.tables import Table, list_in, read_table, replace_text, table_in, text_in
from skillyard.skill.library import SkillEntry

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


def native_state(agent: Agent, machine: Machine) -> NativeState:
    """What the agent's own settings keep off here. A settings file that is broken is told, never raised."""
    tables: list[Table] = []
    troubles: list[SkillyardError] = []
    for place in agent.settings:
        try:
            tables.append(read_table(settings_path(place, machine)))
        except SkillyardError as error:
            troubles.append(error)
    state = _READERS[agent.switch](tables) if agent.switch else NativeState()
    return NativeState(everything=state.everything, names=state.names, paths=state.paths, troubles=tuple(troubles))


def switch_native(agent: Agent, entry: SkillEntry, machine: Machine, *, on: bool) -> tuple[Path, ...]:
    """Turn a skill on or off in the agent's own settings; the files that were changed."""
    if agent.switch is None:
        raise NotAllowedError(
            f"{agent.label} has no switch for single skills that a settings file could set.",
            hint=f"Move {entry.location} out of the folders {agent.label} reads.",
            details={"field": "agent", "value": agent.id},
        )
    paths = [settings_path(place, machine) for place in agent.settings]
    # A skill is turned off in the person's own settings, and on again wherever it is off.
    changed = [path for path in (paths if on else paths[:1]) if _WRITERS[agent.switch](path, entry, on)]
    return tuple(changed)


def settings_path(place: Place, machine: Machine) -> Path:
    if place.scope is Scope.PROJECT:
        return project_folders(machine)[-1] / place.path
    return expand(place.path, home=machine.home, env=machine.env)


def _read_claude(tables: list[Table]) -> NativeState:
    states: dict[str, str] = {}
    denied: set[str] = set()
    for table in tables:
        overrides = table_in(table, "skillOverrides")
        states.update({name.casefold(): state for name, state in overrides.items() if isinstance(state, str)})
        denied.update(str(rule).strip() for rule in list_in(table_in(table, "permissions"), "deny"))
    hidden = {name for name, state in states.items() if state in _HIDDEN_STATES}
    named = {rule[len("Skill(") : -1].casefold() for rule in denied if rule.startswith("Skill(") and rule[-1] == ")"}
    return NativeState(everything="Skill" in denied, names=frozenset(hidden | named))


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
            known, key = (paths, os.path.realpath(path)) if path else (names, name.casefold())
            if rules.get("enabled") is True:
                known.discard(key)
            else:
                known.add(key)
    return NativeState(names=frozenset(names), paths=frozenset(paths))


def _read_disabled_list(tables: list[Table]) -> NativeState:
    names = (str(name) for table in tables for name in list_in(table_in(table, "skills"), "disabled"))
    return NativeState(names=frozenset(name.casefold() for name in names))


def _write_claude(path: Path, entry: SkillEntry, on: bool) -> bool:
    settings = _strict_json(path, command="/skills inside Claude Code")
    overrides = dict(table_in(settings, "skillOverrides"))
    for name in dict.fromkeys((entry.id, entry.name)):
        if not on:
            overrides[name] = "off"
        elif overrides.get(name) in _HIDDEN_STATES:
            del overrides[name]
    return _save_json(path, settings, {**settings, "skillOverrides": overrides})


def _write_disabled_list(path: Path, entry: SkillEntry, on: bool) -> bool:
    settings = _strict_json(path, command=f"/skills {'enable' if on else 'disable'} {entry.name} inside the agent")
    skills = dict(table_in(settings, "skills"))
    wanted = {entry.id.casefold(), entry.name.casefold()}
    kept = [name for name in list_in(skills, "disabled") if str(name).casefold() not in wanted]
    skills["disabled"] = kept if on else [*kept, entry.name]
    return _save_json(path, settings, {**settings, "skills": skills})


def _write_codex(path: Path, entry: SkillEntry, on: bool) -> bool:
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
    real = os.path.realpath(entry.location)
    for index in reversed(range(len(rules))):
        rule = cast("Table", rules[index])
        if os.path.realpath(str(rule.get("path", ""))) == real or (on and rule.get("name") == entry.name):
            del rules[index]
    if not on:
        row = tomlkit.table() if isinstance(rules, tomlkit.items.AoT) else tomlkit.inline_table()
        row.add("path", real)
        row.add("enabled", False)
        rules.append(row)  # pyright: ignore[reportUnknownMemberType]
    elif not rules:
        del section["config"]
        if not section:
            del document["skills"]
    after = tomlkit.dumps(document)  # pyright: ignore[reportUnknownMemberType]
    if _read_codex([tomllib.loads(after)]).is_off(entry) is on:
        raise InputError(
            f"{path} cannot be changed without risk.",
            hint=f"Edit it by hand: [[skills.config]] with path = {real!r} and enabled = {str(on).lower()}.",
            details={"file": str(path)},
        )
    if after != before:
        replace_text(path, after)
    return after != before


def _strict_json(path: Path, *, command: str) -> Table:
    """The settings, if writing them back would lose nothing."""
    settings = read_table(path)
    if path.is_file():
        try:
            json.loads(path.read_text(encoding="utf-8-sig"))
        except ValueError:
            raise InputError(
                f"{path} has comments, which writing it again would lose.",
                hint=f"Use {command} instead.",
                details={"file": str(path)},
            ) from None
    return settings


def _save_json(path: Path, before: Table, after: Table) -> bool:
    kept = {key: value for key, value in after.items() if value not in ({}, {"disabled": []}) or key in before}
    if kept == before:
        return False
    replace_text(path, f"{json.dumps(kept, indent=2, ensure_ascii=False)}\n")
    return True


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
