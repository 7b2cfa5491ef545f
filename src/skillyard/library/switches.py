"""Turning skills off and on again, for a root or an agent, without touching their files."""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from skillyard.command_text import command_text
from skillyard.errors import ConflictError, InputError, NotFoundError
from skillyard.library.tables import Table, list_in, read_table, replace_text, text_in
from skillyard.skill.bundle import Bundle
from skillyard.skill.library import Catalog, Library, SkillEntry
from skillyard.skill.models import Parsed

FILE_NAME: Final = "switches.toml"
YOUNG_NS: Final = 2_000_000_000
_HEAD: Final = "# Skills that are off. Change it with: skillyard skill disable / enable\n"


class Off(NamedTuple):
    """One skill that is off: in one root, for one agent, or, where neither is said, everywhere."""

    skill: str
    root: str = ""
    agent: str = ""

    def reaches(self, *, root: str, agent: str) -> bool:
        return self.root in {"", root} and self.agent in {"", agent}

    @property
    def where(self) -> str:
        """For people: `everywhere`, `in FOLDER` or `for AGENT`."""
        if self.root:
            return f"in {self.root}"
        return f"for {self.agent}" if self.agent else "everywhere"

    @property
    def undo(self) -> str:
        """The command that turns the skill on again."""
        option = ["--root", self.root] if self.root else ["-a", self.agent] if self.agent else []
        return command_text("skill enable", self.skill, options=option)


class Disabled(NamedTuple):
    """A skill that would be listed if it were not off."""

    entry: SkillEntry
    by: Off


