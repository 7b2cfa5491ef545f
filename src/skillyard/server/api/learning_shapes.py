"""What the routes of learning have in common."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Generic, Literal, Self, TypeVar

from fastapi import Depends, Header, Query, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from skillyard.errors import ConflictError, InputError
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.learning.drafts import Author, CommitResult, Committed, Draft, Effect, Proposed
from skillyard.learning.places import COMMON, require_at
from skillyard.learning.service import LearningRooms
from skillyard.learning.states import Operation
from skillyard.server.api.caller import yard_of
from skillyard.server.api.shapes import Listed

T = TypeVar("T")

MAX_PAGE: Final = 200
_TAG: Final = re.compile(r'(?:W/)?"([^"]{1,80})"')


async def learning_of(request: Request) -> LearningRooms:
    return (await yard_of(request)).learning


Learning = Annotated[LearningRooms, Depends(learning_of)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="At most so many.")]
Cursor = Annotated[int, Query(ge=0, le=2**31 - 1, description="The `next_cursor` of the page before.")]


def _utc(moment: datetime) -> datetime:
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("it is beyond the times that are kept") from error


Moment = Annotated[datetime, AfterValidator(_utc)]
"""A time; without a zone it is in UTC."""


class Counted(Listed[T], Generic[T]):
    """Some of a list, and how many there are in all."""

    total: int

    @classmethod
    def page(cls, items: list[Any], total: int, cursor: int, **more: Any) -> Self:  # noqa: ANN401 -- fields
        end = cursor + len(items)
        return cls(data=items, total=total, next_cursor=str(end) if items and end < total else None, **more)


Namespace = Annotated[
    str | None, Field(max_length=64, description="The namespace whose roles say who may change it; null: your own.")
]
ShownNamespace = Annotated[
    str | None, Field(description="The namespace whose roles say who may change it; null: the tenant's common ground.")
]
Visibility = Annotated[
    Literal["public", "private"], Field(description="`private`: only the members of the namespace may read it.")
]


class Told(BaseModel):
    """Told of a value whose fields have the same names."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, value: object) -> Self:
        return cls.model_validate(value)


class EffectSchema(Told):
    """One thing that is other than before."""

    kind: str = Field(examples=["memory"])
    operation: Operation
    id: str
    label: str
    version: str
    history: int | None = Field(description="The number of its entry in the history, by which it is undone.")


class HandChange(BaseModel):
    """What came of a change that somebody made by hand."""

    state: Literal["committed", "proposed"] = Field(description="`proposed`: it waits for someone's word.")
    effects: list[EffectSchema]
    proposal_id: str | None
    warnings: list[dict[str, Any]] = Field(description="What whoever made the change should know.")

    @staticmethod
    def values(result: CommitResult, draft: Draft) -> dict[str, Any]:
        effects: list[Effect] = list(result.effects) if isinstance(result, Committed) else []
        return {
            "state": "proposed" if isinstance(result, Proposed) else "committed",
            "effects": [EffectSchema.of(effect) for effect in effects],
            "proposal_id": result.proposal_id if isinstance(result, Proposed) else None,
            "warnings": [dict(each) for each in draft.warnings],
        }


def made_id(result: CommitResult, draft: Draft) -> str | None:
    """The id of what a change left there; None where nothing is, or not yet."""
    if not isinstance(result, Committed) or not result.effects or draft.operation is Operation.DELETE:
        return None
    return result.effects[0].id


def by_hand(principal: Principal, why: Why) -> Author:
    """A person who changes something without a lesson."""
    return Author(principal=principal, lesson_id=None, why=why)


def by_whom_may(principal: Principal, draft: Draft) -> Draft:
    """A change that somebody makes by hand. A lock does not stop a person who may change what is locked, or a change
    that is only proposed.
    """
    locked = draft.locked and principal.scope.covers(Scope.PUBLISH)
    require_at(principal, draft.place or COMMON, Role.EDITOR, Scope.WRITE, locked=locked)
    return replace(draft, locked=False)


def tag_of(state: str, *rest: object) -> str:
    """The ETag of something whose states have names; `rest` is what else an answer shows."""
    return f'"{"/".join([state, *map(str, rest)])}"'


def base_of(
    if_match: Annotated[
        str | None,
        Header(
            description="The ETag of what you read, or its version in quotes: a change that was made from another "
            "state is a conflict. Without it, or with `*`, the present state is changed.",
        ),
    ] = None,
) -> str | None:
    """The state that a change was made from; None for whatever is there."""
    if if_match is None or if_match.strip() == "*":
        return None
    match = _TAG.fullmatch(if_match.strip())
    if match is None:
        raise InputError(
            f"If-Match is no ETag: {if_match[:100]!r}.",
            hint="Send the ETag that came with it, or a version in double quotes.",
            details={"field": "If-Match", "value": if_match[:100]},
        )
    return match[1].partition("/")[0]


Base = Annotated[str | None, Depends(base_of)]


def require_base(base: str | None, present: str, details: Mapping[str, object]) -> None:
    """Refuses a change that was made from another state than the present one."""
    if base is not None and base != present:
        raise ConflictError(
            f"It has changed since: it is at {present}, not at {base}.",
            hint="Read it again, and make the change anew.",
            details={"field": "If-Match", "value": base, **details},
        )
