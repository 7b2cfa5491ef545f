"""Forms that browsers send: bounded, and only our own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Final

from fastapi import Depends, Request
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from skillyard.errors import InputError, LimitError
from skillyard.history.entries import Why
from skillyard.server.web.reader import FORM_FIELD, Reader

MAX_FIELD: Final = 2 * 1024 * 1024
MAX_FIELDS: Final = 4_100
MAX_FILES: Final = 20
MAX_REASON: Final = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Upload:
    """A file that came with a form."""

    name: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Form:
    """What was entered, field by field."""

    fields: Mapping[str, Sequence[str]]
    uploads: Mapping[str, Upload] = field(default_factory=dict[str, Upload])

    def text(self, name: str, default: str = "") -> str:
        """What is in a field, with the line ends that people mean."""
        given = self.fields.get(name)
        return given[0].replace("\r\n", "\n") if given else default

    def texts(self, name: str) -> list[str]:
        return [value.replace("\r\n", "\n") for value in self.fields.get(name, ())]

    def is_set(self, name: str) -> bool:
        """Whether a box was ticked."""
        return bool(self.text(name))

    @property
    def why(self) -> Why:
        """Why it is done, as the history keeps it."""
        return Why(reason=self.text("reason")[:MAX_REASON])

    @property
    def risky_why(self) -> Why:
        """The same, and whether serious findings of the scan are accepted."""
        return replace(self.why, allow_risky=self.is_set("allow_risky"))

    def required(self, name: str) -> str:
        text = self.text(name).strip()
        if not text:
            raise InputError(f"The field {name!r} is empty.", hint="Fill it in.", details={"field": name})
        return text


async def posted(request: Request) -> Form:
    """The form of a request, if it was sent by one of our own pages."""
    fields: dict[str, list[str]] = {}
    uploads: dict[str, Upload] = {}
    try:
        async with request.form(max_files=MAX_FILES, max_fields=MAX_FIELDS, max_part_size=MAX_FIELD) as form:
            for name, value in form.multi_items():
                if isinstance(value, UploadFile):
                    uploads[name] = Upload(name=value.filename or "", data=await value.read())
                else:
                    fields.setdefault(name, []).append(value)
    except HTTPException as error:
        raise LimitError(f"The form cannot be read: {error.detail}", hint="Send less at once.") from error
    (token,) = fields.pop(FORM_FIELD, [""])[:1]
    Reader(request=request).require_own_form(token)
    return Form(fields=fields, uploads=uploads)


Posted = Annotated[Form, Depends(posted)]
