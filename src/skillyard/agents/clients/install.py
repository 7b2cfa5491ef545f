"""Putting a server into a program's own list, and taking it out again as if nothing had been."""

import contextlib
import difflib
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from skillyard.agents.clients.records import Record, Records, digest_of
from skillyard.agents.clients.table import Client, Server
from skillyard.agents.clients.toml_text import parse_toml_text, with_table, without_table
from skillyard.errors import ConflictError, InputError, LimitError, NotFoundError, UnavailableError, UsageError
from skillyard.files import replace_file
from skillyard.library.json_text import MAX_CHARACTERS, parse_json_text, with_entry, without_entry
from skillyard.library.roots import Machine
from skillyard.redact import redact

MAX_NAME: Final = 64
_SHOWN_LINE: Final = 200
_FOR_ALL: Final = 0o644
"""The mode of a new file of a project, which others read too."""


class Act(StrEnum):
    """What a change does with the entry."""

    ADD = "add"
    REPLACE = "replace"
    REMOVE = "remove"
    RESTORE = "restore"
    """The entry of that name that was there before comes back."""
    NONE = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One file as it is, and as it is going to be."""

    client: Client
    name: str
    file: Path
    user: bool
    act: Act
    before: bytes | None
    """None where there is no file."""
    after: bytes | None
    """None where there is to be none."""

    def diff(self) -> str:
        """What changes, line by line, without secrets that stand near."""
        sides = [_lines(side) for side in (self.before, self.after)]
        label = str(self.file)
        lines = difflib.unified_diff(*sides, fromfile=label, tofile=label, n=1, lineterm="")
        return redact("\n".join(lines))

    def as_dict(self) -> dict[str, Any]:
        return {
            "agent": self.client.id,
            "name": self.name,
            "file": str(self.file),
            "scope": "user" if self.user else "project",
            "act": self.act.value,
            "diff": self.diff(),
        }


def plan_install(client: Client, server: Server, *, name: str, machine: Machine, user: bool) -> Change:
    """What putting a server into a client's list changes."""
    if not 1 <= len(name) <= MAX_NAME or not name.isprintable() or name != name.strip():
        raise UsageError(
            f"{name[:MAX_NAME]!r} cannot be the name of a server.",
            hint=f"Use 1 to {MAX_NAME} visible characters, such as skillyard.",
            details={"field": "name", "value": name[:MAX_NAME], "limit": MAX_NAME},
        )
    file, of_user = _file_of(client, name, machine, user=user)
    entry = client.entry(server)
    if entry is None:
        raise UsageError(
            f"{client.label} cannot be given an address with a token that is not written into its file.",
            hint="Leave out --http: then it starts `skillyard mcp serve`, which asks the server.",
            details={"field": "agent", "value": client.id},
        )
    before = _read(file)
    text = _decoded(before, file)
    present = _entries(client, text, file).get(name)
    if present == entry:
        act, after = Act.NONE, before
    else:
        act = Act.ADD if present is None else Act.REPLACE
        after = _with(client, text, file, name, entry).encode()
    return Change(client=client, name=name, file=file, user=of_user, act=act, before=before, after=after)


def plan_uninstall(client: Client, *, name: str, machine: Machine, user: bool, home: Path) -> Change:
    """What taking the server out again changes: nothing else that was written since is lost.

    A file that nobody else changed becomes what it was, to the last byte.
    """
    file, of_user = _file_of(client, name, machine, user=user)
    before = _read(file)
    text = _decoded(before, file)
    present = _entries(client, text, file).get(name)
    record = Records(home).find(file, name)
    if present is None:
        raise NotFoundError(
            f"{file} has no server {name!r}.",
            hint="Where it is: skillyard mcp clients",
            details={"file": str(file), "field": "name", "value": name},
        )
    act = Act.REMOVE
    if record is not None and record.is_exact and digest_of(before) == record.after:
        after = record.before
        act = Act.RESTORE if record.previous is not None else Act.REMOVE
    elif record is not None and record.previous is not None and present == record.entry:
        act, after = Act.RESTORE, _with(client, text, file, name, record.previous).encode()
    else:
        after = _without(client, text, file, name).encode()
    return Change(client=client, name=name, file=file, user=of_user, act=act, before=before, after=after)


def carry_out(change: Change, *, home: Path) -> None:
    """Write the file, unless somebody else did so meanwhile; what was there is kept for the way back."""
    if change.act is Act.NONE:
        return
    if _read(change.file) != change.before:
        raise ConflictError(
            f"{change.file} was changed by someone else just now.",
            hint="Try again.",
            details={"file": str(change.file)},
        )
    records = Records(home)
    removes = change.act in {Act.REMOVE, Act.RESTORE}
    known = records.find(change.file, change.name)
    if not removes:
        records.keep(_record(change, known))
    try:
        if change.after is None:
            change.file.resolve().unlink()
            _take_away(known.folders if known else ())
        else:
            mode = _FOR_ALL if change.before is None and not change.user else None
            replace_file(change.file.resolve(), change.after, mode=mode)
    except OSError as error:
        raise UnavailableError(
            f"{change.file} cannot be written: {error.strerror}.",
            hint=f"Check it: ls -l {change.file}",
            details={"file": str(change.file)},
        ) from error
    if removes:
        records.forget(change.file, change.name)


