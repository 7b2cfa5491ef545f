"""`skillyard registry`: the versions of a skill."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillyard.cli.options import Risky, Token
from skillyard.cli.output import Answer
from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import FAINT, finding_from, findings_text, print_rows, styled
from skillyard.cli.yard import Name, NewVersion, Server, Why, yard_client
from skillyard.command_text import command_text
from skillyard.errors import NotFoundError, UsageError
from skillyard.skill.models import Severity

if TYPE_CHECKING:
    from rich.console import Console

Number = Annotated[str, typer.Argument(metavar="VERSION", help="The version's number.")]


def versions(name: Name, *, server: Server = None, token: Token = None) -> Answer:
    """List the versions of a skill.

    Newest first.
    """
    with yard_client(server, token) as client:
        found = client.versions(name)
    rows = [
        (
            styled((version["version"], "bold")),
            _state(version),
            ", ".join(version["tags"]),
            version["published_at"][:10],
            version["digest"][:19],
            one_line(version["yank_reason"] or version["notes"]),
        )
        for version in found
    ]
    return Answer(
        document={"versions": found},
        text=lambda console: print_rows(console, rows),
        remarks=[]
        if found
        else [f"{name} has no published version. Publish one: {command_text('registry release', name)}"],
    )


def release(
    name: Name,
    *,
    version: NewVersion = None,
    notes: Annotated[str, typer.Option("--notes", metavar="TEXT", help="What is new in this version.")] = "",
    reason: Why = "",
    allow_risky: Risky = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Publish the yard's working copy as a version."""
    with yard_client(server, token) as client:
        made = client.release(name, version=version, notes=notes, reason=reason, allow_risky=allow_risky)
    found = [one for one in map(finding_from, made["findings"]) if one.severity is not Severity.INFO]

    def text(console: "Console") -> None:
        console.print(f"{inline(name)} {made['version']} is {_state(made)}.")
        console.print(findings_text(found, console=console), end="", soft_wrap=True)

    return Answer(document=made, text=text)


def yank(
    name: Name,
    version: Number,
    *,
    reason: Annotated[str, typer.Option("--reason", "-m", metavar="TEXT", help="Why; those who use it read it.")],
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Stop shipping a version.

    Those who ask for it by its number still get it.
    """
    with yard_client(server, token) as client:
        done = client.yank(name, version, reason=reason)
    return _one(name, done)


def restore(name: Name, version: Number, *, reason: Why = "", server: Server = None, token: Token = None) -> Answer:
    """Ship a yanked version again."""
    with yard_client(server, token) as client:
        done = client.restore(name, version, reason=reason)
    return _one(name, done)


def approve(name: Name, version: Number, *, reason: Why = "", server: Server = None, token: Token = None) -> Answer:
    """Approve a version that waits for review.

    The person who published a version cannot approve it.
    """
    with yard_client(server, token) as client:
        done = client.review(name, version, approve=True, reason=reason)
    return _one(name, done)


def reject(name: Name, version: Number, *, reason: Why = "", server: Server = None, token: Token = None) -> Answer:
    """Reject a version that waits for review."""
    with yard_client(server, token) as client:
        done = client.review(name, version, approve=False, reason=reason)
    return _one(name, done)


def tags(
    name: Name,
    tag: Annotated[
        str | None, typer.Argument(metavar="TAG", help="The tag to set; without it, all are listed.")
    ] = None,
    version: Annotated[str | None, typer.Argument(metavar="VERSION", help="The version it points to.")] = None,
    *,
    delete: Annotated[bool, typer.Option("--delete", "-d", help="Delete the tag.")] = False,
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List, set or delete the tags of a skill.

    `tags NAME` lists them, `tags NAME TAG VERSION` sets one, `tags NAME TAG --delete` deletes it.
    """
    if delete and (tag is None or version is not None):
        raise UsageError(
            "--delete takes a tag and no version.",
            hint=command_text("registry tags", name, "TAG", options=["--delete"]),
        )
    with yard_client(server, token) as client:
        if tag is not None and (version is not None or delete):
            client.tag(name, tag, version, reason=reason)
        skill = client.skill(name)
        found = {tag: one["version"] for one in client.versions(skill["id"]) for tag in one["tags"]}
    shown = {**({"latest": skill["latest"]} if skill["latest"] else {}), **found}
    if tag is not None and not delete:
        if tag not in shown:
            raise NotFoundError(
                f"{name} has no tag {tag!r}.", hint=f"Set it: {command_text('registry tags', name, tag, 'VERSION')}"
            )
        shown = {tag: shown[tag]}
    return Answer(
        document={"tags": shown},
        text=lambda console: print_rows(console, list(shown.items())),
        remarks=[] if shown else [f"{name} has no tags."],
    )


def diff(
    name: Name,
    old: Annotated[str | None, typer.Argument(metavar="OLD", help="A version or tag; default: the latest.")] = None,
    new: Annotated[
        str | None, typer.Argument(metavar="NEW", help="A version or tag; default: the working copy.")
    ] = None,
    *,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Show what differs between two versions.

    Or between a version and the working copy. Exit code 1 when something does.
    """
    with yard_client(server, token) as client:
        found = client.diff(name, old, new)
    return Answer(
        document=found,
        text=lambda console: _print_diff(console, found),
        exit_code=1 if found["files"] else 0,
        remarks=[] if found["files"] else ["They are the same, byte for byte."],
    )


def _print_diff(console: "Console", found: dict[str, Any]) -> None:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for file in found["files"]:
        console.print(styled((inline(file["path"]), "bold"), (f"  {file['change']}", FAINT)), soft_wrap=True)
        for line in (file.get("diff") or "").splitlines():
            console.print(styled((inline(line), styles.get(line[:1], ""))), soft_wrap=True)


def _one(name: str, version: dict[str, Any]) -> Answer:
    return Answer(
        document=version,
        text=lambda console: console.print(f"{inline(name)} {version['version']} is {_state(version)}."),
    )


def _state(version: dict[str, Any]) -> str:
    return "yanked" if version["yank_reason"] is not None else version["state"]
