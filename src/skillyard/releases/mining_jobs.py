"""Mining carried out: executions are looked through, and what they show how to do becomes candidates."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import update

from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import UNSEEN, Transaction
from skillyard.errors import SkillyardError, UnavailableError
from skillyard.identity.owners import owner_of
from skillyard.identity.principals import Principal
from skillyard.jobs.rows import JobRow
from skillyard.jobs.work import Job
from skillyard.releases.learn_status import FAILED, PROCESSED
from skillyard.releases.mined_candidates import MinedCandidates
from skillyard.releases.mining.sequences import MinedSequence, mine
from skillyard.releases.mining_material import Room, asked_for, done_before, sessions_of
from skillyard.releases.models import MiningRow
from skillyard.sandbox.executions import PENDING
from skillyard.sandbox.models import ExecutionNoteRow


class MiningWork:
    """The work behind `MiningRequests.begin`, and behind runs that are to be learned from."""

    rows: type[JobRow] = MiningRow

    def __init__(self, database: Database, blobs: Blobs, mined: MinedCandidates, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._blobs = blobs
        self._mined = mined
        self._clock = clock

    async def run(self, job: Job) -> None:
        async with self._database.read() as session:
            mining = await session.get_one(MiningRow, job.id)
        # What is looked through is settled once: runs that come later are for a later request.
        chosen = await job.step("choose", lambda: self._choose(mining))
        new: list[str] = chosen["new"]
        async with self._database.read() as session:
            owner = await owner_of(session, mining.owner_id)
        sessions = await sessions_of(self._database, self._blobs, mining.owner_id, [*new, *chosen["earlier"]])
        by_hand = "execution_ids" in mining.asked and not mining.asked.get("learn")
        result = await asyncio.to_thread(mine, sessions, chosen=by_hand)
        # What was learned before, and perhaps thrown away since, is not learned again without new evidence.
        repeated = [sequence for sequence in result.sequences if not set(new).isdisjoint(sequence.execution_ids)]
        forms = {form for sequence in result.sequences for form in (sequence.canonical, *sequence.variants)}
        made = [
            await job.step(f"candidate-{sequence.canonical}", partial(self._create, owner, sequence, forms))
            for sequence in repeated
        ]
        found = {
            "candidates": [one["id"] for one in made if "id" in one],
            "created": [one["id"] for one in made if one.get("created")],
            "refused": [one for one in made if "reason" in one],
            "examined": len(new),
            "gaps": len(result.gaps),
        }
        async with self._database.write(bookkeeping=True) as transaction:
            await job.finish(transaction, found=found)
            await self._note(transaction, new, {"learn_status": PROCESSED, "learn_error": None})

    async def give_up(self, transaction: Transaction, job_id: str, reason: str) -> None:
        """Runs that were to be learned from are not tried for ever; a request by hand leaves them as they are."""
        mining = await transaction.session.get_one(MiningRow, job_id)
        if mining.asked.get("learn"):
            await self._note(
                transaction, mining.asked["execution_ids"], {"learn_status": FAILED, "learn_error": reason}
            )

    async def _choose(self, mining: MiningRow) -> Mapping[str, Any]:
        room = Room()
        async with self._database.read() as session:
            new = await asked_for(session, mining.owner_id, mining.asked, room)
            earlier = await done_before(session, mining.owner_id, room, now=mining.created_at)
        return {"new": new, "earlier": earlier}

    async def _create(self, owner: Principal, sequence: MinedSequence, found: Collection[str]) -> Mapping[str, Any]:
        """Make a candidate, or add to the one that there is; what one lacks keeps no other from being made."""
        try:
            candidate, is_new = await self._mined.keep(owner, sequence)
            await self._mined.let_go_of_parts(owner, sequence, found)
        except UnavailableError:
            raise
        except SkillyardError as error:
            return {"skill_key": sequence.skill_key, "reason": error.message}
        return {"id": candidate.id, "created": is_new}

    async def _note(self, transaction: Transaction, ids: Sequence[str], values: Mapping[str, Any]) -> None:
        """Say beside the runs that were waiting for it what became of them."""
        now = self._clock()
        notes = update(ExecutionNoteRow).where(
            ExecutionNoteRow.execution_id.in_(ids), ExecutionNoteRow.learn_status == PENDING
        )
        statement = notes.values(**values, learn_processed_at=now, updated_at=now)
        await transaction.session.execute(statement, execution_options=UNSEEN)
