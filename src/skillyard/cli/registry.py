"""`skillyard registry`: skills that are kept in a yard."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from skillyard.cli.options import DryRun, Force, Risky, Token, Yes
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline, one_line, visible
from skillyard.cli.text import FAINT, GOOD, count, findings_text, print_rows, styled
from skillyard.cli.trash import print_undo
from skillyard.cli.yard import Audience, Name, OfNamespace, Server, Version, Why, yard_client
from skillyard.config.load import load_settings
from skillyard.delivery.place import folder_place
from skillyard.delivery.trash import Trash
from skillyard.errors import UsageError
from skillyard.files import replace_file
from skillyard.registry.drafts import document_of
from skillyard.remote.pulling import plan_pull
from skillyard.remote.pulling import pull as pull_all
from skillyard.skill.archive import read_archive
from skillyard.skill.bundle import SKILL_FILE
from skillyard.skill.folder_names import folder_name
from skillyard.skill.formatter import ShownSkill, SkillFormatter

if TYPE_CHECKING:
    from rich.console import Console

DRAFT: Final = "draft"
"""Shown where the working copy is what is shipped."""
UNPUBLISHED: Final = "unpublished"
"""Shown in the place of the version for a skill that ships none: all wait, are yanked, or never were."""


def list_skills(
    *,
    query: Annotated[
        str | None, typer.Option("--query", "-q", metavar="TEXT", help="Words in name or description.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Only with this tag; repeatable.")
    ] = None,
    namespace: OfNamespace = None,
    mine: Annotated[bool, typer.Option("--mine", help="Only skills of your own namespaces.")] = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List the skills that you can see in the yard."""
    with yard_client(server, token) as client:
        skills = list(client.skills(q=query, tags=tag or (), namespace=namespace, include_public=not mine))
    rows = [
        (
            styled((inline(skill["full_name"]), "bold")),
            skill["latest"] or UNPUBLISHED,
            skill["visibility"],
            one_line(skill["description"]),
        )
        for skill in skills
    ]
    return Answer(
        document={"skills": skills},
        text=lambda console: print_rows(console, rows),
        remarks=[] if skills else [_nothing(chosen=bool(query or tag or namespace or mine))],
    )


