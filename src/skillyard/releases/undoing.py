"""Taking back what was done to candidates. A release knows by itself how it is taken back: by a rollback."""

from sqlalchemy import select

from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError
from skillyard.history.entries import Change, Entry
from skillyard.history.service import History, Step, moved_on
from skillyard.releases.models import CandidateRow
from skillyard.releases.values import CANDIDATE_CREATED, CANDIDATE_DELETED


def register_candidate_undo(history: History) -> None:
    """Say how the deletion of a candidate is taken back."""
    history.register_undo(CANDIDATE_DELETED, _undelete)


async def _undelete(entry: Entry) -> Step:
    async def step(transaction: Transaction) -> Change:
        row = await transaction.session.get(CandidateRow, entry.change.subject.id)
        if row is None or row.deleted_at is None:
            raise moved_on(entry)
        if row.canonical is not None:
            same = select(CandidateRow.id).where(
                CandidateRow.owner_id == row.owner_id,
                CandidateRow.canonical == row.canonical,
                CandidateRow.deleted_at.is_(None),
            )
            other = await transaction.session.scalar(same.limit(1))
            if other is not None:
                raise ConflictError(
                    f"The candidate {other} is the same task.",
                    hint="Delete that one first.",
                    details={"candidate_id": other},
                )
        row.deleted_at = row.deleted_by = row.delete_reason = None
        return Change(
            action=CANDIDATE_CREATED,
            subject=entry.change.subject,
            after=entry.change.before,
            digest_after=row.digest,
        )

    return step
