"""Bytes and errors as the file backends of deepagents tell them."""

import base64
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from deepagents.backends.protocol import (
    FILE_NOT_FOUND,
    INVALID_PATH,
    IS_DIRECTORY,
    PERMISSION_DENIED,
    FileDownloadResponse,
    FileInfo,
    ReadResult,
)
from deepagents.backends.utils import create_file_data, slice_read_response

from skillyard.agents.tool import told
from skillyard.errors import InvalidPathError, NotAllowedError, NotFoundError, SkillyardError
from skillyard.skill.document import parse
from skillyard.skill.models import PlainScalar, SkillDocument, Value
from skillyard.skill.prompt import one_line, without_tags
from skillyard.skill.write import render_skill_md

_MEDIA: Final = frozenset(
    {
        *(".png", ".jpeg", ".jpg", ".webp", ".gif", ".heic", ".heif"),
        *(".mp4", ".mpeg", ".mov", ".avi", ".flv", ".mpg", ".webm", ".wmv", ".3gpp", ".mkv"),
        *(".wav", ".mp3", ".aiff", ".aac", ".ogg", ".flac"),
        *(".pdf", ".ppt", ".pptx"),
    }
)
"""What models are given as it is, never as lines of text."""
_MISREAD: Final = frozenset({"yaml-unquoted", "encoding-bom", "encoding-utf16", "encoding-invalid", "name-missing"})
"""What keeps deepagents from seeing a skill at all."""


class FolderError(SkillyardError):
    """A folder was to be read like a file."""


def read_result(path: str, data: bytes, offset: int, limit: int) -> ReadResult:
    """Some lines of a text, or the whole of what is none."""
    text = None if PurePosixPath(path).suffix.lower() in _MEDIA else text_of(data)
    if text is None:
        return ReadResult(file_data=create_file_data(base64.b64encode(data).decode(), encoding="base64"))
    return slice_read_response(create_file_data(text), offset, limit)


def listed_files(
    responses: Sequence[FileDownloadResponse], folders: Iterable[str | None]
) -> list[FileDownloadResponse]:
    """Files for whoever makes a list of skills. `folders` says of which skill each is the main file, if it is one.

    Such a file is as it is unless its fields would be misread or leave their line: deepagents writes descriptions into
    the prompt as they stand, so that one with a line break could forge an entry. Of several skills that share a name it
    lists one, so that those whose folder has another name are called by that.
    """
    mains = [_Main.of(response.content, folder) for response, folder in zip(responses, folders, strict=True)]
    counts = Counter(main.document.name for main in mains if main is not None)
    return [
        response if main is None else replace(response, content=main.listed(is_shared=counts[main.document.name] > 1))
        for response, main in zip(responses, mains, strict=True)
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Main:
    """The `SKILL.md` of a skill."""

    folder: str
    data: bytes
    document: SkillDocument
    is_readable: bool
    """For deepagents, too."""

    @classmethod
    def of(cls, data: bytes | None, folder: str | None) -> "_Main | None":
        if data is None or folder is None:
            return None
        parsed = parse(data, folder=folder)
        if parsed.document is None:
            return None
        is_readable = _MISREAD.isdisjoint(finding.code for finding in parsed.findings)
        return cls(folder=folder, data=data, document=parsed.document, is_readable=is_readable)

    def listed(self, *, is_shared: bool) -> bytes:
        document = self.document
        is_called_otherwise = is_shared and document.name != self.folder
        tame = {one_line(key): _tame(value) for key, value in document.fields.items()}
        if self.is_readable and tame == document.fields and not is_called_otherwise:
            return self.data
        fields = {**tame, "name": self.folder} if is_called_otherwise else {"name": _tame(document.name), **tame}
        return render_skill_md(fields, document.body).encode()


def _tame(value: Value) -> Value:
    if isinstance(value, PlainScalar):
        return value
    if isinstance(value, str):
        line = without_tags(one_line(value))
        return value if line == value.strip() else line
    if isinstance(value, list):
        return [_tame(each) for each in value]
    return {one_line(key): _tame(each) for key, each in value.items()}


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
