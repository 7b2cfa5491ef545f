"""Changes on their way: what is to change, on whose word, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from skillyard.history.entries import Why
from skillyard.identity.principals import Principal
from skillyard.learning.states import Operation, Relation, Target


@dataclass(frozen=True, kw_only=True, slots=True)
class Related:
    """Something that is known already, and how the new stands to it."""

    target: Target
    id: str
    name: str
    relation: Relation
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "target": self.target.value,
            "id": self.id,
            "name": self.name,
            "relation": self.relation.value,
            "reason": self.reason,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A change that was worked out and checked, and is not made yet. What it is about is settled with it."""

    target: Target
    operation: Operation
    target_id: str | None
    """None for something new."""
    target_name: str
    base: str | None
    """The digest or version that it was worked out against."""
    content: Mapping[str, Any]
    """The whole of what would be there; only whoever applies it reads it."""
    summary: str
    reasons: Sequence[str] = ()
    relations: Sequence[Related] = ()
    warnings: Sequence[Mapping[str, Any]] = ()
    locked: bool = False
    """Whether a person holds the target, so that it is only ever proposed against."""
    audience: str = ""
    """Who may know of it: one of the keys that a principal holds; empty for the whole tenant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Effect:
    """One thing that is other than before."""

    kind: str
    """`memory`, `rule`, `skill` or `attachment`."""
    operation: Operation
    id: str
    label: str
    version: str = ""
    history: int | None = None
    """The number of its entry in the history, by which it is undone."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "operation": self.operation.value,
            "id": self.id,
            "label": self.label,
            "version": self.version,
            "history": self.history,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Committed:
    effects: tuple[Effect, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposed:
    proposal_id: str
    warnings: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """It was not done, and whoever asked may try otherwise."""

    reason: str
    hint: str = ""


CommitResult: TypeAlias = Committed | Proposed | Refused


@dataclass(frozen=True, kw_only=True, slots=True)
class Author:
    """On whose word a change is made, and for whom."""

    principal: Principal
    lesson_id: str | None
    """None for a change that a person makes by hand. The same lesson has the same effect once."""
    agent_id: str | None = None
    feedback: str = ""
    why: Why = field(default_factory=Why)


class Applier(Protocol):
    """Makes the changes of one kind of target."""

    @property
    def target(self) -> Target: ...

    async def apply(self, draft: Draft, author: Author) -> Sequence[Effect]:
        """Make the change. It is a conflict if the target is not as it was when the draft was made.

        Doing it again for the same lesson changes nothing and tells the same effects.
        """
        ...
