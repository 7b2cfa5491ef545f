"""`skillyard show`."""

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from skillyard.app.libraries import open_library
from skillyard.app.reading import SkillView, file_list, read_skill, read_source
from skillyard.cli.options import Environment, OnlyServer, Roots, Token, check_place
from skillyard.cli.output import Answer
from skillyard.cli.safe_text import one_line, visible
from skillyard.cli.text import FAINT, findings_text, print_rows, styled
from skillyard.config.load import load_settings
from skillyard.skill.library import SkillEntry

if TYPE_CHECKING:
    from rich.console import Console

_LEARNING: Final = "learning"
"""As the metadata has it, where it is locked there."""


def show(
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="Its id or name; on a server namespace/name.")],
    *,
    root: Roots = None,
    env: Environment = None,
    raw: Annotated[bool, typer.Option("--raw", help="Only the SKILL.md, off a terminal byte for byte.")] = False,
    files: Annotated[bool, typer.Option("--files", help="Only the list of its files.")] = False,
    server: OnlyServer = None,
    token: Token = None,
) -> Answer:
    """Read one skill."""
    check_place(server, token, root, env)
    if server is None:
        library = open_library(load_settings(), roots=root or (), environment=env)
        if raw:
            return _source(*read_source(library, skill))
        return _view(read_skill(library, skill), files=files)
    from skillyard.client import Skillyard  # noqa: PLC0415 -- folders need no client
    from skillyard.remote.library import RemoteSkill  # noqa: PLC0415

    with Skillyard(server, token=token) as client:
        remote = RemoteSkill(client, skill)
        if raw:
            return _source(remote.entry, remote.source)
        return _view(read_skill(remote, remote.entry.id), files=files, locked=remote.locked)


def _source(entry: SkillEntry, source: bytes) -> Answer:
    return Answer(
        document={"id": entry.id, "text": source.decode("utf-8", "replace")},
        text=lambda console: _write(console, source),
    )


def _view(view: SkillView, *, files: bool, locked: bool | None = None) -> Answer:
    """A skill, as it is in a folder, or as a yard has it, which knows whether someone has locked it."""
    if files:
        document = {"id": view.entry.id, "files": file_list(view.bundle)}
        return Answer(document=document, text=lambda console: _print_files(console, view))
    document = view.as_dict() if locked is None else {**view.as_dict(), "locked": locked}
    return Answer(document=document, text=lambda console: _print(console, view, locked=bool(locked)))


def _write(console: "Console", source: bytes) -> None:
    if console.is_terminal:
        _print_text(console, source.decode("utf-8", "replace"))
    else:
        # For a file or another program: exactly what was written.
        sys.stdout.buffer.write(source)


def _print_text(console: "Console", text: str) -> None:
    """A text as it is, made safe: it may be a megabyte, which is too much to lay out."""
    console.file.write(f"{visible(text).rstrip()}\n")


def _print(console: "Console", view: SkillView, *, locked: bool) -> None:
    document = view.document
    facts = {
        "name": view.entry.name if view.entry.name != view.entry.id else "",
        "license": document.license,
        "compatibility": document.compatibility,
        "allowed tools": " ".join(document.allowed_tools),
        "tags": ", ".join(document.tags),
        **{key: one_line(str(value)) for key, value in document.metadata.items()},
        **({_LEARNING: "locked: what is learned is only proposed"} if locked else {}),
        "source": view.entry.source,
        "location": view.entry.location,
        "digest": view.bundle.digest if view.bundle else "",
    }
    console.print(styled((one_line(view.entry.id), "bold")), soft_wrap=True)
    console.print(one_line(document.description))
    console.print()
    print_rows(console, [(styled((key, FAINT)), one_line(value)) for key, value in facts.items() if value], cut=False)
    console.print()
    _print_files(console, view)
    if view.findings:
        console.print()
        console.print(findings_text(view.findings, indent="", console=console), end="", soft_wrap=True)
    console.print()
    _print_text(console, document.body.strip("\n"))


def _print_files(console: "Console", view: SkillView) -> None:
    rows = [
        (styled((file.path, "green" if file.executable else "")), styled((f"{len(file.data):,} bytes", FAINT)))
        for file in view.bundle or ()
    ]
    print_rows(console, rows, cut=False)
