"""Pieces of text that the commands of `skillyard release` print."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from skillyard.cli.safe_text import inline, one_line, visible
from skillyard.cli.sandbox import ago
from skillyard.cli.text import BAD, FAINT, GOOD, count, print_rows, styled
from skillyard.clock import utc_now

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

PASS: Final = "PASS"  # noqa: S105 -- no password
STATUS_STYLES: Final = {"promoted": GOOD, "evaluating": "yellow", "rejected": BAD, "rolled_back": BAD}
STATE_STYLES: Final = {"active": GOOD, "rolled_back": BAD, "killed": BAD}
_STEP_WIDTH: Final = 72


def print_table(console: "Console", rows: Iterable[Sequence["str | Text"]], *, cut: bool = True) -> None:
    """Rows without the columns in which none has anything."""
    table = [tuple(row) for row in rows]
    used = [any(str(cell).strip() for cell in column) for column in zip(*table, strict=True)]
    print_rows(console, [[cell for cell, is_used in zip(row, used, strict=True) if is_used] for row in table], cut=cut)


def print_facts(console: "Console", facts: Mapping[str, Any]) -> None:
    """Names and what is known of each; what is not is left out."""
    rows = [(styled((name, FAINT)), inline(str(value))) for name, value in facts.items() if value not in (None, "")]
    print_rows(console, rows, cut=False)


def print_title(console: "Console", title: str) -> None:
    console.print()
    console.print(styled((title, "bold")))


def when(moment: str | None) -> str:
    return f"{ago(utc_now(), moment)} ago" if moment else ""


def percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def print_payload(console: "Console", payload: Any) -> None:  # noqa: ANN401 -- any JSON
    """The variables and the steps of a payload; one of another kind has neither."""
    if not isinstance(payload, Mapping):
        return
    document: Mapping[str, Any] = payload  # pyright: ignore[reportUnknownVariableType] -- JSON
    names: Mapping[str, Mapping[str, Any]] = document.get("variables") or {}
    if names:
        print_title(console, "Variables")
        print_table(console, [_variable_row(name, names[name]) for name in names])
    steps: Sequence[Mapping[str, Any]] = document.get("steps") or ()
    if steps:
        print_title(console, "Steps")
        print_table(console, _step_rows(steps), cut=False)


def promotion_advice(candidate_id: str, payload: Any) -> str:  # noqa: ANN401 -- any JSON
    """How to release a candidate that passed; of one that replays do not prove, what stands against it."""
    promote = f"skillyard release promote {candidate_id}"
    document = cast("Mapping[str, Any]", payload if isinstance(payload, Mapping) else {})
    variables = cast("Mapping[str, Mapping[str, Any]]", document.get("variables") or {})
    shown = [f"{name} (step {each['from_step']})" for name, each in variables.items() if each.get("from_step")]
    if not shown:
        return f"Release it to some sandboxes: {promote}"
    return (
        f"Replays do not prove what its own steps show: {', '.join(shown)}. If these values are known beforehand,"
        f" release it to some sandboxes: {promote} --allow-risky -m REASON"
    )


def _variable_row(name: str, variable: Mapping[str, Any]) -> "tuple[Any, ...]":
    default = variable.get("default")
    kind = "secret" if variable.get("secret") else str(variable.get("type") or "string")
    said = "" if default is None else f"= {one_line(str(default))}"
    return (
        styled((inline(name), "bold")),
        styled((kind, "yellow" if kind == "secret" else "")),
        said,
        styled((one_line(str(variable.get("description") or "")), FAINT)),
    )


def _step_rows(steps: Iterable[Mapping[str, Any]]) -> "list[tuple[Any, ...]]":
    return [
        (
            styled((f"{number:>2}", FAINT)),
            str(step.get("type", "")),
            one_line(str(step.get("cmd") or step.get("code") or "")),
            styled((_acts_on(step), FAINT)),
        )
        for number, step in enumerate(steps, start=1)
    ]


def _acts_on(step: Mapping[str, Any]) -> str:
    element: Mapping[str, Any] | None = step.get("element")
    found = f"{element.get('role')} “{one_line(str(element.get('name')))}”" if element else ""
    condition = f"only if {step['when']} is given" if step.get("when") else ""
    return ", ".join(part for part in (found, condition) if part)


def print_runs(console: "Console", runs: Sequence[Mapping[str, Any]]) -> None:
    """A table of runs: how each ended, where and why."""
    print_table(console, [_run_row(run) for run in runs], cut=False)


def _run_row(run: Mapping[str, Any]) -> "tuple[Any, ...]":
    number = run.get("number")
    return (
        styled((f"run {number + 1}" if number is not None else str(run["id"]), "bold")),
        verdict_text(run["verdict"]),
        styled(("told" if run.get("origin") == "told" else f"{run['milliseconds'] / 1000:.1f} s", FAINT)),
        place_and_reason(run),
    )


def verdict_text(verdict: str) -> "Text":
    return styled((f"✓ {verdict}", GOOD) if verdict == PASS else (f"✗ {verdict}", BAD))


def place_and_reason(run: Mapping[str, Any]) -> str:
    """`step 3: there is no such button`; empty for a run that passed."""
    if run["verdict"] == PASS:
        return ""
    step = run.get("step")
    place = "" if step is None else f"step {step + 1} of {run['total_steps']}: "
    return place + one_line(run.get("reason") or "")


def print_steps(console: "Console", run: Mapping[str, Any]) -> None:
    """Every step of a run as it went, and what the one said at which it ended."""
    steps: Sequence[Mapping[str, Any]] = run["steps"]
    rows = [
        (
            styled(("✓" if step["success"] else "✗", GOOD if step["success"] else BAD), f" {step['index'] + 1:>2}"),
            str(step["type"]),
            _cut(one_line(step["text"])),
            styled((f"{step['milliseconds']} ms", FAINT)),
            styled((one_line(step.get("recovered") or ""), "yellow")),
        )
        for step in steps
    ]
    print_table(console, rows)
    left = run["total_steps"] - len(steps)
    if left > 0:
        console.print(styled((f"     {count(left, 'more step')} not taken", FAINT)))
    if steps:
        for text in (steps[-1].get("output"), steps[-1].get("error")):
            if text and text.strip():
                console.print()
                console.print(styled(visible(text.rstrip("\n"))), soft_wrap=True)


def _cut(text: str) -> str:
    return text if len(text) <= _STEP_WIDTH else f"{text[: _STEP_WIDTH - 1]}…"


def more_of(found: Mapping[str, Any], entries: Sequence[Any]) -> list[str]:
    """What is said when there are more than are shown."""
    more = found["total"] - len(entries)
    return [f"{more:,} more; -n shows them."] if more > 0 else []
