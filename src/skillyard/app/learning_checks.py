"""Looking over learning: whether there is a model, what waits for one, and what waits for a person."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select

from skillyard.app.checks import Check, Status, ok
from skillyard.config.settings import Settings
from skillyard.db.database import Database
from skillyard.db.migrate import revisions
from skillyard.db.revision import present_revision
from skillyard.errors import SkillyardError
from skillyard.learning.models import FeedbackRow, FeedbackSourceRow
from skillyard.learning.states import Stage
from skillyard.llm.budget import Budget
from skillyard.llm.models import ModelSource
from skillyard.llm.transcripts import Transcript

_NAME: Final = "learning"
_SECONDS: Final = 20.0
_SET_ONE: Final = "skillyard config set model openai:gpt-5"


@dataclass(frozen=True, kw_only=True)
class _Found:
    stages: dict[str, int]
    broken: list[tuple[str, str]]
    """Sources that cannot be read, and why."""


def examine_learning(settings: Settings) -> Iterator[Check]:
    """Every check of learning."""
    found = _look(settings)
    waiting = found.stages.get(Stage.WAITING_FOR_MODEL, 0) + found.stages.get(Stage.QUEUED, 0)
    if settings.model is None:
        yield _without_model(waiting)
    else:
        yield _model(settings)
    if found.stages.get(Stage.NEEDS_REVIEW):
        yield Check(
            name=_NAME,
            status=Status.WARNING,
            message=f"a person is needed for {_pieces(found.stages[Stage.NEEDS_REVIEW])} of feedback",
            fix="skillyard learn list --stage needs_review",
        )
    for name, error in found.broken:
        yield Check(
            name=_NAME,
            status=Status.WARNING,
            message=f"The source {name!r} cannot be read: {error}",
            fix="Mend it; it is tried again by itself.",
        )


def _without_model(waiting: int) -> Check:
    if waiting:
        return Check(
            name=_NAME,
            status=Status.WARNING,
            message=f"no model is set; {_pieces(waiting)} of feedback {'waits' if waiting == 1 else 'wait'}",
            fix=_SET_ONE,
        )
    message = "no model is set; feedback waits for one, or for a connected agent"
    return Check(name=_NAME, status=Status.NOTE, message=message, fix=_SET_ONE)


def _model(settings: Settings) -> Check:
    try:
        asyncio.run(_ask(ModelSource(settings)))
    except SkillyardError as error:
        return Check(name=_NAME, status=Status.WARNING, message=error.message, fix=error.hint)
    return ok(_NAME, f"{settings.model} answers")


async def _ask(models: ModelSource) -> None:
    model = models.chat
    from langchain_core.messages import HumanMessage  # noqa: PLC0415 -- an extra: having it is part of having a model

    from skillyard.llm.asking import ask  # noqa: PLC0415

    budget = Budget(calls=1, seconds=_SECONDS)
    await ask(
        model, [HumanMessage("Answer with the word yes.")], budget=budget, transcript=Transcript(secrets=models.secrets)
    )


def _look(settings: Settings) -> _Found:
    """How feedback stands, where there is a database that could hold any."""
    try:
        if present_revision(settings.database) == revisions()[-1]:
            return asyncio.run(_counted(settings))
    except SkillyardError:
        pass  # the check of the database tells of it
    return _Found(stages={}, broken=[])


async def _counted(settings: Settings) -> _Found:
    database = await Database.open(settings.database)
    try:
        async with database.read() as session:
            counts = select(FeedbackRow.stage, func.count()).group_by(FeedbackRow.stage)
            row = FeedbackSourceRow
            failing = select(row.name, row.error).where(row.failures > 0, row.enabled.is_(True)).order_by(row.name)
            return _Found(
                stages=dict(iter(await session.execute(counts))),
                broken=[(name, error) for name, error in await session.execute(failing)],
            )
    finally:
        await database.close()


def _pieces(number: int) -> str:
    return f"{number:,} {'piece' if number == 1 else 'pieces'}"
