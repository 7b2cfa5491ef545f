"""`skillyard release replay`, `evaluate` and `run`: candidates put to the test, and released skills at work."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from skillyard.cli.options import Token
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.release_options import CandidateId, Secret, Var, Vars, secrets, variables
from skillyard.cli.release_screenshots import Screenshots, save_screenshots, saved_remarks
from skillyard.cli.release_show import payload_of
from skillyard.cli.release_text import PASS, place_and_reason, print_runs, print_steps, promotion_advice, verdict_text
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import BAD, FAINT, GOOD, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.errors import SkillyardError, UsageError
from skillyard.remote.release_following import runs_as_they_come

if TYPE_CHECKING:
    from rich.console import Console

Timeout = Annotated[
    int | None, typer.Option("--timeout", metavar="SECONDS", min=1, max=600, help="For one replay, from start to end.")
]


def replay(
    context: typer.Context,
    candidate: CandidateId,
    *,
    runs: Annotated[int, typer.Option("--runs", "-n", metavar="NUMBER", min=1, max=100, help="How many times.")] = 5,
    var: Var = None,
    vars_file: Vars = None,
    secret: Secret = None,
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", metavar="NAME", help="With the values and checks of this benchmark.")
    ] = None,
    timeout: Timeout = None,
    screenshots: Screenshots = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Replay a candidate, each time in a fresh sandbox.

    Its steps are really taken, each time: an order that they place is placed. It passes when enough replays pass that
    chance alone does not explain it. Exit code 1 when it does not pass.
    """
    values, hidden = variables(var or (), vars_file), secrets(secret or ())
    with yard_client(server, token) as client:
        payload = payload_of(client, client.releases.candidate(candidate))
        reached = _reached(payload)
        if reached:
            times = "once" if runs == 1 else f"{runs} times"
            sink_of(context).say(
                f"Its steps are really taken at {', '.join(reached)}, {times}: what they order, send or delete there"
                " is really ordered, sent or deleted."
            )
        begun = client.releases.replay(
            candidate, runs=runs, variables=values, secrets=hidden, benchmark=benchmark, timeout=timeout
        )
        with sink_of(context).counting(f"Replaying {candidate}", total=begun["wanted_runs"] or runs) as advance:
            for _ in runs_as_they_come(client.releases, begun["id"]):
                advance()
        over = client.releases.evaluation(begun["id"])
        saved = save_screenshots(client, over["runs"], screenshots)
    if over["state"] == "failed":
        raise SkillyardError(
            f"The evaluation did not finish: {over['error']}", hint=f"Try again: skillyard release replay {candidate}"
        )
    passed = bool(over["passed"])
    return Answer(
        document={**over, "screenshots": saved},
        text=lambda console: _print_evaluation(console, over),
        exit_code=0 if passed else 1,
        remarks=[
            *saved_remarks(screenshots, saved),
            promotion_advice(candidate, payload)
            if passed
            else f"What each step did: skillyard release show {over['id']}",
        ],
    )


def evaluate(
    candidate: CandidateId,
    *,
    passed: Annotated[
        bool | None, typer.Option("--passed/--failed", help="What was found, by other means than a replay here.")
    ] = None,
    score: Annotated[float | None, typer.Option("--score", metavar="SHARE", help="From 0 to 1.")] = None,
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", metavar="NAME", help="What it was tried with.")
    ] = None,
    report: Annotated[str | None, typer.Option("--report", metavar="TEXT", help="What was seen.")] = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Record a verdict from elsewhere.

    It permits promotion, and is always marked as external. A failed one rejects the candidate.
    """
    if passed is None:
        raise UsageError(
            "The verdict is missing.", hint=f"Say it: skillyard release evaluate {candidate} --passed, or --failed"
        )
    with yard_client(server, token) as client:
        done = client.releases.evaluate(candidate, passed=passed, score=score, benchmark_id=benchmark, report=report)
        payload = payload_of(client, client.releases.candidate(candidate))
    said = "passed" if passed else "did not pass, and is rejected"
    return Answer(
        document=done,
        text=lambda console: console.print(f"{inline(candidate)} {said} (external).", soft_wrap=True),
        remarks=[promotion_advice(candidate, payload)] if passed else [],
    )


def run(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="The skill, as `release list` shows it.")],
    *,
    var: Var = None,
    vars_file: Vars = None,
    secret: Secret = None,
    sandbox: Annotated[
        str | None, typer.Option("--sandbox", metavar="ID", help="Run it there; default: in a fresh sandbox.")
    ] = None,
    release: Annotated[
        str | None, typer.Option("--release", metavar="ID", help="This release; default: the active one.")
    ] = None,
    timeout: Timeout = None,
    screenshots: Screenshots = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Run a released skill with your values.

    Every run is evidence for its release. Exit code 1 when it does not pass.
    """
    values, hidden = variables(var or (), vars_file), secrets(secret or ())
    with yard_client(server, token) as client:
        with sink_of(context).busy(f"Running {key}"):
            done = client.releases.run_skill(
                key, values, secrets=hidden, sandbox_id=sandbox, release_id=release, timeout=timeout
            )
        saved = save_screenshots(client, [done], screenshots)

    def text(console: "Console") -> None:
        print_steps(console, done)
        console.print()
        console.print(_one_verdict(done), soft_wrap=True)

    return Answer(
        document={**done, "screenshots": saved},
        text=text,
        exit_code=0 if done["verdict"] == PASS else 1,
        remarks=saved_remarks(screenshots, saved),
    )


def _reached(payload: Any) -> Sequence[str]:  # noqa: ANN401 -- any JSON
    """The places outside the sandbox that the steps of a payload may reach."""
    document = cast("Mapping[str, Any]", payload if isinstance(payload, Mapping) else {})
    network = document.get("network") or ()
    allow = cast("Mapping[str, Any]", network).get("allow") if isinstance(network, Mapping) else network
    return [str(place) for place in cast("list[object]", allow if isinstance(allow, list) else [])]


def _print_evaluation(console: "Console", over: Mapping[str, Any]) -> None:
    print_runs(console, over["runs"])
    verdict = styled((f"\n{over['verdict']}", {True: GOOD, False: BAD, None: FAINT}[over["passed"]]))
    console.print(styled(verdict, f"  {one_line(over['report'] or '')}"), soft_wrap=True)


def _one_verdict(done: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- rich's text, which is slow to import
    why = place_and_reason(done)
    what = f"  {inline(done['skill_key'])} version {done['version']} ({done['stage']})"
    return styled(verdict_text(done["verdict"]), what, f"\n{why}" if why else "")
