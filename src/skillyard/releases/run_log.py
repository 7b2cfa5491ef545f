"""Keeping runs: each replay once, as it was, and never the values of secrets."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import func, select

from skillyard.blobs.claims import put_and_claim
from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import NotFoundError
from skillyard.identity.principals import Principal
from skillyard.redact import Secrets
from skillyard.releases.candidate_spec import clean_json
from skillyard.releases.ids import new_id, run_id
from skillyard.releases.models import SkillRunRow
from skillyard.releases.outcomes import Replay
from skillyard.releases.payloads import Payload
from skillyard.releases.store import require_page
from skillyard.releases.values import Page, SkillRun, columns_of, value_of

_SHORT: Final = 4
"""Secrets that are shorter were hidden where they were used; to hide them again would blot out everything."""


class RunLog:
    """The runs of everyone. They are written once and never changed: what is decided from them stays true."""

    def __init__(self, database: Database, blobs: Blobs, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._blobs = blobs
        self._clock = clock

    async def keep(
        self,
        *,
        owner_id: str,
        candidate_id: str,
        payload: Payload,
        variables: Mapping[str, Any],
        replay: Replay,
        release_id: str | None = None,
        evaluation_id: str | None = None,
        number: int | None = None,
    ) -> str:
        """Keep a run, and answer its id. One of an evaluation is kept once, however often it is told."""
        secret = {name for name, variable in payload.variables.items() if variable.secret}
        hidden = Secrets(str(variables[name]) for name in secret if len(str(variables.get(name, ""))) >= _SHORT)
        told = clean_json(
            {name: variables[name] for name in variables if name in payload.variables and name not in secret}
        )
        run = SkillRun(
            id=new_id("run") if evaluation_id is None or number is None else run_id(evaluation_id, number),
            owner_id=owner_id,
            release_id=release_id,
            candidate_id=candidate_id,
            evaluation_id=evaluation_id,
            number=number,
            sandbox_id=replay.sandbox_id,
            execution_ids=list(replay.execution_ids),
            verdict=replay.verdict.value,
            step=replay.step,
            reason=hidden.text(replay.reason),
            steps=[_hidden(asdict(step), hidden) for step in replay.steps],
            total_steps=replay.total_steps,
            variables=_hidden(told, hidden),
            screenshot=None,
            milliseconds=replay.milliseconds,
            created_at=self._clock(),
        )

        async def register(transaction: Transaction, hashes: list[str]) -> str:
            if await transaction.session.get(SkillRunRow, run.id) is None:
                row = {**columns_of(run), "screenshot": hashes[0] if hashes else None}
                await transaction.insert((SkillRunRow, [row]))
            return run.id

        if replay.screenshot is not None:
            return await put_and_claim(self._database, self._blobs, [replay.screenshot], register, clock=self._clock)
        async with self._database.write(bookkeeping=True) as transaction:
            return await register(transaction, [])

    async def page(
        self,
        caller: Principal,
        *,
        release_id: str | None = None,
        candidate_id: str | None = None,
        evaluation_id: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> Page[SkillRun]:
        """Some of the caller's runs, the newest first, and how many there are."""
        require_page(limit, offset)
        query = select(SkillRunRow).where(SkillRunRow.owner_id == caller.person_id)
        for column, wanted in (
            (SkillRunRow.release_id, release_id),
            (SkillRunRow.candidate_id, candidate_id),
            (SkillRunRow.evaluation_id, evaluation_id),
        ):
            if wanted is not None:
                query = query.where(column == wanted)
        newest = query.order_by(SkillRunRow.created_at.desc(), SkillRunRow.number.desc(), SkillRunRow.id)
        async with self._database.read() as session:
            total = (await session.execute(query.with_only_columns(func.count()))).scalar_one()
            rows = await session.scalars(newest.limit(limit).offset(offset))
            return Page(items=[value_of(SkillRun, row) for row in rows], total=total)

    async def of_evaluation(self, evaluation_id: str) -> list[SkillRun]:
        """The runs of an evaluation until now, in their order; who may see them is decided before."""
        query = select(SkillRunRow).where(SkillRunRow.evaluation_id == evaluation_id).order_by(SkillRunRow.number)
        async with self._database.read() as session:
            return [value_of(SkillRun, row) for row in await session.scalars(query)]

    async def get(self, caller: Principal, own_id: str) -> SkillRun:
        async with self._database.read() as session:
            row = await session.get(SkillRunRow, own_id)
        if row is None or row.owner_id != caller.person_id:
            raise _missing("run", own_id)
        return value_of(SkillRun, row)

    async def screenshot(self, caller: Principal, own_id: str) -> bytes:
        """What the page looked like where a run ended, as PNG."""
        run = await self.get(caller, own_id)
        if run.screenshot is None:
            raise _missing("screenshot of the run", own_id)
        return await self._blobs.get(run.screenshot)


def _hidden(value: Any, secrets: Secrets) -> Any:  # noqa: ANN401 -- any JSON
    if isinstance(value, str):
        return secrets.text(value)
    if isinstance(value, dict):
        return {str(key): _hidden(each, secrets) for key, each in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value


def _missing(what: str, own_id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no {what} {own_id[:100]!r}.",
        hint="GET /v1/skills/runs lists yours.",
        details={"run_id": own_id[:100]},
    )
