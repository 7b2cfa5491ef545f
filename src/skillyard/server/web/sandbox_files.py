"""The files of a sandbox: looked through, looked at, sent in, taken out and deleted."""

import contextlib
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import Query, Response

from skillyard.app.yard import Yard
from skillyard.errors import FileMissingError, InputError, SkillyardError
from skillyard.identity.principals import Principal
from skillyard.sandbox.sandboxes import Sandbox
from skillyard.sandbox.workspace_paths import workspace_path
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.raw_files import is_text
from skillyard.server.web.forms import Posted
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.server.web.sandbox import SANDBOX, TheSandbox, sandbox_path
from skillyard.server.web.skill_files import IMAGES, MAX_LINES, MAX_SHOWN
from skillyard.server.yard.filesystem import FileEntryResponse, download_file
from skillyard.server.yard.sandbox_schemas import SandboxResponse

_FILES: Final = f"{SANDBOX}/files"
_MAX_ENTRIES: Final = 1_000
_MAX_PICTURE: Final = 16 * 1024 * 1024

router = PageRouter()

Place = Annotated[str, Query(max_length=4096)]


@router.page(_FILES)
async def folder(sandbox: TheSandbox, yard: TheYard, caller: Caller, path: Place = ".") -> Page:
    """What is in a folder of the workspace. A sandbox that does not run is started for it."""
    return await _folder_page(yard, caller, sandbox, workspace_path(path))


@router.page(f"{_FILES}/view")
async def view(sandbox: TheSandbox, yard: TheYard, caller: Caller, path: Place) -> Page:
    """One file: as text, as a picture, or to be taken out."""
    name = workspace_path(path)
    entry = await _entry(yard, caller, sandbox, name)
    picture = _kind(name) != "" and (entry.size or 0) <= _MAX_PICTURE
    start = b"" if picture else await _start(yard, caller, sandbox, name)
    text = _text(start)
    lines = (text or "").split("\n")
    return Page(
        "sandboxes/file.html",
        {
            "sandbox": SandboxResponse.of(sandbox),
            "file": entry,
            "image": picture,
            "text": None if picture else text,
        },
        extra={
            "folders": _folders(name.rpartition("/")[0]),
            "lines": lines[:MAX_LINES],
            "is_cut": len(lines) > MAX_LINES or len(start) > MAX_SHOWN,
        },
    )


@router.get(f"{_FILES}/raw", response_model=None)
async def raw(sandbox: TheSandbox, yard: TheYard, caller: Caller, path: Place, *, download: bool = False) -> Response:
    """The bytes of a file: a picture to look at, anything else to keep."""
    name = workspace_path(path)
    if not download and (kind := _kind(name)):
        data = await yard.sandboxes.workspace.read(caller, sandbox.id, name, max_bytes=_MAX_PICTURE)
        return Response(data, media_type=kind, headers={"Cache-Control": "no-store"})
    return await download_file(sandbox.id, name, yard.sandboxes, caller)


@router.post(f"{_FILES}/upload", response_model=None)
async def upload(sandbox: TheSandbox, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Write a file that was sent, into a folder."""
    into = form.text("path") or "."
    sent = form.uploads.get("file")
    try:
        if sent is None or not sent.name:
            raise InputError("No file was sent.", hint="Choose one.", details={"field": "file"})
        name = sent.name.replace("\\", "/").rpartition("/")[2]
        await yard.sandboxes.workspace.write(caller, sandbox.id, workspace_path(f"{into}/{name}"), sent.data)
    except SkillyardError as error:
        return await _folder_page(yard, caller, sandbox, workspace_path(into), problem=error)
    return go_to(sandbox_path(sandbox.id, "files"), done="file_uploaded", path=into)


@router.post(f"{_FILES}/delete", response_model=None)
async def delete(sandbox: TheSandbox, form: Posted, yard: TheYard, caller: Caller) -> Response:
    name = workspace_path(form.required("path"))
    await yard.sandboxes.workspace.delete(caller, sandbox.id, name)
    return go_to(sandbox_path(sandbox.id, "files"), done="file_deleted", path=name.rpartition("/")[0] or ".")


async def _folder_page(
    yard: Yard, caller: Principal, sandbox: Sandbox, path: str, *, problem: SkillyardError | None = None
) -> Page:
    entries = await yard.sandboxes.workspace.list(caller, sandbox.id, path)
    told = sorted(map(FileEntryResponse.of, entries), key=lambda entry: (not entry.is_dir, entry.name))
    now = await yard.sandboxes.sandboxes.get(caller, sandbox.id)  # it may have been started for this
    return Page(
        "sandboxes/files.html",
        {
            "sandbox": SandboxResponse.of(now),
            "folder": path,
            "entries": told[:_MAX_ENTRIES],
            "total": len(told),
        },
        extra={"folders": _folders(path), "problem": problem.as_public_dict() if problem else None},
        status=problem.http_status if problem else 200,
        address=f"{sandbox_path(sandbox.id, 'files')}?{urlencode({'path': path})}",
    )


async def _entry(yard: Yard, caller: Principal, sandbox: Sandbox, path: str) -> FileEntryResponse:
    """What is known of a file; its folder says it."""
    around = await yard.sandboxes.workspace.list(caller, sandbox.id, path.rpartition("/")[0] or ".")
    found = next((entry for entry in around if entry.path == path and entry.kind == "file"), None)
    if found is None:
        raise FileMissingError(
            f"There is no file {path!r} in the workspace.",
            hint="Go back to the folder that it was in.",
            details={"field": "path", "value": path},
        )
    return FileEntryResponse.of(found)


async def _start(yard: Yard, caller: Principal, sandbox: Sandbox, path: str) -> bytes:
    """As much of a file as is shown, and a byte more if there is more."""
    start = bytearray()
    async with contextlib.aclosing(yard.sandboxes.workspace.get_file(caller, sandbox.id, path)) as pieces:
        async for piece in pieces:
            start += piece
            if len(start) > MAX_SHOWN:
                break
    return bytes(start[: MAX_SHOWN + 1])


def _text(data: bytes) -> str | None:
    """The text that a file begins with; a character that was cut in two at the end does not count."""
    shown = data[:MAX_SHOWN]
    for cut in range(4 if len(data) > MAX_SHOWN else 1):
        part = shown[: len(shown) - cut]
        if is_text(part):
            return part.decode()
    return None


def _kind(path: str) -> str:
    return IMAGES.get(path.rpartition(".")[2].lower(), "")


def _folders(path: str) -> list[dict[str, Any]]:
    """A folder and those it is in, from the outermost: what leads back."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    return [{"name": part, "path": "/".join(parts[: at + 1])} for at, part in enumerate(parts)]