def show(
    name: Name,
    *,
    version: Version = None,
    tree: Annotated[bool, typer.Option("--tree", help="Only the tree of its files.")] = False,
    files: Annotated[bool, typer.Option("--files", help="Also the other files in full.")] = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Read a skill, or the tree of its files.

    What is shown is what the yard ships: the latest version unless another is named.
    """
    with yard_client(server, token) as client:
        skill = client.skill(name)
        bundle = client.bundle(skill["id"], version=version)
    shown = ShownSkill(document=document_of(bundle, folder=skill["name"]), bundle=bundle)
    written = (
        SkillFormatter.format_skill_structure(shown)
        if tree
        else SkillFormatter.format_skill_content(shown, include_file_contents=files)
    )
    return Answer(
        document={
            "skill": skill["full_name"],
            "version": version or skill["latest"],
            "digest": bundle.digest,
            "files": [file.path for file in bundle],
            "locked": skill["locked"],
            "text": written,
        },
        text=lambda console: console.print(styled(visible(written)), end="", soft_wrap=True),
        remarks=["It is locked: what is learned is only proposed for it."] if skill["locked"] else [],
    )


def _nothing(*, chosen: bool) -> str:
    if chosen:
        return "Nothing matches. To see all: skillyard registry list"
    return "There is nothing yet. Publish a skill: skillyard publish FOLDER"


def pull(
    context: typer.Context,
    name: Annotated[list[str], typer.Argument(metavar="NAME", help="Skills: namespace/name, or namespace/name@1.2.0.")],
    *,
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="The folder to put them in.")] = Path(),
    alone: Annotated[bool, typer.Option("--alone", help="Without what they require.")] = False,
    force: Force = False,
    allow_risky: Risky = False,
    dry_run: DryRun = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Copy skills, and what they require, into a folder.

    Byte for byte, and safe to repeat: a folder that already holds exactly this is left alone, and one that holds
    another version, unedited, is replaced. Anything else is a conflict (exit code 5). Nothing is copied if the scan
    finds something serious in one of them, unless --allow-risky accepts it.
    """
    trash = Trash(load_settings().home)
    with yard_client(server, token) as client:
        plan = plan_pull(client, name, into, dependencies=not alone, force=force)
        place = folder_place(into)
        work = pull_all(
            client,
            plan,
            put_away=lambda path: trash.move(path.absolute(), place=place, entry=None),
            allow_risky=allow_risky,
            dry_run=dry_run,
        )
        plan = list(sink_of(context).track(work, total=len(plan), label="Pulling"))
    rows = [
        (
            styled(("= ", FAINT) if one.present else ("+ ", GOOD), (inline(one.skill), "bold")),
            f"{one.replaces} → {one.version or DRAFT}" if one.replaces else one.version or DRAFT,
            str(one.path),
        )
        for one in plan
    ]

    def text(console: "Console") -> None:
        print_rows(console, rows, cut=False)
        for one in plan:
            placed = [replace(finding, file=str(one.path / (finding.file or SKILL_FILE))) for finding in one.findings]
            console.print(findings_text(placed, console=console), end="", soft_wrap=True)
        for item in trash.added:
            print_undo(console, item)

    return Answer(
        document={"dry_run": dry_run, "pulled": [one.as_dict() for one in plan]},
        text=text,
        remarks=[
            *(f"Warning: {one.warning}" for one in plan if one.warning),
            *(["Nothing was changed (--dry-run)."] if dry_run else []),
        ],
    )


def export(
    name: Name,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")] = None,
    version: Version = None,
    slim: Annotated[bool, typer.Option("--slim", help="Leave the evals out.")] = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Write a skill into one .skill file."""
    with yard_client(server, token) as client:
        data = client.archive(name, version=version, slim=slim)
    digest = read_archive(data).require().digest
    default = Path(f"{folder_name(name.rpartition('/')[2])}.skill")
    target = output or default
    if target.is_dir():
        raise UsageError(f"{target} is a folder.", hint=f"Name a file in it: -o {target / default}")
    replace_file(target, data, mode=0o644)
    return Answer(
        document={"file": str(target), "bytes": len(data), "digest": digest},
        text=lambda console: console.print(f"{target}  {digest}", soft_wrap=True),
    )


def delete(
    context: typer.Context,
    name: Name,
    *,
    reason: Why = "",
    yes: Yes = False,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Delete a skill; undo brings it back.

    Before it asks, it names what refers to the skill or requires it.
    """
    with yard_client(server, token) as client:
        skill = client.skill(name)
        around = client.references(skill["id"])
        names = {node["id"]: node["full_name"] for node in around["nodes"]}
        broken = {names[edge["source"]] for edge in around["impact"]["references"]}
        broken.update(one["full_name"] for one in around["impact"]["dependents"])
        also = f" This breaks {count(len(broken), 'skill')}: {', '.join(sorted(broken)[:5])}." if broken else ""
        sink_of(context).confirm(f"Delete {skill['full_name']}?{also}", yes=yes)
        client.delete(skill["id"], reason=reason)
        entry = client.last_change(skill["id"])
    return Answer(
        document={
            "id": skill["id"],
            "full_name": skill["full_name"],
            "breaks": sorted(broken),
            "entry": entry["number"] if entry else None,
        },
        text=lambda console: console.print(f"Deleted {inline(skill['full_name'])}."),
        remarks=[f"To undo: skillyard registry undo {entry['number']}"] if entry else [],
    )


def visibility(
    name: Name,
    who: Annotated[Audience, typer.Argument(metavar="WHO", help="private, public or discoverable.")],
    *,
    reason: Why = "",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Change who may see a skill.

    The members of its namespace (private), everyone in the tenant (public), or the world (discoverable).
    """
    with yard_client(server, token) as client:
        skill = client.show_to(name, who, reason=reason)
    return Answer(
        document=skill,
        text=lambda console: console.print(f"{inline(skill['full_name'])} is {skill['visibility']} now."),
    )
