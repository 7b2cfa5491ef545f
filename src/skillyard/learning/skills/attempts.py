"""Attempts at a skill that failed: the history keeps what it was to say, and why it does not."""

from typing import Final

from skillyard.db.transaction import Transaction
from skillyard.errors import SkillyardError
from skillyard.history.entries import Change
from skillyard.history.service import History
from skillyard.identity.principals import person_audience
from skillyard.learning.drafts import Author
from skillyard.learning.kept_texts import kept
from skillyard.registry.bundles import Bundles
from skillyard.registry.skills import PUBLISHED, Skill, skill_subject
from skillyard.skill.bundle import SKILL_FILE, Bundle, BundleFile

_MAX_ERROR: Final = 500


class FailedAttempts:
    """Writes them down."""

    def __init__(self, bundles: Bundles, history: History) -> None:
        self._bundles = bundles
        self._history = history

    async def record(
        self, author: Author, name: str, present: Skill | None, intended: Bundle, error: SkillyardError
    ) -> None:
        """Note what a skill was to be, marked as not applied, with the feedback that led to it."""
        marked = with_mark(intended, error)
        if present is not None:
            subject = present.subject
        else:
            principal = author.principal
            subject = skill_subject("", f"{principal.name}/{name}", person_audience(principal.person_id))
        change = Change(
            action=PUBLISHED,
            subject=subject,
            digest_before=present and present.digest,
            digest_after=marked.digest,
        )

        async def note(transaction: Transaction) -> None:
            self._history.record_refusal(transaction, author.principal.actor, change, author.why, error)

        await self._bundles.commit(marked, note)


def with_mark(intended: Bundle, error: SkillyardError) -> Bundle:
    """The files, with a comment at the end of SKILL.md that says they were not applied, and why."""
    reason = kept(" ".join(error.message.split()))[:_MAX_ERROR].replace("--", "- -")
    comment = f"\n<!-- [history] skill-creator, not applied: {reason} -->\n"
    files = [
        BundleFile(file.path, file.data + comment.encode(), file.executable) if file.path == SKILL_FILE else file
        for file in intended
    ]
    return Bundle(files)
