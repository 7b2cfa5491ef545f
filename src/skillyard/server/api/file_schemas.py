"""Files of skills in requests and answers."""

import base64
import binascii
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from skillyard.registry.bundles import StoredFile
from skillyard.registry.skills import Skill, SkillFile
from skillyard.server.api.shapes import Request
from skillyard.server.raw_files import is_text
from skillyard.skill.bundle import BundleFile
from skillyard.skill.limits import MAX_PATH_BYTES

SHA256: Final = "0d5d7b2d1c7d8a8b2b8f5f1f9d1ff1c4a4e3d6dcae0b6d0d5a7a6c7f6a4f0b11"
FILE_ID: Final = "5f0f7a3a-5f0e-5c84-8c0e-6a0d1c7a9f10"
FILE_EXAMPLE: Final[dict[str, Any]] = {
    "id": FILE_ID,
    "path": "scripts/tables.py",
    "size": 812,
    "sha256": SHA256,
    "executable": True,
}


class SkillFileCreate(Request):
    """A file to be written: its bytes as text or in base64, one of the two."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"path": "scripts/tables.py", "content": "print('tables')\n", "executable": True},
                {"path": "assets/logo.png", "content_base64": "iVBORw0KGgo="},
            ]
        }
    )

    path: str = Field(min_length=1, max_length=MAX_PATH_BYTES, description="Relative to the skill, with `/`.")
    content: str | None = Field(default=None, description="The text of the file; an empty file is ''.")
    content_base64: str | None = Field(default=None, description="The bytes of the file in base64 (RFC 4648, padded).")
    executable: bool = Field(default=False, description="Whether it may be run.")

    _data: bytes = PrivateAttr(default=b"")

    @model_validator(mode="after")
    def _one_content(self) -> Self:
        if (self.content is None) == (self.content_base64 is None):
            raise ValueError("give either 'content' or 'content_base64'")
        self._data = (self.content or "").encode() if self.content_base64 is None else _decoded(self.content_base64)
        return self

    def as_file(self) -> BundleFile:
        return BundleFile(self.path, self._data, self.executable)


class StoredFileSchema(BaseModel):
    """A file as it is in a version."""

    model_config = ConfigDict(from_attributes=True)

    path: str
    size: int = Field(description="In bytes.")
    sha256: str
    executable: bool

    @classmethod
    def of_stored(cls, file: StoredFile) -> Self:
        return cls(path=file.path, size=file.size, sha256=file.sha256, executable=file.executable)


class SkillFileSchema(StoredFileSchema):
    """A file of a skill's working copy. Its id stays while it keeps its path."""

    model_config = ConfigDict(json_schema_extra={"examples": [FILE_EXAMPLE]})

    id: str

    @classmethod
    def of(cls, file: SkillFile) -> Self:
        return cls(id=file.id, path=file.path, size=file.size, sha256=file.sha256, executable=file.executable)


class SkillFileContent(SkillFileSchema):
    """A file with its bytes, in the way that they can be sent back."""

    skill_id: str
    content: str | None = Field(description="The text of the file; null when it is no UTF-8 text.")
    content_base64: str | None = Field(description="The bytes of the file where they are no text.")

    @classmethod
    def of_content(cls, skill: Skill, file: SkillFile, data: bytes) -> Self:
        text = data.decode() if is_text(data) else None
        return cls(
            **SkillFileSchema.of(file).model_dump(),
            skill_id=skill.id,
            content=text,
            content_base64=base64.b64encode(data).decode() if text is None else None,
        )


class FileWritten(BaseModel):
    """A file that was written, and the state of the skill that this led to."""

    file: SkillFileSchema
    digest: str


class FileDeleted(BaseModel):
    """A file that is gone, and the state of the skill that this led to."""

    id: str
    path: str
    skill_id: str
    digest: str


def _decoded(text: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        data = None
    # Another spelling of the same bytes is a sign that something went wrong on the way.
    if data is None or base64.b64encode(data).decode() != text:
        raise ValueError("'content_base64' is no base64 (RFC 4648: A-Z a-z 0-9 + /, padded with =, no line breaks)")
    return data
