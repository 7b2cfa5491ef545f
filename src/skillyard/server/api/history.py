"""The history, the audit log, and undo."""

from typing import Annotated, Final

from fastapi import APIRouter, Path, Query

from skillyard.app.yard import Yard
from skillyard.errors import InputError
from skillyard.history.entries import MAX_ENTRIES, Entry, Page
from skillyard.server.api.caller import Caller, Reason, TheYard
from skillyard.server.api.history_schemas import EntryDetail, EntrySchema
from skillyard.server.api.shapes import BEARER, Listed, errors
from skillyard.server.models import Success

router = APIRouter(prefix="/api/v1", tags=["history"], responses=errors(), dependencies=[BEARER])

LARGEST: Final = 2**63 - 1

Number = Annotated[int, Path(ge=1, le=LARGEST, description="The number of a change.")]
Before = Annotated[int | None, Query(ge=1, le=LARGEST, description="Only those before this number.")]
Cursor = Annotated[int | None, Query(ge=1, le=LARGEST, description="The `next_cursor` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=MAX_ENTRIES)]
ActorName = Annotated[str | None, Query(max_length=64, description="Only what this person did.")]
SubjectKind = Annotated[str | None, Query(max_length=32, description="With `subject_id`: one subject.")]
SubjectId = Annotated[str | None, Query(max_length=128)]


@router.get("/history")
async def list_history(
    yard: TheYard,
    caller: Caller,
    skill: Annotated[str | None, Query(max_length=400, description="An id, a name, or namespace/name.")] = None,
    subject_kind: SubjectKind = None,
    subject_id: SubjectId = None,
    actor: ActorName = None,
    before: Before = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Listed[EntrySchema]:
    """What happened to what the caller may see, the newest first."""
    page = await yard.registry.chronicle.entries(
        caller,
        skill=skill,
        subjects=_subject(subject_kind, subject_id),
        actor=actor,
        before=_earlier(before, cursor),
        limit=limit,
    )
    return _listed(yard, page)


@router.get("/audit")
async def list_audit(
    yard: TheYard,
    caller: Caller,
    subject_kind: SubjectKind = None,
    subject_id: SubjectId = None,
    actor: ActorName = None,
    before: Before = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Listed[EntrySchema]:
    """Everything that happened in the tenant, the newest first; for its administrators."""
    subjects = _subject(subject_kind, subject_id)
    page = await yard.registry.chronicle.entries(
        caller, subjects=subjects, actor=actor, before=_earlier(before, cursor), limit=limit, everything=True
    )
    return _listed(yard, page)


@router.get("/history/{number}")
async def get_entry(number: Number, yard: TheYard, caller: Caller) -> Success[EntryDetail]:
    """One change, with what it did to the files."""
    chronicle = yard.registry.chronicle
    entry = await chronicle.entry(caller, number)
    diff, has_content = await chronicle.diff(entry), await chronicle.has_content(entry)
    undoable = chronicle.is_undoable(entry)
    return Success(data=EntryDetail.with_diff(entry, diff, undoable=undoable, has_content=has_content))


@router.post("/history/{number}/undo", responses=errors(409))
async def undo(number: Number, yard: TheYard, caller: Caller, why: Reason) -> Success[EntrySchema]:
    """Take one change back. It needs the same rights as the change; the answer is the entry that says so."""
    return Success(data=_shown(yard, await yard.registry.chronicle.undo(caller, number, why=why)))


def _listed(yard: Yard, page: Page) -> Listed[EntrySchema]:
    cursor = None if page.next is None else str(page.next)
    return Listed(data=[_shown(yard, entry) for entry in page.entries], next_cursor=cursor)


def _shown(yard: Yard, entry: Entry) -> EntrySchema:
    return EntrySchema.of(entry, undoable=yard.registry.chronicle.is_undoable(entry))


def _earlier(before: int | None, cursor: int | None) -> int | None:
    return min((number for number in (before, cursor) if number is not None), default=None)


def _subject(kind: str | None, key: str | None) -> list[tuple[str, str]]:
    if (kind is None) != (key is None):
        raise InputError(
            "A subject has a kind and an id.",
            hint="Give both subject_kind and subject_id, such as subject_kind=skill.",
            details={"field": "subject_id" if key is None else "subject_kind"},
        )
    return [] if kind is None or key is None else [(kind, key)]
