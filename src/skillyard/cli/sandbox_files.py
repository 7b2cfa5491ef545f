"""`skillyard sandbox files`: the workspace of a sandbox."""

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from skillyard.cli.options import Token
from skillyard.cli.output import Answer, sink_of
from skillyard.cli.safe_text import inline, visible
from skillyard.cli.sandbox_options import Id
from skillyard.cli.text import FAINT, count, print_rows, styled
from skillyard.cli.yard import Server, yard_client
from skillyard.errors import UsageError
from skillyard.files import replace_file
from skillyard.library.regular import read_regular
from skillyard.sandbox.place import MIB

FilePath = Annotated[str, typer.Argument(metavar="PATH", help="Relative to the workspace.")]
_MAX_UPLOAD: Final = 128 * MIB
"""What is read of a file at most; a yard may take less, and says so."""
_SIGNS: Final = {"folder": "/", "link": "@", "file": "", "other": "?"}


def list_folder(
    context: typer.Context,
    sandbox_id: Id,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A folder, relative to the workspace.")] = ".",
    *,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """List a folder of a sandbox."""
    with yard_client(server, token) as client, _looking(context, sandbox_id):
        found = client.sandboxes.files(sandbox_id, path)
    rows = [
        (
            styled((inline(one["name"]) + _SIGNS.get(one["kind"], "?"), "green" if one["executable"] else "")),
            styled(("" if one["size"] is None else f"{one['size']:,} bytes", FAINT)),
            styled((str(one["modified_at"]), FAINT)),
        )
        for one in found
    ]
    return Answer(
        document={"path": path, "entries": found},
        text=lambda console: print_rows(console, rows, cut=False),
        remarks=[] if found else ["There is nothing in it."],
    )


def read(
    context: typer.Context, sandbox_id: Id, path: FilePath, *, server: Server = None, token: Token = None
) -> Answer:
    """Print a text file.

    On a terminal, control characters in it are written out; into a file or a pipe it goes as it is.
    """
    with yard_client(server, token) as client, _looking(context, sandbox_id):
        content = client.sandboxes.read(sandbox_id, path)
    return Answer(
        document={"path": path, "content": content},
        text=lambda console: _write(visible(content) if console.is_terminal else content),
    )


def write(
    context: typer.Context,
    sandbox_id: Id,
    path: FilePath,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Its content; - reads it from stdin.")] = "-",
    *,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Write a text, or stdin, into a file.

    Missing folders are created; an existing file is replaced.
    """
    data = sys.stdin.buffer.read() if text == "-" else text.encode()
    with yard_client(server, token) as client, _looking(context, sandbox_id):
        client.sandboxes.upload(sandbox_id, path, data)
    return _copied([{"path": path, "bytes": len(data)}], "Wrote")


def remove(
    context: typer.Context,
    sandbox_id: Id,
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Relative to the workspace.")],
    *,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Delete files, and folders with everything in them."""
    with yard_client(server, token) as client, _looking(context, sandbox_id):
        for path in paths:
            client.sandboxes.remove(sandbox_id, path)
    return Answer(
        document={"deleted": paths},
        text=lambda console: console.print(f"Deleted {inline(', '.join(paths))}.", soft_wrap=True),
    )


def upload(
    context: typer.Context,
    sandbox_id: Id,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Files of this machine.")],
    *,
    to: Annotated[
        str, typer.Option("--to", metavar="PATH", help="A folder of the workspace, or for one file its path there.")
    ] = "./",
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Copy files from this machine into a sandbox.

    `--to data/` is a folder; `--to data/table.csv` is where the one file goes.
    """
    if len(files) > 1 and not to.endswith("/"):
        raise UsageError(
            f"{to} is one path, and there are {len(files)} files.", hint=f"Name a folder, with a slash: --to {to}/"
        )
    wanted = [(f"{to}{file.name}" if to.endswith("/") else to, _content(file)) for file in files]
    with yard_client(server, token) as client, _looking(context, sandbox_id):
        for path, data in wanted:
            client.sandboxes.upload(sandbox_id, path, data)
    return _copied([{"path": path.removeprefix("./"), "bytes": len(data)} for path, data in wanted], "Uploaded")


def download(
    context: typer.Context,
    sandbox_id: Id,
    path: FilePath,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The file to write; default: its name.")
    ] = None,
    server: Server = None,
    token: Token = None,
) -> Answer:
    """Copy a file out of a sandbox.

    Byte for byte; a file of that name here is replaced.
    """
    default = Path(path.rstrip("/").rpartition("/")[2])
    target = output or default
    if target.is_dir():
        raise UsageError(f"{target} is a folder.", hint=f"Name a file in it: -o {target / default}")
    with yard_client(server, token) as client, _looking(context, sandbox_id):
        data = client.sandboxes.download(sandbox_id, path)
    replace_file(target, data, mode=0o644)
    return Answer(
        document={"path": path, "file": str(target), "bytes": len(data)},
        text=lambda console: console.print(inline(str(target)), soft_wrap=True),
    )


def _looking(context: typer.Context, sandbox_id: str) -> Any:  # noqa: ANN401 -- what `busy` gives
    return sink_of(context).busy(f"Waiting for {sandbox_id}")


def _content(file: Path) -> bytes:
    if file.is_dir():
        raise UsageError(f"{file} is a folder.", hint="Pack it first (tar -czf), and unpack it there: sandbox exec.")
    return read_regular(str(file.resolve()), _MAX_UPLOAD)


def _copied(done: list[dict[str, Any]], verb: str) -> Answer:
    return Answer(
        document={"files": done},
        text=lambda console: print_rows(
            console, [(f"{verb} {one['path']}", count(one["bytes"], "byte")) for one in done], cut=False
        ),
    )


def _write(text: str) -> None:
    sys.stdout.write(text)
