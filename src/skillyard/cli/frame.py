"""How commands are named, loaded when needed and listed in the help."""

import difflib
import importlib
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from skillyard.errors import UsageError

if TYPE_CHECKING:
    from typer._click import Command as AnyCommand  # pyright: ignore[reportPrivateImportUsage]
    from typer._click import Context, HelpFormatter

_OTHER_WORDS: Final = {
    "install": "add",
    "get": "add",
    "uninstall": "remove",
    "delete": "remove",
    "rm": "remove",
    "upgrade": "update",
    "search": "find",
    "ls": "list",
    "new": "init",
    "create": "init",
    "lint": "validate",
    "start": "serve",
    "status": "doctor",
    "pull": "registry pull",
    "push": "publish",
    **{
        word: f"skill {word}"
        for word in ("adopt", "catalog", "check", "diff", "disable", "enable", "restore", "scan", "triggers", "usage")
    },
}
"""What other tools call a command, and what is in a group here, by the command that is meant."""
JSON_HELP = [("--json", "Print one JSON document instead of text.")]


class Entry(NamedTuple):
    """One row of the command table."""

    name: str
    target: "str | tuple[Entry, ...]"
    """`module:function` in this package, or the commands of a group."""
    help: str
    section: str = "Commands"
    default: str = ""
    """Of a group: its command that is run where none is named."""


class Command(TyperCommand):
    """A command; its help also says what every command accepts."""

    def collect_usage_pieces(self, ctx: "Context") -> list[str]:
        # Typer puts what is required in braces.
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            records = [p.get_help_record(ctx) for p in self.get_params(ctx) if p.param_type_name == kind]
            # Typer adds the Python type to a name.
            rows = [(record[0].partition(" <")[0], _in_words(record[1])) for record in records if record]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
        _format_always(formatter)


class Group(TyperGroup):
    """Commands by name, each imported only when it is run: `--help` stays quick."""

    def __init__(
        self,
        *,
        entries: Sequence[Entry],
        default: str = "",
        **attributes: Any,  # noqa: ANN401 -- typer's own
    ) -> None:
        super().__init__(**attributes)
        self.entries = {entry.name: entry for entry in entries}
        self.default = default

    def list_commands(self, ctx: "Context") -> list[str]:  # noqa: ARG002 -- the signature is typer's
        return list(self.entries)

    def get_command(self, ctx: "Context", cmd_name: str) -> "AnyCommand | None":  # noqa: ARG002
        entry = self.entries.get(cmd_name)
        return _load(entry) if entry else None

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        if self.default and (not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)):
            args = [self.default, *args]
        if not args and not self.invoke_without_command and not ctx.resilient_parsing:
            raise UsageError(f"`{ctx.command_path}` needs a command.", hint=f"One of: {', '.join(self.entries)}.")
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: "Context", args: list[str]) -> "tuple[str | None, AnyCommand | None, list[str]]":
        wanted = args[0]
        if wanted not in self.entries and not wanted.startswith("-"):
            path = ctx.command_path
            meant = _nearest_command(wanted, path, self.entries)
            hint = f"Did you mean `{meant}`?" if meant else f"`{path} --help` lists the commands."
            raise UsageError(f"There is no command {wanted!r}.", hint=hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:  # noqa: ARG002
        for section in dict.fromkeys(entry.section for entry in self.entries.values()):
            with formatter.section(section):
                formatter.write_dl([(e.name, e.help) for e in self.entries.values() if e.section == section])
        _format_always(formatter)


def _nearest_command(wanted: str, path: str, names: Iterable[str]) -> str:
    """The command that a person means by a word: one with a similar spelling, or one that other tools call by it."""
    is_top = " " not in path
    others = {word: f"{path} {command}" for word, command in _OTHER_WORDS.items()} if is_top else {}
    words = others | {name: f"{path} {name}" for name in names}
    near = difflib.get_close_matches(wanted.casefold(), words, n=1)
    return words[near[0]] if near else ""


def _in_words(help_: str) -> str:
    """A help text with the ranges of numbers as people say them."""
    return re.sub(r"x>=(\d+)", r"at least \1", re.sub(r"(\d+)<=x<=(\d+)", r"from \1 to \2", help_))


def _load(entry: Entry) -> "AnyCommand":
    if isinstance(entry.target, tuple):
        return Group(
            name=entry.name, help=entry.help, entries=entry.target, default=entry.default, rich_markup_mode=None
        )
    module, _, function = entry.target.partition(":")
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(entry.name, cls=Command)(getattr(importlib.import_module(f"skillyard.cli.{module}"), function))
    return typer.main.get_command(app)


def _format_always(formatter: "HelpFormatter") -> None:
    with formatter.section("Always"):
        formatter.write_dl(JSON_HELP)
