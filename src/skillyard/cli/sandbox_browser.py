"""`skillyard sandbox browser`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillyard.cli.options import Token
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline, visible
from skillyard.cli.sandbox_options import Id, Learn, Secret, secrets
from skillyard.cli.text import FAINT, count, styled
from skillyard.cli.yard import Server, yard_client

if TYPE_CHECKING:
    from rich.console import Console


def browser(
    context: typer.Context,
    sandbox_id: Id,
    step: Annotated[
        list[str], typer.Argument(metavar="STEP", help="Each in quotes: 'open URL', 'snapshot -i', 'click @e2'.")
    ],
    *,
    timeout: Annotated[
        int, typer.Option("--timeout", metavar="SECONDS", min=1, max=600, help="For all steps together.")
    ] = 60,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Continue after a failed step.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Record what each step acted on.")] = False,
    secret: Secret = None,
    learn: Learn = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Take steps in the browser of a sandbox.

    `snapshot -i` names what can be acted on by refs such as @e1, for `click @e1` or `fill @e2 "text"`. The page
    stays as long as the sandbox runs: without a server, for this command only. Exit code 1 when a step fails.
    """
    values = secrets(secret or ())
    with yard_client(server, token) as client, sink_of(context).busy(f"Browsing in {sandbox_id}"):
        done = client.sandboxes.browse(
            sandbox_id,
            step,
            secrets=values,
            timeout=timeout,
            stop_on_error=not keep_going,
            trace=trace,
            learn=learn,
        )
    failed = [one for one in done["results"] if one["exit_code"]]
    left = done["total_steps"] - len(done["results"])
    remarks = [f"Step {one['step_index'] + 1} failed ({one['cmd']}): {one['stderr']}" for one in failed]
    if left:
        remarks.append(f"{count(left, 'more step')} {'was' if left == 1 else 'were'} not taken.")
    return Answer(
        document={"sandbox_id": sandbox_id, **done},
        text=lambda console: _print(console, done["results"]),
        exit_code=0 if done["success"] else 1,
        remarks=remarks,
    )


def _print(console: "Console", results: list[dict[str, Any]]) -> None:
    for one in results:
        if len(results) > 1:
            console.print(styled((f"$ {inline(one['cmd'])}", FAINT)), soft_wrap=True)
        if one["stdout"]:
            console.print(styled(visible(one["stdout"].rstrip("\n"))), soft_wrap=True)
