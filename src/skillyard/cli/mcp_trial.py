"""`skillyard mcp test`: whether an agent really gets the tools of this server."""

import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillyard.agents.clients.install import installed_entry
from skillyard.agents.clients.own_server import ENTRY_NAME
from skillyard.agents.clients.table import PATIENCE, Client
from skillyard.agents.clients.trial import Start, Trial, start_of, try_start
from skillyard.cli.mcp_install import AgentNames, EntryName, User, clients_named
from skillyard.cli.output import Answer
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import BAD, FAINT, GOOD, count, print_rows, styled
from skillyard.errors import NotFoundError, SkillyardError
from skillyard.library.roots import Machine, label_of, project_folders

if TYPE_CHECKING:
    from rich.console import Console


def check(*, agent: AgentNames = None, user: User = False, name: EntryName = ENTRY_NAME) -> Answer:
    """See whether an agent really gets the tools of this server.

    The server is started with the command and the variables that the agent would give it, asked for its tools, and
    called once, which changes nothing. Exit code 1 when that fails, or takes longer than the agent waits.
    """
    machine = Machine.here()
    results = [_test(client, machine, name, user=user) for client in clients_named(agent, machine)]
    return Answer(
        document={"tests": results},
        text=lambda console: _print(console, results),
        exit_code=0 if all(result["ok"] for result in results) else 1,
    )


def _test(client: Client, machine: Machine, name: str, *, user: bool) -> dict[str, Any]:
    file, entry = _entry(client, machine, name, user=user)
    allowed = client.waits(entry)
    result: dict[str, Any] = {"agent": client.id, "label": client.label, "file": str(file), "allowed": allowed}
    try:
        start = start_of(client, entry, machine.env)
        result |= {"command": [*start.command], "url": start.url}
        trial = _trial(start, machine, allowed)
    except SkillyardError as error:
        return {**result, "ok": False, "problem": error.message, "fix": error.hint}
    result |= {"greeted": trial.greeted, "listed": trial.listed, "called": trial.called, "tools": trial.tools}
    problem, fix = _problem(client, trial, allowed, name, of_user=file in client.files(machine, user=True))
    own = _own_check(client, machine, name)
    if own and not problem:
        problem, fix = (
            own,
            f"Start it in this project and trust the project, or use your own list: {_install(client, name)}",
        )
    return {**result, "ok": not problem, "problem": problem, "fix": fix}


def _entry(client: Client, machine: Machine, name: str, *, user: bool) -> tuple[Path, Mapping[str, Any]]:
    """The entry that the agent uses: that of the project before its person's own."""
    scopes = [True] if user or not client.project or machine.cwd == machine.home else [False]
    scopes += [True] if not user and scopes == [False] and client.user else []
    for of_user in scopes:
        file, entry = installed_entry(client, machine, name=name, user=of_user)
        if isinstance(entry, dict):
            return file, entry
    named = "" if name == ENTRY_NAME else f" --name {shlex.quote(name)}"
    raise NotFoundError(
        f"{client.label} has no server {name!r}.",
        hint=f"Add it: skillyard mcp install --agent {client.id}{' --user' if user else ''}{named}",
        details={"field": "name", "value": name},
    )


def _trial(start: Start, machine: Machine, allowed: float) -> Trial:
    folder = project_folders(machine)[-1] if machine.cwd != machine.home else machine.home
    trial = try_start(start, folder, patience=max(allowed, PATIENCE))
    # The first start after an update takes longer than the next ones, which use what it kept.
    return trial if trial.listed <= allowed else try_start(start, folder, patience=max(allowed, PATIENCE))


def _problem(client: Client, trial: Trial, allowed: float, name: str, *, of_user: bool) -> tuple[str, str]:
    if not trial.tools:
        return "The server has no tools.", f"Give it some: skillyard mcp install --agent {client.id} --toolsets skills"
    if trial.listed <= allowed:
        return "", ""
    return (
        f"The tools came after {trial.listed:.1f} s; {client.label} goes on without them after {allowed:g} s.",
        "Try again when the machine is less busy."
        if of_user and allowed >= PATIENCE
        else f"Make it wait: {_install(client, name)}",
    )


def _install(client: Client, name: str) -> str:
    """The command that puts the server into a person's own list."""
    named = [] if name == ENTRY_NAME else ["--name", name]
    return shlex.join(["skillyard", "mcp", "install", "--agent", client.id, "--user", *named])


def _own_check(client: Client, machine: Machine, name: str) -> str:
    """What the agent's own command says if it does not read the entry."""
    program = shutil.which(client.own_check[0], path=machine.env.get("PATH")) if client.own_check else None
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, *client.own_check[1:], name],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            cwd=machine.cwd,
            env=dict(machine.env),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = [line for line in (done.stderr or done.stdout).splitlines() if "rror" in line]
    return f"{client.label} does not read the entry: {' '.join(lines[:1])}".rstrip(": ") if done.returncode else ""


def _print(console: "Console", results: Sequence[Mapping[str, Any]]) -> None:
    home = Machine.here().home
    for result in results:
        sign = styled(("✓", GOOD)) if result["ok"] else styled(("✗", BAD))
        console.print(sign, f"{result['label']}: {one_line(label_of(Path(result['file']), home=home))}", soft_wrap=True)
        facts: list[tuple[str, str]] = []
        if "command" in result:
            facts.append(("starts", one_line(result["url"] or shlex.join(result["command"]))))
        if "tools" in result:
            facts.append(("tools", f"{count(result['tools'], 'tool')} after {result['listed']:.2f} s"))
            facts.append(("waits", f"{result['allowed']:g} s"))
        if result.get("called") is not None:
            facts.append(("call", f"answered after {result['called']:.2f} s"))
        print_rows(console, [(styled((f"  {key}", FAINT)), value) for key, value in facts])
        if result["problem"]:
            console.print(styled(("  ", BAD), inline(result["problem"])), soft_wrap=True)
            console.print(styled((f"  fix: {inline(result['fix'])}", GOOD)), soft_wrap=True)
