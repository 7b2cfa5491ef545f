"""Committing a lesson: what is to be done is kept first, then done, then written down, so that it happens once."""

from collections.abc import Sequence
from dataclasses import dataclass

from skillyard.errors import SkillyardError, UnavailableError
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal
from skillyard.learning.commits import Commits
from skillyard.learning.drafts import ADMIN_NEEDED, Author, CommitResult, Committed, Draft, Proposed, Refused
from skillyard.learning.feedback import Feedback
from skillyard.learning.lessons import Lesson, Lessons


@dataclass(frozen=True, kw_only=True, slots=True)
class Pupil:
    """A lesson, the feedback that it is from, and in whose name it is learned."""

    principal: Principal
    feedback: Feedback
    lesson: Lesson

    @property
    def author(self) -> Author:
        said = self.feedback.said
        return Author(
            principal=self.principal,
            lesson_id=self.lesson.id,
            turn=self.lesson.turn,
            agent_id=self.lesson.agent_id,
            feedback=said,
            given_by=self.feedback.given_by,
            meaning=self.lesson.meaning,
            place=self.feedback.place,
            why=Why(reason=f"Learned from feedback {self.feedback.id}.", feedback=said),
        )


class Committing:
    """Carries out what was decided for a lesson."""

    def __init__(self, commits: Commits, lessons: Lessons) -> None:
        self._commits = commits
        self._lessons = lessons

    async def commit(self, pupil: Pupil, draft: Draft) -> CommitResult:
        """Do it, with the skills that the agent is to be given. What is to be done is settled once, and whether someone
        is asked first is part of that. What cannot be done is refused, and something else may then be decided.
        """
        asking = await self._commits.asking(pupil.author, draft)
        settled = await self._lessons.settle(pupil.lesson.id, asking, admin=pupil.principal.admin)
        return await self._do(pupil, settled)

    async def resume(self, pupil: Pupil) -> Committed | Proposed | None:
        """Go on with what was settled before a crash; None where nothing was."""
        draft = pupil.lesson.draft
        if draft is None:
            return None
        result = await self._do(pupil, draft)
        return None if isinstance(result, Refused) else result

    async def attaches(self, pupil: Pupil) -> tuple[str, ...]:
        """The skills that an agent is to be given with whatever its lesson comes to."""
        return (await self._lessons.get(pupil.principal, pupil.lesson.id)).attaches

    async def attach(self, pupil: Pupil, skills: Sequence[str]) -> Refused | None:
        """Let the agent be given skills, with what its lesson comes to, or came to already; None: it is kept."""
        principal = pupil.principal
        lesson = await self._lessons.get(principal, pupil.lesson.id)
        if lesson.draft is not None and not lesson.draft.locked and not principal.admin:
            return Refused(reason=ADMIN_NEEDED, hint="Say so before the commit: then someone is asked for both.")
        await self._lessons.attach(lesson.id, skills, admin=principal.admin)
        return None

    async def go_on(self, pupil: Pupil) -> CommitResult:
        """Do what was settled as far as it is not done yet: something was added to it."""
        lesson = await self._lessons.get(pupil.principal, pupil.lesson.id)
        return (
            Refused(reason="Nothing is settled yet.") if lesson.draft is None else await self._do(pupil, lesson.draft)
        )

    async def _do(self, pupil: Pupil, settled: Draft) -> CommitResult:
        try:
            return await self._commits.do(pupil.author, settled)
        except UnavailableError:
            raise  # what was settled is done when it can be
        except SkillyardError as error:
            await self._lessons.unsettle(pupil.lesson.id)
            return told(error)


def told(error: SkillyardError) -> Refused:
    """An error as those who decide are told of it."""
    return Refused(reason=error.message, hint=error.hint)
