"""Bytes and errors as the file backends of deepagents tell them."""

import base64
from pathlib import PurePosixPath
from typing import Final

from deepagents.backends.protocol import (
    FILE_NOT_FOUND,
    INVALID_PATH,
    IS_DIRECTORY,
    PERMISSION_DENIED,
    FileInfo,
    ReadResult,
)
from deepagents.backends.utils import create_file_data, slice_read_response

from skillyard.agents.tool import told
from skillyard.errors import InvalidPathError, NotAllowedError, NotFoundError, SkillyardError

_MEDIA: Final = frozenset(
    {
        *(".png", ".jpeg", ".jpg", ".webp", ".gif", ".heic", ".heif"),
        *(".mp4", ".mpeg", ".mov", ".avi", ".flv", ".mpg", ".webm", ".wmv", ".3gpp", ".mkv"),
        *(".wav", ".mp3", ".aiff", ".aac", ".ogg", ".flac"),
        *(".pdf", ".ppt", ".pptx"),
    }
)
"""What models are given as it is, never as lines of text."""


class FolderError(SkillyardError):
    """A folder was to be read like a file."""


def read_result(path: str, data: bytes, offset: int, limit: int) -> ReadResult:
    """Some lines of a text, or the whole of what is none."""
    text = None if PurePosixPath(path).suffix.lower() in _MEDIA else text_of(data)
    if text is None:
        return ReadResult(file_data=create_file_data(base64.b64encode(data).decode(), encoding="base64"))
    return slice_read_response(create_file_data(text), offset, limit)


def text_of(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def file_info(path: str, *, size: int) -> FileInfo:
    return FileInfo(path=path, is_dir=False, size=size, modified_at="")


def folder_info(path: str) -> FileInfo:
    return FileInfo(path=path, is_dir=True, size=0, modified_at="")


def error_code(error: SkillyardError) -> str:
    """An error by the name that backends have for it, or in its own words."""
    for kind, code in _CODES.items():
        if isinstance(error, kind):
            return code
    return told(error)


_CODES: Final[dict[type[SkillyardError], str]] = {
    FolderError: IS_DIRECTORY,
    NotFoundError: FILE_NOT_FOUND,
    InvalidPathError: INVALID_PATH,
    NotAllowedError: PERMISSION_DENIED,
}
