"""Committing a lesson: what is to be done is kept first, then done, then written down, so that it happens once."""

from dataclasses import dataclass

from skillyard.errors import SkillyardError, UnavailableError
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal
from skillyard.learning.commits import Commits
from skillyard.learning.drafts import Author, CommitResult, Committed, Draft, Proposed, Refused
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
        said = f"{self.feedback.user}: {self.feedback.content}"
        return Author(
            principal=self.principal,
            lesson_id=self.lesson.id,
            agent_id=self.lesson.agent_id,
            feedback=said,
            why=Why(reason=f"Learned from feedback {self.feedback.id}.", feedback=said),
        )


class Committing:
    """Carries out what was decided for a lesson."""

    def __init__(self, commits: Commits, lessons: Lessons) -> None:
        self._commits = commits
        self._lessons = lessons

    async def commit(self, pupil: Pupil, draft: Draft) -> CommitResult:
        """Do it. What cannot be done is refused, and something else may then be decided."""
        settled = await self._lessons.settle(pupil.lesson.id, draft)
        try:
            return await self._commits.commit(pupil.author, settled)
        except UnavailableError:
            raise  # what was settled is done when it can be
        except SkillyardError as error:
            await self._lessons.unsettle(pupil.lesson.id)
            return told(error)

    async def resume(self, pupil: Pupil) -> Committed | Proposed | None:
        """Go on with what was settled before a crash; None where nothing was."""
        draft = pupil.lesson.draft
        if draft is None:
            return None
        result = await self.commit(pupil, draft)
        return None if isinstance(result, Refused) else result


def told(error: SkillyardError) -> Refused:
    """An error as those who decide are told of it."""
    return Refused(reason=error.message, hint=error.hint)
