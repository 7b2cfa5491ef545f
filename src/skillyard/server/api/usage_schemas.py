"""The JSON of usage."""

from datetime import date
from typing import Annotated, Any, Self

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from skillyard.registry.usage import SkillTotals, UsageReceipt, UsageReport, UsageSummary
from skillyard.server.api.shapes import Request
from skillyard.usage.events import UsageDay, UsageKind
from skillyard.usage.service import MAX_EVENTS

Word = Annotated[str, StringConstraints(max_length=128, pattern=r"^[^\x00-\x1f\x7f]*$")]
_DETAIL: Any = Field(default="", max_length=2000, description="What went wrong, for instance.")


class UsageEventCreate(Request):
    """One use of a skill."""

    skill: Annotated[str, StringConstraints(min_length=1, max_length=400)] = Field(
        description="Its id or its full name.", examples=["acme/refunds"]
    )
    event: UsageKind
    id: Annotated[Word, StringConstraints(min_length=1)] | None = Field(
        default=None, description="Your own id for it: sent twice, it counts once."
    )
    version: Word = Field(default="", examples=["1.2.0"])
    agent: Word = Field(default="", examples=["support"])
    session: Word = ""
    at: AwareDatetime | None = Field(default=None, description="With its time zone; without it, now.")
    detail: str = _DETAIL

    @property
    def report(self) -> UsageReport:
        return UsageReport(**self.model_dump())


class UsageCreate(Request):
    events: list[UsageEventCreate] = Field(
        max_length=MAX_EVENTS,
        examples=[[{"id": "s1-7", "skill": "acme/refunds", "version": "1.2.0", "event": "activated"}]],
    )


class RefusedSchema(BaseModel):
    position: int = Field(description="Which of the events, from 0.")
    message: str


class UsageReceiptSchema(BaseModel):
    recorded: int
    repeated: int = Field(description="Reported before, and counted then.")
    refused: list[RefusedSchema] = Field(description="What could not be counted; the others were.")
    uncounted: int = Field(description="Outcomes among the recorded that are more than are counted of one person.")

    @classmethod
    def of(cls, receipt: UsageReceipt) -> Self:
        refused = [RefusedSchema(position=each.position, message=each.message) for each in receipt.refused]
        return cls(
            recorded=receipt.recorded,
            repeated=receipt.repeated,
            refused=refused,
            uncounted=receipt.uncounted,
        )


class UsageDaySchema(BaseModel):
    """How often something happened on one day, in UTC."""

    day: date
    version: str
    agent: str
    event: UsageKind
    count: int

    @classmethod
    def of(cls, day: UsageDay) -> Self:
        return cls(day=day.day, version=day.version, agent=day.agent, event=day.event, count=day.count)


class SkillTotalsSchema(BaseModel):
    """How often each thing happened to a skill."""

    id: str
    full_name: str
    shown: int
    loaded: int
    activated: int
    succeeded: int
    failed: int
    failure_rate: float = Field(description="Failed among those that succeeded or failed.")

    @classmethod
    def of(cls, skill: SkillTotals) -> Self:
        counts = {kind.value: skill.totals.of(kind) for kind in UsageKind}
        return cls(id=skill.id, full_name=skill.full_name, failure_rate=skill.totals.failure_rate, **counts)


class UsageReportSchema(BaseModel):
    days: int
    never_used: list[SkillTotalsSchema] = Field(description="Not loaded, activated or finished once.")
    often_failing: list[SkillTotalsSchema] = Field(description="The worst first.")

    @classmethod
    def of(cls, summary: UsageSummary) -> Self:
        return cls(
            days=summary.days,
            never_used=[SkillTotalsSchema.of(skill) for skill in summary.never_used],
            often_failing=[SkillTotalsSchema.of(skill) for skill in summary.often_failing],
        )
