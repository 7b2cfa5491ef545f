"""This very program as an MCP server that others start."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from skillyard.agents.clients.table import Server
from skillyard.errors import UsageError
from skillyard.library.roots import Machine, project_folders

ENTRY_NAME: Final = "skillyard"
"""What it is called in others' lists."""
PROGRAM: Final = "skillyard"


def own_command(home: Path, options: Sequence[str], machine: Machine, *, user: bool) -> Server:
    """The command that starts it, for a person's own list or for that of a project."""
    words = ["mcp", "serve", *options]
    if not user:
        # The file of a project is shared: nothing of this machine belongs into it.
        return Server(command=[PROGRAM, *words])
    # A program with windows knows neither the variables of a shell nor its PATH.
    environment = {"SKILLYARD_HOME": str(home)} if machine.env.get("SKILLYARD_HOME") else {}
    found = program_on_path(machine)
    command = [found] if found else [sys.executable, "-m", "skillyard"]
    return Server(command=[*command, *words], environment=environment)


def program_on_path(machine: Machine) -> str | None:
    """Where a shell of this machine finds the program, if it does."""
    return shutil.which(PROGRAM, path=machine.env.get("PATH"))


def root_options(roots: Sequence[Path], machine: Machine, *, user: bool) -> list[str]:
    """Folders of skills as options: in the file of a project by their place in it, else by their whole paths."""
    project = project_folders(machine)[-1].resolve()
    options: list[str] = []
    for root in roots:
        folder = (machine.cwd / root.expanduser()).resolve()
        if user:
            options += ["--root", str(folder)]
        elif folder.is_relative_to(project):
            options += ["--root", folder.relative_to(project).as_posix()]
        else:
            raise UsageError(
                f"{folder} is outside of the project, whose file others read too.",
                hint="Add --user: then it goes into your own list.",
                details={"field": "root", "value": str(root)},
            )
    return options
