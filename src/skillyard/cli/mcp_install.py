"""`skillyard mcp install`, `mcp uninstall` and `mcp clients`: this server in the lists of agents."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import quote, urlsplit

import typer

from skillyard.agents.clients.install import (
    Act,
    Change,
    carry_out,
    config_file,
    installed_entry,
    plan_install,
    plan_uninstall,
)
from skillyard.agents.clients.own_server import ENTRY_NAME, PROGRAM, own_command, program_on_path, root_options
from skillyard.agents.clients.table import CLIENTS, TOKEN, Client, Server, find_client
from skillyard.cli.options import DryRun, Environment, Roots, Yes, check_place
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import one_line, visible
from skillyard.cli.text import BAD, FAINT, GOOD, print_rows, print_unified, styled
from skillyard.config.load import load_settings
from skillyard.errors import SkillyardError, UsageError
from skillyard.library.roots import Machine, label_of

if TYPE_CHECKING:
    from rich.console import Console

    from skillyard.config.settings import Settings

_LOOKS: Final = {
    Act.ADD: ("+", GOOD, "is added"),
    Act.REPLACE: ("~", "yellow", "replaces what has its name"),
    Act.REMOVE: ("-", BAD, "is taken out"),
    Act.RESTORE: ("↺", GOOD, "makes way for what was there before"),
    Act.NONE: ("=", FAINT, "is there already"),
}

AgentNames = Annotated[
    list[str] | None,
    typer.Option("--agent", "-a", metavar="NAME", help="claude, codex, cursor, vscode, gemini, …; repeatable."),
]
User = Annotated[bool, typer.Option("--user", "-g", help="Your own list, not the project's.")]
EntryName = Annotated[str, typer.Option("--name", metavar="NAME", help="The server's name in the list.")]
Toolsets = Annotated[
    str,
    typer.Option(
        "--toolsets",
        metavar="LIST",
        help="Toolsets, separated by commas: skills (the default), registry, sandbox, releases, learning; or all.",
    ),
]


def install(
    context: typer.Context,
    *,
    agent: AgentNames = None,
    user: User = False,
    name: EntryName = ENTRY_NAME,
    toolsets: Toolsets = "",
    root: Roots = None,
    env: Environment = None,
    registry: Annotated[bool, typer.Option("--registry", help="Skills of the yard, not of folders.")] = False,
    server: Annotated[str | None, typer.Option("--server", metavar="URL", help="The yard is this server.")] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Have the agent ask the server itself; its token is in SKILLYARD_TOKEN.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Answer:
    """Add this server to an agent's list of MCP servers.

    The change is shown first. Comments and other entries of the file stay as they are. Without --user the project's
    file is used, where the agent has one. `mcp uninstall` undoes it.
    """
    machine = Machine.here()
    settings = load_settings({"server": server})
    check_place(settings.server if http else server, None, root, env, registry=registry)
    _check_address(settings.server if http else server)
    toolsets = _checked(toolsets)
    options = ["--server", server] if server else ["--registry"] if registry else []
    options += ["--env", env] if env else []
    options += ["--toolsets", toolsets] if toolsets else []
    # A token that is in a file of settings is read from there by whatever the agent starts.
    with_token = settings.token is not None if http else bool(server and machine.env.get(TOKEN))
    planned: list[Change] = []
    for client in clients_named(agent, machine):
        own = config_file(client, machine, user=user)[1]
        if http:
            entered = _address(settings, toolsets, with_token=with_token)
        else:
            folders = root_options(root or (), machine, user=own)
            command = own_command(settings.home, [*folders, *options], machine, user=own)
            entered = replace(command, with_token=with_token, is_shared=not own)
        planned.append(plan_install(client, entered, name=name, machine=machine, user=user))
    remarks = _remarks(planned, machine, http=http, with_token=with_token)
    return _carried(context, planned, settings, dry_run=dry_run, yes=yes, remarks=remarks)


def uninstall(
    context: typer.Context,
    *,
    agent: AgentNames = None,
    user: User = False,
    name: EntryName = ENTRY_NAME,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Answer:
    """Remove this server from an agent's list.

    A file that was not changed since is restored to the last byte; from a changed one only the entry is removed.
    """
    machine, settings = Machine.here(), load_settings()
    planned = [
        plan_uninstall(client, name=name, machine=machine, user=user, home=settings.home)
        for client in clients_named(agent, machine)
    ]
    return _carried(context, planned, settings, dry_run=dry_run, yes=yes)


def clients(*, name: EntryName = ENTRY_NAME) -> Answer:
    """List agents, and which of them have this server."""
    machine = Machine.here()
    rows = [_state(client, machine, name) for client in CLIENTS]
    return Answer(document={"clients": rows}, text=lambda console: _print_states(console, rows))


def clients_named(names: Sequence[str] | None, machine: Machine) -> list[Client]:
    """The agents of these names; without names, an error that says which agents are here."""
    if names:
        return list(dict.fromkeys(map(find_client, names)))
    here = [client.id for client in CLIENTS if client.is_here(machine)]
    raise UsageError(
        "No agent was named.",
        hint=f"Of those on this machine: {' '.join(f'--agent {each}' for each in here)}"
        if here
        else "Name one, such as --agent claude; all of them: skillyard mcp clients",
        details={"field": "agent"},
    )


def _checked(toolsets: str) -> str:
    if not toolsets:
        return ""
    from skillyard.agents.toolsets.names import chosen_toolsets  # noqa: PLC0415 -- needs the whole server

    chosen_toolsets(toolsets)
    return toolsets.replace(" ", "")


def _check_address(address: str | None) -> None:
    try:
        parts = urlsplit(address or "")
    except ValueError:
        raise UsageError(
            "--server takes an address.",
            hint="Write it as --server https://yard.example.org",
            details={"field": "server"},
        ) from None
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            "The address has a user name or a password in it, which would be written into the agent's file.",
            hint=f"Leave them out, and put a token into {TOKEN}, which is not written.",
            details={"field": "server", "value": parts.hostname},
        )


def _address(settings: "Settings", toolsets: str, *, with_token: bool) -> Server:
    if settings.server is None:
        raise UsageError("--http needs an address.", hint="Name the server: --server https://yard.example.org")
    query = f"?toolsets={quote(toolsets, safe=',')}" if toolsets else ""
    return Server(url=f"{settings.server.rstrip('/')}/mcp{query}", with_token=with_token)


def _remarks(planned: Sequence[Change], machine: Machine, *, http: bool, with_token: bool) -> list[str]:
    of_projects = [change for change in planned if not change.user]
    remarks = [change.client.remark for change in of_projects if change.client.remark]
    if of_projects and not http and program_on_path(machine) is None:
        remarks.append(f"There is no {PROGRAM} on the PATH yet, where the agent looks for it; or add --user.")
    if with_token:
        remarks.append(f"The token is not written: have {TOKEN} in the environment that the agent is started in.")
    elif http:
        remarks.append(f"No token is sent: a server that asks for one needs {TOKEN} set when you install.")
    return remarks


def _carried(
    context: typer.Context,
    planned: Sequence[Change],
    settings: "Settings",
    *,
    dry_run: bool,
    yes: bool,
    remarks: Sequence[str] = (),
) -> Answer:
    sink = sink_of(context)
    wanted = [change for change in planned if change.act is not Act.NONE]
    sink.stream(lambda console: _print_changes(console, planned))
    if wanted and not dry_run:
        files = ", ".join(str(change.file) for change in wanted)
        sink.confirm(f"Write {files}?", yes=yes)
        for change in wanted:
            carry_out(change, home=settings.home)
    done = [] if dry_run else [str(change.file) for change in wanted]
    return Answer(
        document={"changes": [change.as_dict() for change in planned], "dry_run": dry_run, "done": done},
        text=lambda console: _print_done(console, wanted, dry_run=dry_run),
        remarks=remarks if wanted else (),
    )


def _print_changes(console: "Console", planned: Sequence[Change]) -> None:
    for change in planned:
        sign, style, words = _LOOKS[change.act]
        text = f" {change.client.label}: {one_line(change.name)} {words}, {one_line(str(change.file))}"
        console.print(styled((sign, style), text), soft_wrap=True)
        print_unified(console, visible(change.diff()))


def _print_done(console: "Console", wanted: Sequence[Change], *, dry_run: bool) -> None:
    if dry_run:
        console.print(styled(("Nothing was written: this was a dry run.", FAINT)))
        return
    for change in wanted:
        done = "Written" if change.after is not None else "Deleted, as it was not there before"
        console.print(f"{done}: {one_line(str(change.file))}", soft_wrap=True)
        if change.act in {Act.ADD, Act.REPLACE}:
            user = " --user" if change.user else ""
            named = "" if change.name == ENTRY_NAME else f" --name {shlex.quote(change.name)}"
            console.print(styled((f"undo: skillyard mcp uninstall --agent {change.client.id}{user}{named}", FAINT)))


def _state(client: Client, machine: Machine, name: str) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for scope, user, places in (("project", False, client.project), ("user", True, client.user)):
        if places and (user or machine.cwd != machine.home):
            files[scope] = _file_state(client, machine, name, user=user)
    return {"agent": client.id, "label": client.label, "here": client.is_here(machine), **files}


def _file_state(client: Client, machine: Machine, name: str, *, user: bool) -> dict[str, Any]:
    try:
        file, entry = installed_entry(client, machine, name=name, user=user)
    except SkillyardError as error:
        return {"file": "", "installed": False, "problem": error.message}
    return {"file": str(file), "installed": entry is not None, "problem": ""}


def _print_states(console: "Console", rows: Sequence[dict[str, Any]]) -> None:
    home = Machine.here().home
    lines: list[Sequence[Any]] = []
    for row in rows:
        where = [
            f"{scope}: {row[scope]['problem'] or label_of(Path(row[scope]['file']), home=home)}"
            for scope in ("project", "user")
            if scope in row and (row[scope]["installed"] or row[scope]["problem"])
        ]
        state = ", ".join(where)
        scopes = [row[scope] for scope in ("project", "user") if scope in row]
        if any(scope["problem"] for scope in scopes):
            sign = styled(("!", BAD))
        elif where:
            sign = styled(("✓", GOOD))
        else:
            sign = styled(("·" if row["here"] else " ", FAINT))
        lines.append((sign, row["agent"], state or ("on this machine" if row["here"] else "")))
    print_rows(console, lines)
