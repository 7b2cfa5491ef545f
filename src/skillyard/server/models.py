"""The JSON that the API answers with."""

from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator

T = TypeVar("T")


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


DiskText: TypeAlias = Annotated[str, BeforeValidator(_printable)]
"""Text that may quote a file name; what is no UTF-8 in it is written out."""


class Success(BaseModel, Generic[T]):
    success: Literal[True] = True
    data: T


class SuccessList(Success[list[T]], Generic[T]):
    total: int
    """How many there are, shown or not."""


class ErrorBody(BaseModel):
    code: str
    message: str
    hint: str = ""
    details: dict[str, Any] = {}


class Failure(BaseModel):
    success: Literal[False] = False
    error: ErrorBody


class SkillSummary(BaseModel):
    id: str
    name: str
    description: str
    location: DiskText
    source: DiskText
    score: float | None = None
    """How well it fits the query, when there was one."""


class FindingBody(BaseModel):
    code: str
    severity: str
    field: str
    file: DiskText
    line: int
    message: DiskText
    fix: DiskText


class FileBody(BaseModel):
    path: str
    bytes: int
    executable: bool


class SkillDetail(BaseModel):
    id: str
    name: str
    description: str
    location: DiskText
    source: DiskText
    license: str
    compatibility: str
    metadata: dict[str, Any]
    allowed_tools: list[str]
    tags: list[str]
    frontmatter: dict[str, Any]
    body: str
    digest: str
    files: list[FileBody]
    findings: list[FindingBody]


class Health(BaseModel):
    status: Literal["ok"] = "ok"
    version: str
