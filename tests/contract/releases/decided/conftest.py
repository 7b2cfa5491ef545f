"""What suites of decisions about releases run on: releases and runs of a person, with a clock that is moved by hand."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from skillyard.app.releases import release_rooms
from skillyard.releases.ids import new_id
from skillyard.releases.models import CandidateRow, SkillRunRow
from skillyard.releases.outcomes import Verdict
from skillyard.releases.promotion import Promotion
from skillyard.releases.values import Candidate, SkillRun, Stage, columns_of

NOON = datetime(2026, 5, 20, 12, tzinfo=UTC)


class ReleaseDesk:
    """Releases of one person, and runs of them that are simply written down."""

    def __init__(self, yard, owner, other):
        self.yard = yard
        self.database = yard.database
        self.owner = owner
        self.other = other
        self.now = NOON
        self.made = set()
        self.rooms = release_rooms(
            yard.database, yard.blobs, yard.history, yard.registry, yard.sandboxes, yard.jobs, clock=self.clock
        )
        self.releases = self.rooms.releases

    def clock(self):
        return self.now

    def pass_by(self, **amount):
        self.now += timedelta(**amount)

    async def candidate(self, key="tool", owner=None, **more):
        """One that passed its evaluation."""
        owner = owner or self.owner
        made = Candidate(
            id=new_id("sc"),
            tenant_id=owner.tenant_id,
            owner_id=owner.person_id,
            skill_key=key,
            skill_type="code",
            source_execution_ids=["exec-1"],
            created_by=owner.person_id,
            created_at=self.now,
            updated_at=self.now,
            latest_pass=True,
            last_evaluated_at=self.now,
            **more,
        )
        await self._insert(CandidateRow, [columns_of(made)])
        return made

    async def release(self, stage, key="tool", owner=None, candidate=None):
        """A release of a candidate of its own."""
        owner = owner or self.owner
        self.pass_by(seconds=1)
        candidate = candidate or await self.candidate(key, owner)
        made = await self.releases.promote(owner, candidate.id, Promotion(stage=Stage(stage)))
        self.made.add(made.id)
        return made

    async def runs(self, release, passed, failed=0, *, verdict=Verdict.STEP_FAIL, milliseconds=1000, **more):
        """Runs in use, the failed ones spread among the others, each a second after the one before."""
        total = passed + failed
        ends = [(each + 1) * failed // total > each * failed // total for each in range(total)]
        rows = []
        for failing in ends:
            self.pass_by(seconds=1)
            run = SkillRun(
                id=new_id("run"),
                owner_id=release.owner_id,
                release_id=release.id,
                candidate_id=release.candidate_id,
                evaluation_id=None,
                number=None,
                sandbox_id=more.get("sandbox_id", "sandbox-1"),
                execution_ids=[],
                verdict=verdict.value if failing else Verdict.PASS.value,
                step=None,
                reason="",
                steps=[],
                total_steps=1,
                variables={},
                screenshot=None,
                milliseconds=milliseconds,
                created_at=self.now,
                origin=more.get("origin", "replay"),
            )
            rows.append(columns_of(run))
        await self._insert(SkillRunRow, rows)

    async def get(self, release, owner=None):
        return await self.releases.get(owner or self.owner, release.id)

    async def in_use(self, key="tool", owner=None):
        """The releases of a skill that are in use, by stage."""
        page = await self.releases.page(owner or self.owner, skill_key=key, active_only=True, every_stage=True)
        return {release.stage: release for release in page.items}

    async def _insert(self, kind, rows):
        async with self.database.write(bookkeeping=True) as transaction:
            await transaction.insert((kind, rows))


_tenants = itertools.count(1)


@pytest.fixture
async def desk(yard):
    tenant = await yard.people.ensure_tenant(f"desk-{next(_tenants)}")
    people = [await yard.people.ensure_person(tenant, name) for name in ("owner", "other")]
    return ReleaseDesk(yard, *[await yard.access.of_person(person) for person in people])
