"""What people said and where it stands: the inbox of learning, and giving feedback, by hand or as a file."""

from io import BytesIO
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import Query, Response, UploadFile

from skillyard.app.yard import Yard
from skillyard.errors import SkillyardError
from skillyard.identity.principals import Principal
from skillyard.learning.states import Stage
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.feedback import FeedbackPage, give_feedback, import_feedback, list_feedback
from skillyard.server.api.feedback_schemas import FeedbackAgent, FeedbackCreate, ImportedFeedback
from skillyard.server.api.learning_shapes import Cursor
from skillyard.server.models import Success
from skillyard.server.web.bodies import body_of
from skillyard.server.web.choices import one_of
from skillyard.server.web.forms import Posted
from skillyard.server.web.marks import mark_of
from skillyard.server.web.page import Page, PageRouter, go_to

LEARNING: Final = "/learning"
UNDER_WAY: Final = frozenset({Stage.QUEUED, Stage.MATCHING, Stage.DECIDING})
_PER_PAGE: Final = 30
_FIELDS: Final = ("content", "task", "description", "agents", "user")
_WRITTEN_IN: Final = {
    "utf-8": "UTF-8",
    "cp949": "CP949 (한국어)",
    "gb18030": "GB18030 (简体中文)",
    "big5": "Big5 (繁體中文)",
    "cp932": "Shift_JIS (日本語)",
    "cp1252": "Windows-1252",
    "cp1251": "Windows-1251 (кириллица)",
}
"""The encodings in which spreadsheets save CSV, each by what its writers call it."""

router = PageRouter()


@router.page(LEARNING)
async def inbox(
    yard: TheYard,
    caller: Caller,
    stage: Annotated[str, Query(max_length=32)] = "",
    cursor: Cursor = 0,
    seen: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Feedback, the newest first. Who has `seen` this state of it already is told that nothing is new."""
    found = await list_feedback(yard.learning, caller, one_of(Stage, stage), cursor, _PER_PAGE)
    if seen and seen == _mark(found):
        return Response(status_code=204)
    return await _page(yard, caller, found, stage=stage, cursor=cursor)


@router.post(LEARNING, response_model=None)
async def give(form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Take in what somebody says; what had been said before leads to where it stands."""
    entered = {name: form.text(name) for name in _FIELDS}
    try:
        agents = [body_of(FeedbackAgent, id=each) for each in _named(entered["agents"])]
        body = body_of(FeedbackCreate, **{**entered, "agents": agents, "content": form.required("content")})
        answer = Response()
        given = await give_feedback(body, yard.learning, caller, answer, source="web")
    except SkillyardError as error:
        return await _inbox_page(yard, caller, entered=entered, problem=error)
    assert isinstance(given, Success)  # noqa: S101 -- one was given, and not a list
    taken = given.data
    assert not isinstance(taken, list)  # noqa: S101 -- as above
    is_begun = taken.created or taken.again
    done = "given_to_wait" if is_begun and taken.stage is Stage.WAITING_FOR_MODEL else "given" if is_begun else "known"
    return go_to(f"{LEARNING}/feedback/{taken.id}", done=done)


@router.post(f"{LEARNING}/import", response_model=None)
async def take_file(form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Take in what is in a file, or only look it over; lines that are no feedback are told."""
    upload = form.uploads.get("file")
    encoding = form.text("encoding").strip()
    entered = {"encoding": encoding}
    try:
        file = UploadFile(BytesIO(upload.data if upload else b""), filename=upload.name if upload else "")
        dry_run = form.text("do") == "look"
        told = await import_feedback(yard.learning, caller, file, encoding or None, dry_run)
    except SkillyardError as error:
        return await _inbox_page(yard, caller, entered=entered, problem=error)
    return await _inbox_page(yard, caller, entered=entered, imported=told.data)


async def _inbox_page(
    yard: Yard,
    caller: Principal,
    *,
    entered: dict[str, str] | None = None,
    problem: SkillyardError | None = None,
    imported: ImportedFeedback | None = None,
) -> Page:
    found = await list_feedback(yard.learning, caller, None, 0, _PER_PAGE)
    return await _page(yard, caller, found, entered=entered, problem=problem, imported=imported)


async def _page(
    yard: Yard,
    caller: Principal,
    found: FeedbackPage,
    *,
    stage: str = "",
    cursor: int = 0,
    entered: dict[str, str] | None = None,
    problem: SkillyardError | None = None,
    imported: ImportedFeedback | None = None,
) -> Page:
    query = {key: value for key, value in (("stage", stage), ("cursor", str(cursor or ""))) if value}
    return Page(
        "learning/inbox.html",
        {
            "chosen": {"stage": stage},
            "feedback": found.data,
            "counts": found.counts,
            "total": found.total,
            "next_cursor": found.next_cursor,
            "model": yard.learning.models.name,
            "imported": imported,
        },
        extra={
            "entered": {**dict.fromkeys((*_FIELDS, "encoding"), ""), **(entered or {})},
            "encodings": _WRITTEN_IN,
            "problem": problem.as_public_dict() if problem else None,
            "agents": await yard.registry.agents.all(caller),
            "stages": list(Stage),
            "again": urlencode({**query, "seen": _mark(found)}),
            "is_under_way": any(found.counts.get(each) for each in UNDER_WAY),
        },
        status=problem.http_status if problem else 200,
        address=LEARNING,
    )


def _named(agents: str) -> list[str]:
    return [each.strip() for each in agents.split(",") if each.strip()]


def _mark(found: FeedbackPage) -> str:
    """The state of a list: another one as soon as anything that it shows is."""
    shown = [[each.id, each.stage, each.reason, each.error, each.taken_by] for each in found.data]
    return mark_of([shown, found.counts, found.total])
