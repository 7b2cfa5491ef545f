"""Setting a yard up for the person at this machine: their skills brought in, their agents connected, a model chosen."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from skillyard.agents.clients.install import carry_out, installed_entry, plan_install, plan_uninstall
from skillyard.agents.clients.own_server import ENTRY_NAME, own_command
from skillyard.agents.clients.table import CLIENTS, Client, find_client
from skillyard.app.libraries import BUILTIN, open_library
from skillyard.app.yard import Yard
from skillyard.config.files import write_key
from skillyard.config.load import load_settings, parse_value
from skillyard.config.paths import user_config_file
from skillyard.config.settings import Settings
from skillyard.errors import InputError, SkillyardError
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal
from skillyard.library.disk import read_folder
from skillyard.library.roots import Machine, label_of
from skillyard.registry.drafts import draft_of
from skillyard.skill.library import Library, SkillEntry

AT_ONCE: Final = 200
"""Skills that are brought in with one request; a person waits for it."""
_YARD: Final = ("--registry",)
"""An agent that is connected from the yard's page means the yard, not folders."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Connection:
    """An agent on this machine, and whether it knows the yard."""

    client: Client
    file: str
    connected: bool
    problem: str

    def as_dict(self) -> dict[str, Any]:
        names = {"agent": self.client.id, "label": self.client.label}
        return {**names, "file": self.file, "connected": self.connected, "problem": self.problem}


@dataclass(frozen=True, kw_only=True, slots=True)
class Brought:
    """What came of bringing skills in."""

    published: list[str]
    refused: list[tuple[str, str]]
    """Each with the reason."""
    left: int
    """How many are still to come."""


def found_here(library: Library, known: Collection[str]) -> list[SkillEntry]:
    """The skills in this machine's folders that the yard has nothing like."""
    entries = library.catalog().entries
    return [entry for entry in entries if entry.source != BUILTIN and entry.name not in known]


def found_in(folder: str, known: Collection[str]) -> list[SkillEntry]:
    """The skills in a folder that a person names, that the yard has nothing like."""
    path = Path(folder).expanduser()
    if not path.is_absolute() or not path.is_dir():
        raise InputError(
            f"{folder!r} is no folder of this machine.",
            hint="Give it from the root on, such as /home/ana/skills, or from your home folder on: ~/skills",
            details={"field": "folder", "value": folder},
        )
    entries = open_library(load_settings(), roots=[path]).catalog().entries
    found = [entry for entry in entries if entry.name not in known]
    if not found:
        raise InputError(
            f"There is no skill in {folder!r} that is not here already.",
            hint="A skill is a folder with a file SKILL.md in it.",
            details={"field": "folder", "value": folder},
        )
    return found


async def bring_in(yard: Yard, principal: Principal, entries: Sequence[SkillEntry]) -> Brought:
    """Publish skills from folders. What cannot be is told, and keeps no other from coming."""
    published: list[str] = []
    refused: list[tuple[str, str]] = []
    for entry in entries[:AT_ONCE]:
        folder = Path(entry.location).parent
        try:
            read = await asyncio.to_thread(read_folder, folder)
            draft = draft_of(read.require(), folder=folder.name, found=read.findings)
            why = Why(reason=f"Brought in from {entry.source}.")
            await yard.registry.publishing.publish_bundle(principal, draft, why=why)
        except SkillyardError as error:
            refused.append((entry.name, error.message))
        else:
            published.append(entry.name)
    return Brought(published=published, refused=refused, left=max(0, len(entries) - AT_ONCE))


def connections(machine: Machine) -> list[Connection]:
    """The agents that are on this machine."""
    return [_connection(client, machine) for client in CLIENTS if client.is_here(machine)]


def connect(agent: str, machine: Machine, home: Path) -> None:
    """Put the yard into the agent's own list of MCP servers; what was there is kept for the way back."""
    server = own_command(home, _YARD, machine, user=True)
    change = plan_install(find_client(agent), server, name=ENTRY_NAME, machine=machine, user=True)
    carry_out(change, home=home)


def disconnect(agent: str, machine: Machine, home: Path) -> None:
    client = find_client(agent)
    carry_out(plan_uninstall(client, name=ENTRY_NAME, machine=machine, user=True, home=home), home=home)


def choose_model(model: str, base_url: str, api_key: str) -> Settings:
    """Write the model that learns from feedback into the person's own settings, and answer how they are then.

    Without an address there is none any more; a key is not shown, so without one the one that is there stays.
    """
    given = {"model": model, "model_base_url": base_url, **({"model_api_key": api_key} if api_key else {})}
    parsed = {key: parse_value(key, text) if text else None for key, text in given.items()}
    for key, value in parsed.items():
        write_key(user_config_file(), key, value)
    return load_settings()


def _connection(client: Client, machine: Machine) -> Connection:
    try:
        file, entry = installed_entry(client, machine, name=ENTRY_NAME, user=True)
    except SkillyardError as error:
        return Connection(client=client, file="", connected=False, problem=error.message)
    shown = label_of(file, home=machine.home)
    return Connection(client=client, file=shown, connected=entry is not None, problem="")
