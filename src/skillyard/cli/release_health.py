"""`skillyard release health`, `insights` and `search`: how learned skills do."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from skillyard.cli.options import Token
from skillyard.cli.output import Answer
from skillyard.cli.release_options import NOTHING_IN_USE, ReleaseId
from skillyard.cli.release_text import percent, print_facts, print_table, when
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import BAD, FAINT, GOOD, count, styled
from skillyard.cli.yard import Server, yard_client

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_WIDTH: Final = 41
"""Characters of the scale from 0 to 100 %: one in the middle, and one at each end."""
_LAST: Final = 60
"""So many of the newest runs are drawn."""
_BARS: Final = "▁▂▃▄▅▆▇█"
_DAYS: Final = 30


def health(release: ReleaseId, *, server: Server = None, token: Token = None) -> Answer:
    """Show how a release performs against the stable one.

    Only runs tied to the release count, and the bounds hold however often you look. Exit code 1 when it should be
    rolled back.
    """
    with yard_client(server, token) as client:
        found = client.releases.health(release)
    remarks = [f"Roll it back: skillyard release rollback {release}"] if found["should_rollback"] else []
    return Answer(
        document=found,
        text=lambda console: _print_health(console, found),
        exit_code=1 if found["should_rollback"] else 0,
        remarks=remarks,
    )


def insights(
    *,
    days: Annotated[
        int, typer.Option("--days", metavar="NUMBER", min=1, max=366, help="Number of days to look back.")
    ] = 30,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Show how all learned skills perform.

    How often each ran, how that ended, and how long it took. Replays in evaluations do not count.
    """
    with yard_client(server, token) as client:
        found = client.releases.insights(days=days)
    return Answer(
        document=found,
        text=lambda console: _print_insights(console, found),
        remarks=[] if found["skills"] else [NOTHING_IN_USE],
    )


def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="What the skill should do.")],
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="NUMBER", min=1, max=100, help="Maximum number.")] = 10,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Search learned skills.

    By what they do, in any language. Exit code 1 when none matches.
    """
    with yard_client(server, token) as client:
        found = client.releases.search(" ".join(words), limit=limit)
    rows = [
        (
            styled((inline(one["candidate"]["skill_key"]), "bold")),
            one["release"]["stage"] if one["release"] else styled(("not released", FAINT)),
            one["candidate"]["id"],
            one_line(one["candidate"]["summary"] or ""),
        )
        for one in found["items"]
    ]
    return Answer(
        document=found,
        text=lambda console: print_table(console, rows),
        exit_code=0 if rows else 1,
        remarks=[] if rows else ["No learned skill matches."],
    )


def _print_health(console: "Console", found: Mapping[str, Any]) -> None:
    bounds: Mapping[str, Sequence[float]] = found.get("bounds") or {}
    rows = [
        ("", styled((_scale(), FAINT)), "", "", ""),
        _share_row("this release", found["success_rate"], found["samples"], bounds.get("canary")),
    ]
    if found["baseline_samples"]:
        rows.append(
            _share_row("stable", found["baseline_success_rate"], found["baseline_samples"], bounds.get("stable"))
        )
    facts = {
        "release": f"{found['skill_key']} ({found['stage']}, {found['release_id']})",
        "window": f"{found['window_start_at'][:16]} to {found['window_end_at'][:16]}".replace("T", " ")
        + (", over" if found["window_complete"] else ""),
        "p95": f"{found['p95_duration']} ms" if found["samples"] > found.get("told", 0) else "",
        "reported by agents": f"{found['told']} of {found['samples']} runs" if found.get("told") else "",
    }
    print_facts(console, facts)
    console.print()
    print_table(console, rows, cut=False)
    if found.get("runs"):
        console.print()
        console.print(_strip(found["runs"][-_LAST:]), soft_wrap=True)
    console.print()
    console.print(_decision(found), soft_wrap=True)


def _decision(found: Mapping[str, Any]) -> "Text":
    if found["should_rollback"]:
        return styled(("✗ It should be rolled back: ", BAD), one_line("; ".join(found["rollback_reasons"])))
    said = one_line(found.get("reason") or "")
    word = {"promote": ("✓ It can become stable", GOOD), "rollback": ("✗ It should be rolled back", BAD)}.get(
        found.get("decision") or "", ("… It is being watched" if found["healthy"] else "✗ It performs badly", "yellow")
    )
    return styled(word, f": {said}" if said else ".")


def _share_row(name: str, share: float, runs: int, bounds: Sequence[float] | None) -> "tuple[Any, ...]":
    if not runs:
        return styled((name, "bold")), styled(("·" * _WIDTH, FAINT)), "", "no runs", ""
    between = f"{percent(bounds[0])} to {percent(bounds[1])}" if bounds else ""
    return styled((name, "bold")), _bar(share, bounds), percent(share), count(runs, "run"), styled((between, FAINT))


def _scale() -> str:
    half = _WIDTH // 2
    return f"{'0 %':<{half - 1}}{'50 %':<{half - 2}}100 %"


def _bar(share: float, bounds: Sequence[float] | None) -> "Text":
    """The share as a dot, and what it may really be as a line around it."""
    low, high = (_place(bounds[0]), _place(bounds[1])) if bounds else (1, 0)
    at = _place(share)
    line = "".join("●" if place == at else "━" if low <= place <= high else "·" for place in range(_WIDTH))
    first, last = min(low, at), max(high, at)
    return styled((line[:first], FAINT), line[first : last + 1], (line[last + 1 :], FAINT))


def _place(share: float) -> int:
    return round(min(max(share, 0.0), 1.0) * (_WIDTH - 1))


def _strip(runs: Sequence[Mapping[str, Any]]) -> "Text":
    parts = [("▪", GOOD) if run["passed"] else ("▪", BAD) for run in runs]
    failed = sum(not run["passed"] for run in runs)
    said = f"  the last {count(len(runs), 'run')}, {failed} failed"
    return styled(*parts, (said, FAINT))


def _print_insights(console: "Console", found: Mapping[str, Any]) -> None:
    rows = [
        (
            styled((inline(one["skill_key"]), "bold")),
            ", ".join(f"{stage} {version}" for stage, version in one["in_use"].items()),
            count(one["runs"], "run"),
            percent(one["success_rate"]) if one["runs"] else "",
            f"{one['p50_duration']} ms, p95 {one['p95_duration']} ms" if one["runs"] else "",
            styled((f"last {when(one['last_used_at'])}" if one["last_used_at"] else "never used", FAINT)),
            _trend(one["trend"]),
        )
        for one in found["skills"]
    ]
    print_table(console, rows)
    if rows:
        console.print(f"\n{count(found['runs'], 'run')} in {count(found['days'], 'day')}, {found['passed']:,} passed.")


def _trend(days: Sequence[Mapping[str, Any]]) -> "Text":
    """A bar for each day on which there were runs, as high as there were many; red where some failed."""
    most = max((day["runs"] for day in days), default=0)
    return styled(
        *(
            (_BARS[round((len(_BARS) - 1) * day["runs"] / most)], GOOD if day["passed"] == day["runs"] else BAD)
            for day in days[-_DAYS:]
            if most
        )
    )
