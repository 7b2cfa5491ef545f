"""The JSON of feedback, what is learned from it, and what waits for someone's word."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from skillyard.identity.agents import MAX_ID, MAX_TEXT
from skillyard.learning.feedback import (
    MAX_AGENTS,
    MAX_CONTENT,
    MAX_EVENT_ID,
    MAX_EVENTS,
    MAX_TASK,
    Feedback,
    FeedbackSpec,
)
from skillyard.learning.intake import Taken
from skillyard.learning.lessons import Lesson
from skillyard.learning.proposal import Proposal
from skillyard.learning.states import LessonState, Operation, ProposalState, Relation, Stage, Target
from skillyard.server.api.learning_shapes import EffectSchema, Moment, Namespace, ShownNamespace, Told, Visibility
from skillyard.server.api.shapes import Request


class FeedbackAgent(Request):
    """An agent that feedback is about; one that nobody knows is made, where you may."""

    id: str = Field(min_length=1, max_length=MAX_ID, examples=["support"])
    name: str | None = Field(default=None, max_length=MAX_ID)
    role: str | None = Field(default=None, max_length=MAX_TEXT)
    goal: str | None = Field(default=None, max_length=MAX_TEXT)


def _described(agent: Any) -> Any:  # noqa: ANN401 -- whatever was sent
    """An agent that is named by its id alone, as others are described."""
    return {"id": agent} if isinstance(agent, str) else agent


class FeedbackCreate(Request):
    """What somebody says about an agent's work."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_CONTENT)] = Field(
        examples=["환불은 3일이 아니라 5일 걸립니다."]
    )
    task: str = Field(default="", max_length=MAX_TASK, description="What the agent was to do.")
    description: str = Field(default="", max_length=MAX_CONTENT)
    events: list[Any] = Field(default=[], max_length=MAX_EVENTS, description="What happened meanwhile.")
    agents: list[Annotated[FeedbackAgent, BeforeValidator(_described)]] = Field(
        default=[],
        max_length=MAX_AGENTS,
        description="Whose work it is about, each an id or a description; none: whoever it fits.",
    )
    user: str = Field(default="", max_length=MAX_EVENT_ID, description="Who says it; you, unless given.")
    time: Moment | None = Field(default=None, description="When it was said; now, unless given.")
    event_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_EVENT_ID,
        description="Your own id of it: what comes again under it is taken in once. Without one, what it says counts.",
    )
    namespace: Namespace = None
    visibility: Visibility = "public"

    @property
    def spec(self) -> FeedbackSpec:
        agents = [agent.model_dump(exclude_none=True) for agent in self.agents]
        return FeedbackSpec(
            content=self.content,
            task=self.task,
            description=self.description,
            events=self.events,
            agents=agents,
            user=self.user,
            time=self.time,
            event_id=self.event_id,
            namespace=self.namespace,
            private=self.visibility == "private",
        )


class FeedbackSchema(Told):
    """Feedback, and where it stands."""

    id: str
    event_id: str
    source: str = Field(description="`api`, `cli`, `mcp`, `web`, `file`, or the name of a polled source.")
    content: str
    task: str
    description: str
    events: list[Any]
    agents: list[dict[str, Any]]
    user: str
    time: datetime
    stage: Stage
    reason: str = Field(description="Why it stands there.")
    attempts: int
    error: str | None = Field(description="Why the last attempt failed, if it is tried again.")
    due_at: datetime | None = Field(description="When it is tried again.")
    taken_by: str | None = Field(
        description="The connected agent that works on it; another person's agent is shown without its name."
    )
    namespace: ShownNamespace
    visibility: Visibility
    created_at: datetime
    finished_at: datetime | None


class TakenFeedback(FeedbackSchema):
    created: bool = Field(description="False: it had come before.")
    again: bool = Field(description="True if its effects were undone and it is learned again.")

    @classmethod
    def taken(cls, taken: Taken) -> Self:
        return cls(**FeedbackSchema.of(taken.feedback).model_dump(), created=taken.created, again=taken.again)


class ImportProblem(Told):
    line: int
    message: str


class ImportedFeedback(BaseModel):
    """What came of a file."""

    read: int = Field(description="Pieces of feedback in the file.")
    created: int
    known: int = Field(description="Those that had come before.")
    problems: list[ImportProblem] = Field(description="Lines that are no feedback, the first 200.")
    problem_count: int
    ignored: list[str] = Field(description="Columns that mean nothing here.")
    dry_run: bool


