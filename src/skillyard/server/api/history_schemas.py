"""The JSON of the history and the change feed."""

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, Field

from skillyard.history.entries import Entry, Outcome
from skillyard.registry.chronicle import FeedItem
from skillyard.skill.diff import BundleDiff


class ActorSchema(BaseModel):
    id: str | None = Field(description="Null: the yard itself.")
    name: str


class SubjectSchema(BaseModel):
    """What a change is about."""

    kind: str = Field(examples=["skill"])
    id: str
    label: str = Field(examples=["data-team/pdf-tables"])


class EntrySchema(BaseModel):
    """One line of the history."""

    number: int
    at: datetime
    actor: ActorSchema
    action: str = Field(examples=["skill.updated"])
    outcome: Outcome
    subject: SubjectSchema
    reason: str
    feedback: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    digest_before: str | None
    digest_after: str | None
    error: dict[str, Any] | None = Field(description="Why the attempt was refused, if it was.")
    undoes: int | None
    undone_by: int | None
    undoable: bool = Field(description="Whether it is of a kind that can be undone, and was not yet.")
    request_id: str

    @classmethod
    def of(cls, entry: Entry, *, undoable: bool) -> Self:
        return cls(**_fields(entry), undoable=undoable)


class DiffSchema(BaseModel):
    """The files that a change touched, each with its hunks; long ones are cut."""

    old_digest: str
    new_digest: str
    files: list[dict[str, Any]]


class EntryDetail(EntrySchema):
    has_content: bool = Field(
        description="Whether the files after the change are kept; those of a refused attempt are for a while only."
    )
    diff: DiffSchema | None = Field(
        description="Null where no file changed, or where they are too large to compare or no longer kept."
    )

    @classmethod
    def with_diff(cls, entry: Entry, diff: BundleDiff | None, *, undoable: bool, has_content: bool) -> Self:
        shown = DiffSchema(**diff.as_dict()) if diff else None
        return cls(**_fields(entry), undoable=undoable, has_content=has_content, diff=shown)


class ChangedSubject(BaseModel):
    kind: str
    id: str
    label: str | None = Field(description="Null where the subject is gone for the reader.")


class ChangeSchema(BaseModel):
    """A change as those who follow it are told."""

    number: int
    type: Literal["change", "removed"] = Field(description="`removed`: the subject is gone for the reader.")
    subject: ChangedSubject
    action: str | None = None
    at: datetime | None = None
    actor: str | None = None
    digest: str | None = Field(default=None, description="Of the content after the change.")

    @classmethod
    def of(cls, item: FeedItem) -> Self:
        entry = item.entry
        subject = entry.change.subject
        if item.lost:
            # All else would say what became of it, which is no longer theirs to know.
            return cls(
                number=entry.number,
                type="removed",
                subject=ChangedSubject(kind=subject.kind, id=subject.id, label=None),
            )
        return cls(
            number=entry.number,
            type="change",
            subject=ChangedSubject(kind=subject.kind, id=subject.id, label=subject.label),
            action=entry.change.action,
            at=entry.at,
            actor=entry.actor.name,
            digest=entry.change.digest_after,
        )


class ChangesSchema(BaseModel):
    changes: list[ChangeSchema]
    next: int = Field(description="The last number examined: pass it on as `since`.")


def _fields(entry: Entry) -> dict[str, Any]:
    change, subject = entry.change, entry.change.subject
    return {
        "number": entry.number,
        "at": entry.at,
        "actor": ActorSchema(id=entry.actor.id, name=entry.actor.name),
        "action": change.action,
        "outcome": entry.outcome,
        "subject": SubjectSchema(kind=subject.kind, id=subject.id, label=subject.label),
        "reason": entry.why.reason,
        "feedback": entry.why.feedback,
        "before": change.before,
        "after": change.after,
        "digest_before": change.digest_before,
        "digest_after": change.digest_after,
        "error": entry.error,
        "undoes": change.undoes,
        "undone_by": entry.undone_by,
        "request_id": entry.why.request_id,
    }
