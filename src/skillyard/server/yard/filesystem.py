"""The files of a sandbox."""

import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator
from datetime import datetime
from typing import Annotated, Any, Final, Self
from urllib.parse import quote

from fastapi import APIRouter, File, Form, Query, Response, UploadFile
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator, BaseModel, Field

from skillyard.sandbox.session import FileEntry
from skillyard.sandbox.workspace_paths import relative_path
from skillyard.server.api.shapes import BEARER
from skillyard.server.yard.caller import Body, Caller, Rooms, failures
from skillyard.server.yard.sandbox_schemas import StatusResponse

router = APIRouter(
    prefix="/v1/sandboxes/{sandbox_id}/filesystem",
    tags=["filesystem"],
    responses=failures(409, 502, 504),
    dependencies=[BEARER],
)


def _checked(path: str) -> str:
    relative_path(path)
    return path


WorkspacePath = Annotated[str, AfterValidator(_checked)]
PathQuery = Annotated[WorkspacePath, Query(max_length=4096, description="Relative to the workspace.")]
_BYTES: Final = "application/octet-stream"
_DOWNLOAD: Final[dict[int | str, dict[str, Any]]] = {200: {"content": {_BYTES: {}}, "description": "The bytes."}}
_PIECE: Final = 256 * 1024
"""Files up to here are answered whole, with their length."""


class FileReadResponse(BaseModel):
    content: str


class FileWriteRequest(Body):
    path: WorkspacePath = Field(max_length=4096)
    content: str


class FileUploadResponse(BaseModel):
    status: str
    path: str
    size: int


class FileEntryResponse(BaseModel):
    """A file or folder."""

    name: str
    path: str
    is_dir: bool
    size: int | None
    modified_at: datetime
    kind: str
    executable: bool

    @classmethod
    def of(cls, entry: FileEntry) -> Self:
        return cls(
            name=entry.name,
            path=entry.path,
            is_dir=entry.kind == "folder",
            size=None if entry.kind == "folder" else entry.size,
            modified_at=entry.modified_at,
            kind=entry.kind,
            executable=entry.executable,
        )


class FileListResponse(BaseModel):
    entries: list[FileEntryResponse]


@router.get("/files", summary="Read a text file")
async def read_file(sandbox_id: str, path: PathQuery, rooms: Rooms, caller: Caller) -> FileReadResponse:
    return FileReadResponse(content=await rooms.workspace.read_text(caller, sandbox_id, path))


@router.put("/files", summary="Write a text file")
async def write_file(sandbox_id: str, body: FileWriteRequest, rooms: Rooms, caller: Caller) -> StatusResponse:
    """Write it whole; folders on the way are made."""
    await rooms.workspace.write(caller, sandbox_id, body.path, body.content.encode())
    return StatusResponse(status="ok")


@router.delete("/files", summary="Delete a file or folder")
async def delete_file(sandbox_id: str, path: PathQuery, rooms: Rooms, caller: Caller) -> StatusResponse:
    await rooms.workspace.delete(caller, sandbox_id, path)
    return StatusResponse(status="ok")


@router.get("/directories", summary="List a folder")
async def list_folder(sandbox_id: str, rooms: Rooms, caller: Caller, path: PathQuery = ".") -> FileListResponse:
    entries = await rooms.workspace.list(caller, sandbox_id, path)
    return FileListResponse(entries=[FileEntryResponse.of(entry) for entry in entries])


@router.post("/upload", summary="Upload a file")
async def upload_file(
    sandbox_id: str,
    rooms: Rooms,
    caller: Caller,
    file: Annotated[UploadFile, File(description="Its bytes.")],
    path: Annotated[WorkspacePath, Form(max_length=4096, description="Where it goes, relative to the workspace.")],
) -> FileUploadResponse:
    """Write any file, as a form with its bytes and its path."""

    async def pieces() -> AsyncIterator[bytes]:
        await file.seek(0)
        while piece := await file.read(_PIECE):
            yield piece

    size = file.size or 0
    await rooms.workspace.put_file(caller, sandbox_id, path, pieces, size)
    return FileUploadResponse(status="ok", path=path, size=size)


@router.get("/download", summary="Download a file", response_class=Response, responses=_DOWNLOAD)
async def download_file(sandbox_id: str, path: PathQuery, rooms: Rooms, caller: Caller) -> Response:
    """Any file as it is; a large one comes in pieces, and is cut off when it cannot be read to its end."""
    headers = {"Content-Disposition": _attachment(relative_path(path)), "Cache-Control": "no-store"}
    pieces = rooms.workspace.get_file(caller, sandbox_id, path)
    start = bytearray()
    async for piece in pieces:
        start += piece
        if len(start) >= _PIECE:
            rest = _joined(bytes(start), pieces)
            return StreamingResponse(rest, media_type=_BYTES, headers=headers)
    return Response(bytes(start), media_type=_BYTES, headers=headers)


async def _joined(start: bytes, rest: AsyncGenerator[bytes]) -> AsyncIterator[bytes]:
    async with contextlib.aclosing(rest):
        yield start
        async for piece in rest:
            yield piece


def _attachment(path: str) -> str:
    """The name of a file for those who read it plain, and for those who read it whole."""
    name = path.rpartition("/")[2]
    plain = re.sub(r'[^ -~]|["\\%]', "_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