def installed_entry(client: Client, machine: Machine, *, name: str, user: bool) -> tuple[Path, dict[str, Any] | None]:
    """The file of a client, and the entry of that name in it, if there is one."""
    file, _ = _file_of(client, name, machine, user=user)
    return file, _entries(client, _decoded(_read(file), file), file).get(name)


def config_file(client: Client, machine: Machine, *, user: bool) -> tuple[Path, bool]:
    """The file that is changed, and whether it is the user's own."""
    of_user = user or not client.project or machine.cwd == machine.home
    files = client.files(machine, user=of_user)
    if not files:
        raise UsageError(
            f"{client.label} keeps its servers in projects only.",
            hint="Go into a project and leave out --user.",
            details={"field": "agent", "value": client.id},
        )
    return next((file for file in files if file.exists()), files[0]), of_user


def _file_of(client: Client, name: str, machine: Machine, *, user: bool) -> tuple[Path, bool]:
    """Of the files that a client reads the one in which that server is, else the one to write it into."""
    first, of_user = config_file(client, machine, user=user)
    others = [file for file in client.files(machine, user=of_user) if file != first and file.exists()]
    holding = (file for file in (first, *others) if name in _entries(client, _decoded(_read(file), file), file))
    return next(holding, first), of_user


def _record(change: Change, known: Record | None) -> Record:
    text = _decoded(change.before, change.file)
    previous = _entries(change.client, text, change.file).get(change.name)
    entry = _entries(change.client, _decoded(change.after, change.file), change.file)[change.name]
    after = digest_of(change.after)
    if known is not None and previous == known.entry:
        # Installed again: what was there before the first time is what the way back leads to.
        exact = known.is_exact and digest_of(change.before) == known.after
        before, previous = known.before, known.previous
    else:
        exact, before = True, change.before
    missing = (str(folder) for folder in change.file.parents if not folder.exists())
    return Record(
        file=change.file,
        name=change.name,
        entry=entry,
        previous=previous,
        before=before if exact else None,
        after=after,
        is_exact=exact,
        folders=known.folders if known is not None and change.file.exists() else tuple(missing),
    )


def _take_away(folders: Sequence[str]) -> None:
    """Remove the folders that were made for a file, up to the first in which somebody else keeps something."""
    with contextlib.suppress(OSError):
        for folder in folders:
            Path(folder).rmdir()


def _is_toml(file: Path) -> bool:
    return file.suffix == ".toml"


def _entries(client: Client, text: str, file: Path) -> dict[str, Any]:
    table: Any = (parse_toml_text if _is_toml(file) else parse_json_text)(text, file=str(file))
    for key in client.keys:
        table = table.get(key, {}) if isinstance(table, dict) else {}  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return table if isinstance(table, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _with(client: Client, text: str, file: Path, name: str, entry: dict[str, Any]) -> str:
    return (with_table if _is_toml(file) else with_entry)(text, (*client.keys, name), entry, file=str(file))


def _without(client: Client, text: str, file: Path, name: str) -> str:
    return (without_table if _is_toml(file) else without_entry)(text, (*client.keys, name), file=str(file))


def _read(file: Path) -> bytes | None:
    try:
        state = file.stat()
        if not stat.S_ISREG(state.st_mode):
            raise InputError(f"{file} is no file.", hint="Move it away.", details={"file": str(file)})
        size = state.st_size
        if size > MAX_CHARACTERS:
            raise LimitError(
                f"{file} has {size:,} bytes; at most {MAX_CHARACTERS:,} are read.",
                hint="Add the entry by hand.",
                details={"file": str(file), "limit": MAX_CHARACTERS},
            )
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UnavailableError(
            f"{file} cannot be read: {error.strerror}.", hint=f"Check it: ls -l {file}", details={"file": str(file)}
        ) from error


def _decoded(data: bytes | None, file: Path) -> str:
    try:
        return (data or b"").decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file} is not UTF-8 text: byte {error.start} cannot be read.",
            hint=f"Save {file} as UTF-8.",
            details={"file": str(file)},
        ) from None


def _lines(side: bytes | None) -> list[str]:
    return list(_shortened((side or b"").decode("utf-8", "replace")))


def _shortened(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield line if len(line) <= _SHOWN_LINE else f"{line[:_SHOWN_LINE]}…"
