"""`skillyard mcp serve`."""

from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from skillyard.cli.options import Environment, Roots, Token, check_place
from skillyard.cli.output import sink_of
from skillyard.config.load import load_settings
from skillyard.imports import uncollected

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillyard.agents.folder_uses import FolderUses
    from skillyard.agents.source import SkillSource
    from skillyard.client import Skillyard
    from skillyard.config.settings import Settings
    from skillyard.library.searching import SkillSearch

Toolsets = Annotated[
    str | None,
    typer.Option(
        "--toolsets",
        "-t",
        metavar="NAMES",
        help="Toolsets for the client, separated by commas: skills (the default), registry, sandbox, releases, "
        "learning; or all.",
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget",
        "-b",
        metavar="NUMBER",
        help="Characters in which the tool `skill` tells of the skills there are: 2000 if nothing is said.",
    ),
]
Local = Annotated[
    Path | None,
    typer.Option(
        "--local",
        metavar="DIR",
        exists=True,
        file_okay=False,
        resolve_path=True,
        help="The folder whose files tools may send and write: the current one if nothing is said, "
        "and none if that is the home folder or holds it.",
    ),
]
OfYard = Annotated[bool, typer.Option("--registry", help="Skills of the yard, not of folders.")]
_LAST_SECONDS: Final = 2.0
"""How long the end waits for the last uses to be counted."""
AnyServer = Annotated[
    str | None, typer.Option("--server", metavar="URL", help="The yard is this Skillyard server; implies --registry.")
]


def serve(
    context: typer.Context,
    *,
    toolsets: Toolsets = None,
    root: Roots = None,
    env: Environment = None,
    registry: OfYard = False,
    server: AnyServer = None,
    token: Token = None,
    budget: Budget = None,
    local: Local = None,
) -> None:
    """Serve skills to a client that starts this, over stdin and stdout.

    Without options these are the skills of the active environment, also after it is switched, or of all folders in
    reach from here if none is active. `skillyard mcp install` tells a client to start it; `skillyard serve` serves MCP
    over HTTP, at /mcp.
    """
    from skillyard.agents.toolsets.local_files import working_folder  # noqa: PLC0415 -- `--help` needs nothing of it
    from skillyard.server.mcp.introduction import instructions  # noqa: PLC0415 -- as above
    from skillyard.server.mcp.opening import Opening  # noqa: PLC0415 -- as above
    from skillyard.server.mcp.wanted import wanted_by  # noqa: PLC0415 -- as above

    check_place(server, token, root, env, registry=registry)
    wanted = wanted_by(toolsets=toolsets, budget=None if budget is None else str(budget))
    opening = Opening(instructions(wanted.toolsets))
    settings = load_settings({"server": server, "token": token})
    with ExitStack() as opened, ExitStack() as first_closed:
        yard = cache(lambda: opened.enter_context(_yard(server, token)))
        if of_yard := server is not None or registry:
            source, settle = _of_yard(yard, opened, settings)
        else:
            uses = _counting(settings, yard, first_closed)
            source, settle = _of_folders(settings, root or [], env, uses), uses.flush if uses else None
            for remark in [] if root or env else _remarks(settings):
                sink_of(context).say(remark)
        from skillyard.server.mcp.kept_tools import KeptTools  # noqa: PLC0415 -- as above
        from skillyard.server.mcp.toolsets import skill_tool  # noqa: PLC0415 -- as above

        files = local or working_folder(Path.cwd(), Path.home())
        kept = KeptTools(settings.home, wanted.toolsets, with_files=files is not None)
        if not of_yard and (tools := kept.with_description(skill_tool(source, wanted).description())):
            opening.offer(tools)
        with uncollected():
            from skillyard.server.mcp.lean_sdk import import_lean_sdk  # noqa: PLC0415 -- as above

            import_lean_sdk()
            from skillyard.agents.materialise import OnThisMachine  # noqa: PLC0415 -- as above
            from skillyard.server.mcp.stdio import serve_stdio  # noqa: PLC0415 -- half a second of imports

        serve_stdio(
            source,
            wanted,
            opening=opening,
            yard=yard,
            place=OnThisMachine(settings.home),
            local=files,
            settle=settle,
            kept=kept,
        )


def _yard(server: str | None, token: str | None) -> "Skillyard":
    from skillyard.cli.yard import yard_client  # noqa: PLC0415 -- skills of folders need no yard

    return yard_client(server, token)


def _of_yard(
    yard: "Callable[[], Skillyard]", opened: ExitStack, settings: "Settings"
) -> "tuple[SkillSource, Callable[[], None]]":
    """The skills of the yard, and what waits until their uses are counted."""
    from skillyard.agents.yard_source import YardSource  # noqa: PLC0415 -- as above

    source = YardSource(yard(), label=settings.server or f"the yard in {settings.home}")
    opened.callback(source.close)
    return source, source.close


def _of_folders(
    settings: "Settings", roots: list[Path], environment: str | None, uses: "FolderUses | None"
) -> "SkillSource":
    from skillyard.agents.folder_counts import COUNTS_FILE, FolderCounts  # noqa: PLC0415 -- as below
    from skillyard.agents.library_source import LibrarySource  # noqa: PLC0415 -- skills of a yard need no folders
    from skillyard.app.libraries import open_library  # noqa: PLC0415

    def search() -> "SkillSearch":
        from skillyard.app.searching import open_search  # noqa: PLC0415 -- takes longer than the client waits

        return open_search(settings, library, roots=roots, environment=environment)

    library = open_library(settings, roots=roots, environment=environment, active_only=True)
    counts = FolderCounts(settings.home / COUNTS_FILE)
    return LibrarySource(library, search=search, record=uses, uses=counts.read)


def _counting(settings: "Settings", yard: "Callable[[], Skillyard]", closed: ExitStack) -> "FolderUses | None":
    """What counts uses in the yard of this machine; none is made for that, and no other is told what is here."""
    elsewhere = settings.server is not None
    if elsewhere or not (settings.database_url or (settings.home / "registry.sqlite").exists()):
        return None
    from skillyard.agents.folder_counts import COUNTS_FILE, FolderCounts  # noqa: PLC0415 -- as above
    from skillyard.agents.folder_uses import FolderUses  # noqa: PLC0415 -- as above

    uses = FolderUses(yard, counts=FolderCounts(settings.home / COUNTS_FILE))
    closed.callback(uses.flush, _LAST_SECONDS)
    return uses


def _remarks(settings: "Settings") -> list[str]:
    from skillyard.app.libraries import missing_environment  # noqa: PLC0415 -- as above

    return missing_environment(settings)
