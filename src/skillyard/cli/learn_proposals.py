"""`skillyard learn proposals`: changes that wait for approval."""

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillyard.cli.learn_options import Limit, ProposalId
from skillyard.cli.learn_text import effect_text, print_remarks
from skillyard.cli.options import Token
from skillyard.cli.output import Answer
from skillyard.cli.release_text import print_facts, print_table, print_title, when
from skillyard.cli.safe_text import inline, one_line, visible
from skillyard.cli.text import BAD, FAINT, GOOD, hanging, print_unified, styled
from skillyard.cli.yard import Server, Why, yard_client

if TYPE_CHECKING:
    from rich.console import Console

_STATE_STYLES = {"open": "yellow", "approving": "yellow", "approved": GOOD, "rejected": FAINT, "stale": BAD}


def list_proposals(
    *,
    every: Annotated[bool, typer.Option("--all", help="Also those that were decided.")] = False,
    limit: Limit = 50,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List the changes that wait for approval.

    Newest first.
    """
    with yard_client(server, token) as client:
        found = list(islice(client.learning.proposals(state=None if every else "open"), limit))
    rows = [
        (
            styled((one["id"], "bold")),
            styled((one["state"], _STATE_STYLES.get(one["state"], ""))) if every else "",
            f"{one['operation']} {one['target']}",
            styled((_warned(one), "yellow")),
            styled((when(one["created_at"]), FAINT)),
            one_line(one["summary"]),
        )
        for one in found
    ]
    return Answer(
        document={"proposals": found},
        text=lambda console: print_table(console, rows),
        remarks=["Look at one: skillyard learn proposals show PROPOSAL"] if found else ["Nothing waits for approval."],
    )


def show_proposal(proposal: ProposalId, *, server: Server = None, token: Token = None) -> Answer:
    """Read a proposal: what it would change, and why."""
    with yard_client(server, token) as client:
        one = client.learning.proposal(proposal)
    decide = [
        f"Approve it: skillyard learn proposals approve {proposal}",
        f"Reject it: skillyard learn proposals reject {proposal}",
    ]
    return Answer(
        document=one,
        text=lambda console: _print(console, one),
        remarks=decide if one["state"] == "open" else [],
    )


def approve(proposal: ProposalId, *, reason: Why = "", server: Server = None, token: Token = None) -> Answer:
    """Approve a proposed change and carry it out.

    If its target has changed since, it is stale and nothing is done.
    """
    with yard_client(server, token) as client:
        done = client.learning.approve(proposal, reason=reason)
        lesson = client.learning.proposal(proposal)["lesson_id"]

    def text(console: "Console") -> None:
        console.print(styled(("approved", GOOD)), soft_wrap=True)
        for effect in done["effects"]:
            console.print(styled((effect["id"], "bold"), f"  {inline(effect_text(effect))}"), soft_wrap=True)

    return Answer(document=done, text=text, remarks=[f"Undo it: skillyard learn undo {lesson}"] if lesson else [])


def reject(proposal: ProposalId, *, reason: Why = "", server: Server = None, token: Token = None) -> Answer:
    """Reject a proposed change."""
    with yard_client(server, token) as client:
        done = client.learning.reject(proposal, reason=reason)
    return Answer(document=done, text=lambda console: console.print(f"rejected {inline(proposal)}", soft_wrap=True))


def _warned(one: Mapping[str, Any]) -> str:
    kinds = dict.fromkeys(str(each.get("kind") or each.get("seriousness")) for each in one["warnings"])
    return ", ".join(kinds)


def _print(console: "Console", one: Mapping[str, Any]) -> None:
    print_facts(
        console,
        {
            "proposal": one["id"],
            "state": one["state"],
            "change": f"{one['operation']} {one['target']}",
            "about": one["target_name"],
            "id": one["target_id"],
            "base": one["base"],
            "lesson": one["lesson_id"],
            "made": when(one["created_at"]),
            "decided": f"{when(one['decided_at'])} {one_line(one['decision_reason'])}".strip(),
        },
    )
    console.print()
    console.print(hanging(console, one_line(one["summary"]), ""), soft_wrap=True)
    for reason in one["reasons"]:
        console.print(f"- {hanging(console, one_line(reason), '  ')}", soft_wrap=True)
    if one["relations"]:
        print_title(console, "What is known already")
        rows = [
            (styled((each["relation"], "cyan")), inline(each["name"]), one_line(each["reason"]))
            for each in one["relations"]
        ]
        print_table(console, rows)
    if one["diff"]:
        print_title(console, "What would change")
        print_unified(console, visible(one["diff"]))
    if one["warnings"]:
        print_title(console, "Before you decide")
        print_remarks(console, one["warnings"])