class Switched(NamedTuple):
    """A catalog without what is off, and what is off."""

    catalog: Catalog
    disabled: tuple[Disabled, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Switches:
    """Every skill that is off."""

    off: tuple[Off, ...] = ()

    def current(self) -> "Switches":
        """These: switches that are given stay as they are."""
        return self

    def disable(self, skill: str, *, root: Path | None = None, agent: str = "") -> "Switches":
        return Switches(off=tuple(sorted({*self.off, _off(skill, root, agent)})))

    def enable(self, skill: str, *, root: Path | None = None, agent: str = "") -> "Switches":
        """The switches without this one; an error when a wider one still keeps the skill off."""
        wanted = _off(skill, root, agent)
        left = tuple(
            off
            for off in self.off
            if not (_same(off.skill, skill) and (off[1:] == wanted[1:] or wanted[1:] == ("", "")))
        )
        wider = next((off for off in left if _same(off.skill, skill) and off[1:] == ("", "")), None)
        if wider is not None:
            raise ConflictError(
                f"{skill!r} is off everywhere, so it cannot be turned on in one place only.",
                hint=f"Turn it on everywhere: {wider.undo}",
                details={"field": "skill", "value": skill},
            )
        return Switches(off=left)

    def find(self, skill: str, *, root: Path | None = None, agent: str = "") -> Off | None:
        """What keeps the skill off there, if anything."""
        path = _path(root)
        return next((off for off in self.off if _same(off.skill, skill) and off.reaches(root=path, agent=agent)), None)

    def apply(self, catalog: Catalog, *, root: Path | None = None) -> Switched:
        """The catalog of a root without what is off there, and what was left out of it."""
        if not self.off:
            return Switched(catalog, ())
        named = {off.skill.casefold() for off in self.off}
        disabled = tuple(
            Disabled(entry, off)
            for entry in catalog.entries
            if entry.id.casefold() in named and (off := self.find(entry.id, root=root)) is not None
        )
        gone = {item.entry.id for item in disabled}
        kept = [entry for entry in catalog.entries if entry.id not in gone]
        shadowed = [item for item in catalog.shadowed if item.entry.id not in gone]
        return Switched(replace(catalog, entries=kept, shadowed=shadowed), disabled)


class SwitchSource(Protocol):
    """Where a library learns what is off: fixed `Switches`, or a `SwitchesFile` that may change."""

    def current(self) -> Switches: ...


class SwitchesFile:
    """The switches kept in a configuration folder, read again when the file changed."""

    def __init__(self, config_dir: Path) -> None:
        self._config_dir = config_dir
        self._read: tuple[tuple[int, ...], Switches] | None = None

    def current(self) -> Switches:
        looked_at = time.time_ns()
        stamp = _stamp(switches_file(self._config_dir))
        known = self._read
        if known is not None and known[0] == stamp:
            return known[1]
        switches = load_switches(self._config_dir)
        # A file changed in this moment may change again without its times showing it.
        self._read = (stamp, switches) if stamp[0] < looked_at - YOUNG_NS else None
        return switches


class WithSwitches:
    """A library that lists only what is on. `disabled` tells what the last look left out."""

    def __init__(self, library: Library, switches: SwitchSource, *, root: Path | None = None) -> None:
        self.label = library.label
        self.disabled: tuple[Disabled, ...] = ()
        self._library = library
        self._switches = switches
        self._root = root
        self._last: tuple[Switches, Catalog, Switched] | None = None

    def catalog(self) -> Catalog:
        switches, catalog = self._switches.current(), self._library.catalog()
        last = self._last
        # A library may give the very catalog of its last look; then the same ones are off.
        if last is None or last[0] != switches or last[1] is not catalog:
            last = self._last = (switches, catalog, switches.apply(catalog, root=self._root))
        switched = last[2]
        self.disabled = switched.disabled
        return switched.catalog

    def read(self, entry: SkillEntry) -> Parsed:
        return self._library.read(entry)

    def bundle(self, entry: SkillEntry) -> Bundle:
        return self._library.bundle(entry)


def switched_off(wanted: str, disabled: Iterable[Disabled]) -> NotFoundError | None:
    """The error for a skill that is not found because it is off, by id or name; None when it is not."""
    for entry, by in disabled:
        if _same(wanted, entry.id) or _same(wanted, entry.name):
            return NotFoundError(
                f"The skill {entry.id!r} is switched off {by.where}.",
                hint=f"Turn it on: {by.undo}",
                details={"field": "skill", "value": wanted},
            )
    return None


def switches_file(config_dir: Path) -> Path:
    return config_dir / FILE_NAME


def load_switches(config_dir: Path) -> Switches:
    """The switches kept in a configuration folder; none when there is no file."""
    path = switches_file(config_dir)
    rows = list_in(read_table(path), "off")
    return Switches(off=tuple(_row(row, path) for row in rows))


def save_switches(config_dir: Path, switches: Switches) -> None:
    replace_text(switches_file(config_dir), _HEAD + "".join(_lines(switches.off)))


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return (0,)
    return (status.st_ctime_ns, status.st_size, status.st_ino)


def _off(skill: str, root: Path | None, agent: str) -> Off:
    if root is not None and agent:
        raise InputError(
            f"{skill!r} cannot be switched for a root and an agent at once.",
            hint="Name the root or the agent, not both.",
            details={"field": "agent", "value": agent},
        )
    return Off(skill, _path(root), agent)


def _path(root: Path | None) -> str:
    return "" if root is None else os.path.abspath(root)  # noqa: PTH100 -- resolve() would follow links


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def _row(row: object, path: Path) -> Off:
    table: Table = row if isinstance(row, dict) else {}  # pyright: ignore[reportUnknownVariableType]
    skill = text_in(table, "skill")
    if not skill:
        raise InputError(
            f"{path} has an [[off]] entry without a skill.",
            hint=f'Add skill = "NAME" to it, or delete the entry from {path}.',
            details={"file": str(path), "field": "skill"},
        )
    return Off(skill, text_in(table, "root"), text_in(table, "agent"))


def _lines(rows: Iterable[Off]) -> Iterable[str]:
    import tomlkit  # noqa: PLC0415 -- only writing needs it

    for off in rows:
        yield "\n[[off]]\n"
        for key, value in off._asdict().items():
            if value:
                yield f"{key} = {tomlkit.string(value).as_string()}\n"
