"""The entry point: parses, runs one command, reports its answer or its failure."""

import logging
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer

import skillyard
from skillyard.cli.commands import COMMANDS
from skillyard.cli.failures import BROKEN_PIPE, INTERRUPTED, failure_of
from skillyard.cli.frame import Group
from skillyard.cli.output import Answer, Sink, use_utf8


class Root(Group):
    """All commands; without one, the audit."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 -- typer's own
        super().__init__(entries=COMMANDS, **attributes)


app = typer.Typer(
    cls=Root,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True, no_args_is_help=False)
def root(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> Answer | None:
    """One yard for Agent Skills: see what every agent sees, check it, pack it, ship it.

    Without a command: the audit of this machine.
    """
    if version:
        return _version()
    if context.invoked_subcommand is None:
        from skillyard.cli.audit import audit  # noqa: PLC0415 -- loaded like any other command, when it runs

        return audit(context)
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    words, as_json = take_json_flag(sys.argv[1:] if arguments is None else arguments)
    use_utf8()
    logging.getLogger("skillyard").addHandler(logging.NullHandler())  # a command answers; only a server keeps a log
    sink = Sink(as_json=as_json)
    try:
        return _run(words, sink)
    except BrokenPipeError:
        return _quiet_pipe()
    except SystemExit as stop:
        # Typer ends the process itself when the reader goes away in the middle of a command.
        if isinstance(stop.__context__, BrokenPipeError):
            return _quiet_pipe()
        raise
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 -- the one place that reports them all
        return _report(error, sink)


def take_json_flag(words: Sequence[str]) -> tuple[list[str], bool]:
    """The arguments without `--json`, which may stand anywhere before `--`, and whether it was there.

    It is taken out before anything is parsed, so that a usage error is a JSON document too.
    """
    end = words.index("--") if "--" in words else len(words)
    kept = [word for word in words[:end] if word != "--json"]
    return [*kept, *words[end:]], len(kept) < end


def _run(words: list[str], sink: Sink) -> int:
    command = typer.main.get_command(app)
    result = command.main(words, prog_name="skillyard", standalone_mode=False, obj=sink)
    if isinstance(result, Answer):
        sink.show(result)
        return result.exit_code
    if result == INTERRUPTED:
        raise KeyboardInterrupt
    sys.stdout.flush()
    return result if isinstance(result, int) else 0


def _report(error: BaseException, sink: Sink) -> int:
    if os.environ.get("SKILLYARD_DEBUG"):
        traceback.print_exception(error)
    failure = failure_of(error)
    try:
        sink.fail(failure)
    except BrokenPipeError:
        return _quiet_pipe()
    return failure.exit_code


def _quiet_pipe() -> int:
    # The reader has gone. Nothing more can be said to it, and Python must not try again when it exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE


def _version() -> Answer:
    number = skillyard.__version__
    return Answer(document={"version": number}, text=lambda console: console.print(f"skillyard {number}"))