class LessonSchema(BaseModel):
    """What one agent is to learn, what was decided, and what came of it."""

    id: str
    feedback_id: str
    agent_id: str
    meaning: str = Field(description="What was meant, for this agent.")
    state: LessonState
    reason: str
    target: Target | None
    operation: Operation | None
    decision: dict[str, Any] | None = Field(description="What was settled to be done.")
    effects: list[EffectSchema]
    proposal_id: str | None = Field(description="What waits for someone's word, if it does.")
    spent: dict[str, Any] = Field(description="Calls of a model, tokens and milliseconds.")
    transcript_url: str | None = Field(description="Where all that was said while deciding is told.")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, lesson: Lesson) -> Self:
        return cls(**cls._values(lesson))

    @staticmethod
    def _values(lesson: Lesson) -> dict[str, Any]:
        return {
            "id": lesson.id,
            "feedback_id": lesson.feedback_id,
            "agent_id": lesson.agent_id,
            "meaning": lesson.meaning,
            "state": lesson.state,
            "reason": lesson.reason,
            "target": lesson.target,
            "operation": lesson.operation,
            "decision": lesson.decision,
            "effects": [EffectSchema.of(effect) for effect in lesson.effects],
            "proposal_id": lesson.proposal_id if lesson.state is LessonState.PROPOSED else None,
            "spent": lesson.spent,
            "transcript_url": f"/api/v1/lessons/{lesson.id}/transcript" if lesson.transcript else None,
            "created_at": lesson.created_at,
            "updated_at": lesson.updated_at,
        }


class LessonDetail(LessonSchema):
    diff: str = Field(description="What it changed, or would change, as a unified diff; empty if that is unknown.")
    transcript: list[dict[str, Any]] | None = Field(description="Null unless it was asked for.")

    @classmethod
    def told(cls, lesson: Lesson, diff: str, transcript: list[dict[str, Any]] | None) -> Self:
        return cls(**cls._values(lesson), diff=diff, transcript=transcript)


class MatchingSchema(BaseModel):
    """Finding out whom feedback is for; each of its lessons begins with that, and counts it."""

    spent: dict[str, Any] = Field(description="Calls of a model, tokens and milliseconds; empty where none was asked.")
    transcript: list[dict[str, Any]] | None = Field(description="Null unless it was asked for.")


class FeedbackDetail(FeedbackSchema):
    matching: MatchingSchema
    lessons: list[LessonDetail]

    @classmethod
    def told(cls, feedback: Feedback, lessons: Sequence[LessonDetail], transcript: list[dict[str, Any]] | None) -> Self:
        matching = MatchingSchema(spent=dict(feedback.spent), transcript=transcript)
        return cls(**FeedbackSchema.of(feedback).model_dump(), matching=matching, lessons=list(lessons))


class RelatedSchema(Told):
    target: Target
    id: str
    name: str
    relation: Relation
    reason: str


class ProposalSchema(BaseModel):
    """A change that waits, or waited, for someone's word."""

    id: str
    lesson_id: str | None
    target: Target
    operation: Operation
    target_id: str | None
    target_name: str
    base: str | None = Field(description="The digest or version that it was made against.")
    content: dict[str, Any] = Field(description="The whole of what would be there.")
    summary: str
    reasons: list[str]
    relations: list[RelatedSchema]
    warnings: list[dict[str, Any]]
    state: ProposalState
    proposed_by: str | None
    decided_by: str | None
    decided_at: datetime | None
    decision_reason: str
    created_at: datetime

    @classmethod
    def of(cls, proposal: Proposal) -> Self:
        return cls(**cls._values(proposal))

    @staticmethod
    def _values(proposal: Proposal) -> dict[str, Any]:
        draft = proposal.draft
        return {
            "id": proposal.id,
            "lesson_id": proposal.lesson_id,
            "target": draft.target,
            "operation": draft.operation,
            "target_id": draft.target_id,
            "target_name": draft.target_name,
            "base": draft.base,
            "content": dict(draft.content),
            "summary": draft.summary,
            "reasons": list(draft.reasons),
            "relations": [RelatedSchema.of(each) for each in draft.relations],
            "warnings": [dict(each) for each in draft.warnings],
            "state": proposal.state,
            "proposed_by": proposal.proposed_by,
            "decided_by": proposal.decided_by,
            "decided_at": proposal.decided_at,
            "decision_reason": proposal.decision_reason,
            "created_at": proposal.created_at,
        }


class ProposalDetail(ProposalSchema):
    diff: str = Field(description="What it would change, as a unified diff; empty where that cannot be told.")

    @classmethod
    def told(cls, proposal: Proposal, diff: str) -> Self:
        return cls(**cls._values(proposal), diff=diff)


class Decision(Request):
    reason: str = Field(default="", max_length=1000, description="Why; kept in the history.")


class Approved(BaseModel):
    effects: list[EffectSchema]
