"""Benchmarks: named sets of variable values and checks, used with any candidate."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.errors import InputError, LimitError, NotFoundError
from skillyard.identity.principals import Principal, Scope
from skillyard.releases.candidate_spec import clean_json
from skillyard.releases.ids import new_id
from skillyard.releases.models import BenchmarkRow
from skillyard.releases.payload_checks import checks_document, parse_checks
from skillyard.releases.values import Benchmark, value_of
from skillyard.sandbox.capture.secret_names import is_secret_name

MAX_NAME: Final = 128
MAX_CASES: Final = 100
MAX_BENCHMARKS: Final = 200


class Benchmarks:
    """The benchmarks of everyone, each for its owner."""

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def all(self, caller: Principal) -> list[Benchmark]:
        query = select(BenchmarkRow).where(BenchmarkRow.owner_id == caller.person_id).order_by(BenchmarkRow.name)
        async with self._database.read() as session:
            return [value_of(Benchmark, row) for row in await session.scalars(query)]

    async def get(self, caller: Principal, name: str) -> Benchmark:
        async with self._database.read() as session:
            row = await _named(session, caller, name)
        if row is None:
            raise _missing(name)
        return value_of(Benchmark, row)

    async def save(self, caller: Principal, name: str, cases: Sequence[Mapping[str, Any]]) -> Benchmark:
        """Keep a benchmark under a name, in the place of the one that has it."""
        caller.require_scope(Scope.WRITE)
        if not name.strip() or len(name) > MAX_NAME:
            raise InputError(
                f"{name[:100]!r} is no name of a benchmark.",
                hint=f"Use 1 to {MAX_NAME} characters.",
                details={"field": "name", "value": name[:100], "limit": MAX_NAME},
            )
        if not 1 <= len(cases) <= MAX_CASES:
            raise LimitError(
                f"The benchmark has {len(cases)} cases.",
                hint=f"Give 1 to {MAX_CASES}.",
                details={"field": "cases", "value": len(cases), "limit": MAX_CASES},
            )
        checked = [_case(case, f"cases[{index}]") for index, case in enumerate(cases)]
        now = self._clock()
        async with self._database.write() as transaction:
            transaction.once = True
            row = await _named(transaction.session, caller, name)
            if row is None:
                await self._require_room(transaction.session, caller)
                row = BenchmarkRow(id=new_id("bench"), owner_id=caller.person_id, name=name, created_at=now)
                transaction.session.add(row)
            row.cases = checked
            row.updated_at = now
        return value_of(Benchmark, row)

    async def delete(self, caller: Principal, name: str) -> None:
        caller.require_scope(Scope.WRITE)
        async with self._database.write() as transaction:
            transaction.once = True
            row = await _named(transaction.session, caller, name)
            if row is None:
                raise _missing(name)
            await transaction.session.execute(delete(BenchmarkRow).where(BenchmarkRow.id == row.id))

    async def _require_room(self, session: AsyncSession, caller: Principal) -> None:
        names = select(BenchmarkRow.id).where(BenchmarkRow.owner_id == caller.person_id)
        if len(list(await session.scalars(names))) >= MAX_BENCHMARKS:
            raise LimitError(
                f"You have {MAX_BENCHMARKS} benchmarks, and no more are kept.",
                hint="Delete some: skillyard release benchmarks delete NAME",
                details={"field": "name", "limit": MAX_BENCHMARKS},
            )


def _case(case: Mapping[str, Any], where: str) -> dict[str, Any]:
    variables: Mapping[str, Any] = case.get("variables") or {}
    for name, value in variables.items():
        if is_secret_name(name):
            raise InputError(
                f"{where}.variables.{name[:100]}: a benchmark keeps no secrets.",
                hint="Leave it out, and give its value with each replay: skillyard release replay ID --secret NAME",
                details={"field": f"{where}.variables.{name[:100]}", "value": "***"},
            )
        if value is not None and not isinstance(value, str | int | float | bool):
            raise InputError(
                f"{where}.variables.{name[:100]} is no text, number or truth value.",
                hint="Give one value for each variable.",
                details={"field": f"{where}.variables.{name[:100]}", "value": type(value).__name__},
            )
    checks = checks_document(parse_checks(case.get("checks"), f"{where}.checks"))
    return {"variables": clean_json(dict(variables)), "checks": checks}


async def _named(session: AsyncSession, caller: Principal, name: str) -> BenchmarkRow | None:
    query = select(BenchmarkRow).where(BenchmarkRow.owner_id == caller.person_id, BenchmarkRow.name == name)
    return await session.scalar(query)


def _missing(name: str) -> NotFoundError:
    return NotFoundError(
        f"There is no benchmark {name[:100]!r}.",
        hint="List yours: skillyard release benchmarks list",
        details={"benchmark": name[:100]},
    )
