"""`skillyard sandbox exec` and `python`: running things, with their output as it comes."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from skillyard.cli.live import Live
from skillyard.cli.options import Token
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.sandbox_options import Id, Learn, Secret, secrets
from skillyard.cli.text import count
from skillyard.cli.yard import Server, yard_client
from skillyard.errors import UsageError
from skillyard.library.regular import read_regular
from skillyard.skill.limits import MIB

_MAX_SECONDS: Final = 300
Timeout = Annotated[
    int, typer.Option("--timeout", metavar="SECONDS", min=1, max=_MAX_SECONDS, help="It is ended after this.")
]


def exec_command(
    context: typer.Context,
    sandbox_id: Id,
    command: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND", help="A program and its arguments, after --; or one line for the shell."),
    ],
    *,
    cwd: Annotated[
        str | None, typer.Option("--cwd", metavar="DIR", help="The folder, relative to the workspace.")
    ] = None,
    timeout: Timeout = 30,
    secret: Secret = None,
    learn: Learn = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Run a command and see its output as it comes.

    Several words are a program and its arguments, one word is a line for the shell:
    `exec ID -- ls -l` and `exec ID 'ls | wc -l'`. Exit code 1 when the command fails, whatever its own exit code,
    which is said on stderr and in --json. Interrupting ends the command.
    """
    line = command[0] if len(command) == 1 else shlex.join(command)
    values = secrets(secret or ())
    with (
        yard_client(server, token) as client,
        Live(sink_of(context), f"Running in {sandbox_id}") as live,
    ):
        done = client.sandboxes.shell(
            sandbox_id, line, cwd=cwd, secrets=values, timeout=timeout, learn=learn, on_output=live.write
        )
    return _answer(sandbox_id, done, timeout)


def python(
    context: typer.Context,
    sandbox_id: Id,
    code: Annotated[str | None, typer.Argument(metavar="CODE", help="The code; - reads it from stdin.")] = None,
    *,
    file: Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE", help="A file with the code.")] = None,
    timeout: Timeout = 30,
    secret: Secret = None,
    learn: Learn = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Run Python in a session that keeps its state.

    What the code defines is there for the next call, as long as the sandbox runs: on a server until it is stopped or
    idle, without one for this command only. The value of a last expression is printed. Exit code 1 when it fails.
    """
    source = _source(code, file)
    values = secrets(secret or ())
    with (
        yard_client(server, token) as client,
        Live(sink_of(context), f"Running in {sandbox_id}") as live,
    ):
        done = client.sandboxes.python(
            sandbox_id, source, secrets=values, timeout=timeout, learn=learn, on_output=live.write
        )
        live.write("stderr", done["error"] or "")
    figures = done["data"]["output"]["images"] if done["data"] else ()
    return _answer(sandbox_id, done, timeout, figures=len(figures))


def _source(code: str | None, file: Path | None) -> str:
    if (code is None) == (file is None):
        raise UsageError(
            "Give the code once: as text, as - for stdin, or as a file.",
            hint="For a file: skillyard sandbox python ID --file FILE",
        )
    if file is not None:
        return read_regular(str(file.resolve()), MIB).decode("utf-8", "replace")
    return sys.stdin.read() if code == "-" else str(code)


def _answer(sandbox_id: str, done: Mapping[str, Any], timeout: int, *, figures: int = 0) -> Answer:
    remarks = [_remark(done, timeout)]
    if done["truncated"]:
        remarks.append("It wrote more than is kept. To keep more: skillyard sandbox create --limit output=16m")
    if figures:
        remarks.append(f"{count(figures, 'figure')} came with it: --json has them, in base64.")
    return Answer(
        document={"sandbox_id": sandbox_id, **done},
        text=lambda _console: None,
        exit_code=0 if done["success"] else 1,
        remarks=[remark for remark in remarks if remark],
    )


def _remark(done: Mapping[str, Any], timeout: int) -> str:
    """How it ended, if that was not well; what it said itself was shown."""
    match done["ending"]:
        case "timeout" if timeout < _MAX_SECONDS:
            return f"It was ended after {timeout} s. Give it longer with --timeout, up to {_MAX_SECONDS}."
        case "timeout":
            return f"It was ended after {timeout} s, the longest time allowed."
        case "died":
            return f"The sandbox died while it ran: {done['error']} Its files are there; the next command starts it."
        case "killed":
            return "It was ended by a signal, or by a limit of the sandbox."
        case _:
            code = done.get("exit_code")
            return f"It ended with exit code {code}." if code else ""
