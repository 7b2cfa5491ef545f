"""Changes on their way: what is to change, on whose word, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, Self, TypeAlias

from skillyard.errors import ConflictError, SkillyardError, UnavailableError
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal
from skillyard.learning.ids import lesson_key
from skillyard.learning.places import Place
from skillyard.learning.states import Operation, Relation, Target

ADMIN_NEEDED: Final = "Only an administrator may attach skills to agents and detach them: one has to agree."
_ATTACHING: Final = "attaching"
"""The kind of the warnings that say what is attached with a change."""
_KINDS: Final = {Target.MEMORY: "memory", Target.DMN_RULE: "decision rule", Target.SKILL: "skill"}


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
    attaches: Sequence[str] = ()
    """Skills, by their ids, that the agent is given with it."""
    place: Place | None = None
    """Where a memory or a rule lives, or will; None for skills."""

    def attaching(self, skills: Sequence[str], agent_id: str, *, admin: bool) -> Self:
        """The same with skills that the agent is given; who may not do that has to ask."""
        if not skills:
            return self
        said = [f"The agent {agent_id!r} is given with it: {', '.join(skills)}."]
        said += [] if admin else [ADMIN_NEEDED]
        others = [each for each in self.warnings if each.get("kind") != _ATTACHING]
        warnings = [*others, *(remark(_ATTACHING, each) for each in said)]
        return replace(self, attaches=tuple(skills), warnings=warnings, locked=self.locked or not admin)


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
    """None for a change that a person makes by hand."""
    turn: int = 0
    """How often the lesson was undone and learned again."""
    proposal_id: str | None = None
    """The proposal that is carried out, if it is one."""
    agent_id: str | None = None
    feedback: str = ""
    given_by: str = ""
    """The person who brought the feedback in, by name."""
    meaning: str = ""
    """What the lesson takes from the feedback."""
    place: Place | None = None
    """Where its feedback lives, if it is from some."""
    why: Why = field(default_factory=Why)

    def making(self, draft: "Draft") -> Self:
        """The same without the words of private feedback, unless what is made stays with those who may read them."""
        if self.place is None or not self.place.private or draft.place == self.place:
            return self
        return replace(self, feedback="", given_by="", meaning="", why=replace(self.why, feedback=""))

    @property
    def key(self) -> str | None:
        """The key of an effect that happens once, however often it is tried: a lesson's turn, else the proposal."""
        return lesson_key(self.lesson_id, self.turn) if self.lesson_id else self.proposal_id


class Applier(Protocol):
    """Makes the changes of one kind of target."""

    @property
    def target(self) -> Target: ...

    async def apply(self, draft: Draft, author: Author) -> Sequence[Effect]:
        """Make the change. It is a conflict if the target is not as it was when the draft was made.

        Doing it again with the same key changes nothing and tells the same effects. An error means that nothing was
        changed, unless it is an `UnavailableError`: then it is gone on with later.
        """
        ...


def remark(kind: str, message: str, seriousness: str = "warning") -> dict[str, Any]:
    """A warning as drafts carry it."""
    return {"kind": kind, "seriousness": seriousness, "message": message}


def gone(draft: Draft) -> ConflictError:
    """The error of a change whose target was deleted since it was worked out."""
    return ConflictError(
        f"The {_KINDS[draft.target]} {draft.target_name!r} is not there any more.",
        hint="Look again at what is known, and work the change out anew.",
        details={"field": "target_id", "value": draft.target_id},
    )


def half_done(done: str, error: SkillyardError) -> UnavailableError:
    """The error of a change that was begun and not ended: it is gone on with, and nothing else is decided instead."""
    return UnavailableError(
        f"{done}, and could not go on: {error.message}",
        hint=f"{error.hint} Then try again: it goes on from there.".strip(),
        details=error.details,
    )
