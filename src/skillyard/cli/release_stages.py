"""`skillyard release`: what is in use, for some or for all, and taking it back."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from skillyard.cli.options import Risky, Token, Yes
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.release_options import NOTHING_IN_USE, CandidateId, Limit, Reason, ReleaseId, SkillKey
from skillyard.cli.release_text import STATE_STYLES, more_of, print_table, when
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import BAD, FAINT, GOOD, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.errors import NotFoundError

if TYPE_CHECKING:
    from rich.console import Console

Stage = Literal["canary", "stable"]
_MARKS: Final = {"added": ("+", GOOD), "removed": ("-", BAD), "changed": ("~", "yellow")}


def list_releases(
    *,
    skill: SkillKey = None,
    stage: Annotated[Stage | None, typer.Option("--stage", metavar="STAGE", help="canary or stable.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Also those no longer in use.")] = False,
    limit: Limit = 50,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List the learned skills in use.

    Newest first.
    """
    with yard_client(server, token) as client:
        found = client.releases.releases(
            skill_key=skill, active_only=not every, every_stage=True, stage=stage, limit=limit
        )
    items: Sequence[Mapping[str, Any]] = found["items"]
    rows = [
        (
            styled((one["id"], "bold")),
            inline(one["skill_key"]),
            f"version {one['version']}",
            one["stage"],
            styled((_state(one), STATE_STYLES.get(_state(one), FAINT))),
            styled(("external" if one.get("external") else "", "yellow")),
            "by policy" if one["release_mode"] == "auto" else "by hand",
            styled((when(one["promoted_at"]), FAINT)),
            one_line(one["change_summary"] or one.get("end_reason") or ""),
        )
        for one in items
    ]
    return Answer(
        document=found,
        text=lambda console: print_table(console, rows),
        remarks=more_of(found, items) if items else ["None matches." if skill or stage else NOTHING_IN_USE],
    )


def promote(
    candidate: CandidateId,
    *,
    stage: Annotated[
        Stage, typer.Option("--stage", metavar="STAGE", help="canary: some sandboxes; stable: all.")
    ] = "canary",
    summary: Annotated[str | None, typer.Option("--summary", metavar="TEXT", help="What is new.")] = None,
    replaces: Annotated[
        str | None, typer.Option("--replaces", metavar="RELEASE", help="The release that it replaces.")
    ] = None,
    reason: Reason = None,
    allow_risky: Risky = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Release a candidate whose last evaluation passed.

    A candidate is refused if the scan finds something serious in it, or if replays do not prove it because they are
    given a value that an earlier step shows; --allow-risky with a reason (-m) accepts that.

    A canary goes to some sandboxes, always the same ones, and leaves the stable release to all others.
    """
    with yard_client(server, token) as client:
        made = client.releases.promote(
            candidate,
            stage=stage,
            change_summary=summary,
            upgrade_of_release_id=replaces,
            upgrade_reason=reason,
            allow_risky=allow_risky,
        )
    return Answer(
        document=made,
        text=lambda console: console.print(f"{made['id']}  {_named(made)}", soft_wrap=True),
        remarks=[
            f"How it performs: skillyard release health {made['id']}",
            f"Roll it back: skillyard release rollback {made['id']}",
        ],
    )


def rollback(release: ReleaseId, *, reason: Reason = None, server: Server = None, token: Token = None) -> Answer:
    """Roll back a release.

    The last good stable release is in use again, if there is one. Repeating it changes nothing.
    """
    with yard_client(server, token) as client:
        done = client.releases.rollback(release, reason=reason)
    said = (
        f"{_named(done)} is in use again ({done['id']})."
        if done["is_active"]
        else f"{done['skill_key']} is no longer in use: there is no good release before it."
    )
    return Answer(document=done, text=lambda console: console.print(inline(said), soft_wrap=True))


def kill(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A release (sr-…), or a skill with all its releases.")],
    *,
    reason: Reason = None,
    yes: Yes = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Switch off a release or a skill at once.

    Nothing takes its place.
    """
    with yard_client(server, token) as client:
        if name.startswith("sr-"):
            sink_of(context).confirm(f"Switch {_named(client.releases.release(name))} off for all sandboxes?", yes=yes)
            off = [client.releases.kill(name, reason=reason)]
        else:
            in_use = client.releases.releases(skill_key=name, active_only=True, every_stage=True)["items"]
            if not in_use:
                raise NotFoundError(f"No release of {name!r} is in use.", hint="See what is: skillyard release list")
            sink_of(context).confirm(f"Switch {' and '.join(map(_named, in_use))} off for all sandboxes?", yes=yes)
            off = client.releases.kill_skill(name, reason=reason)["items"]
    return Answer(
        document={"releases": off},
        text=lambda console: print_table(console, [(f"{_named(one)} is switched off.",) for one in off]),
    )


def retire(
    release: Annotated[
        str | None, typer.Argument(metavar="RELEASE", help="Retire this one; without it, proposals are listed.")
    ] = None,
    *,
    reason: Reason = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List what should be retired, or retire a release.

    Releases that nobody uses or that fail are proposed, with their evidence.
    """
    if release is not None:
        with yard_client(server, token) as client:
            done = client.releases.retire(release, reason=reason)
        return Answer(document=done, text=lambda console: console.print(f"{_named(done)} is retired.", soft_wrap=True))
    with yard_client(server, token) as client:
        found = client.releases.retirements()
    rows = [
        (
            styled((one["release_id"], "bold")),
            inline(one["skill_key"]),
            f"version {one['version']}",
            one["stage"],
            one_line(one["reason"]),
        )
        for one in found["items"]
    ]
    return Answer(
        document=found,
        text=lambda console: print_table(console, rows, cut=False),
        remarks=["Retire one: skillyard release retire RELEASE"] if rows else ["Nothing is proposed for retirement."],
    )


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A release.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Another release of the same skill.")],
    *,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Show what differs between two releases.

    Their steps and their variables. Exit code 1 when something does.
    """
    with yard_client(server, token) as client:
        found = client.releases.diff(old, new)
    changes = [one for one in (*found["steps"], *found["variables"]) if one["change"] in _MARKS]
    return Answer(
        document=found,
        text=lambda console: _print_diff(console, found),
        exit_code=1 if changes else 0,
        remarks=[] if changes else ["They do the same."],
    )


def _print_diff(console: "Console", found: Mapping[str, Any]) -> None:
    for one in found["variables"]:
        mark, style = _MARKS.get(one["change"], (" ", FAINT))
        sides = dict.fromkeys(_type_of(side) for side in (one["old"], one["new"]) if side)
        said = f"{mark} {inline(one['name'])}: {' → '.join(sides)}"
        console.print(styled((said, style)), soft_wrap=True)
    for one in found["steps"]:
        if one["change"] == "same":
            console.print(styled((f"  {one_line(one['new'] or '')}", FAINT)), soft_wrap=True)
            continue
        if one["old"] is not None:
            console.print(styled((f"- {one_line(one['old'])}", "red")), soft_wrap=True)
        if one["new"] is not None:
            console.print(styled((f"+ {one_line(one['new'])}", "green")), soft_wrap=True)


def _type_of(variable: Mapping[str, Any]) -> str:
    kind = "secret" if variable.get("secret") else str(variable.get("type", "string"))
    default = variable.get("default")
    return kind if default is None else f"{kind} = {one_line(str(default))}"


def _state(one: Mapping[str, Any]) -> str:
    return one.get("state") or ("active" if one["is_active"] else "ended")


def _named(one: Mapping[str, Any]) -> str:
    return f"{inline(one['skill_key'])} version {one['version']} ({one['stage']})"
