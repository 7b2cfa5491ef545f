"""The end of a lesson: what came of it, as it is written down."""

import json
from typing import Any, Final, cast

from skillyard.learning.drafts import Committed, Proposed
from skillyard.learning.lessons import Lessons
from skillyard.learning.states import LessonState
from skillyard.llm.budget import Spent
from skillyard.llm.transcripts import AGAIN, Transcript

NO_COMMIT: Final = "It was finished without a commit."
_MAX_WORDS: Final = 300
_COMMITS: Final = "commit_to_"


async def conclude(
    lessons: Lessons,
    lesson_id: str,
    result: Committed | Proposed | None,
    *,
    reason: str = NO_COMMIT,
    transcript: Transcript | None = None,
    spent: Spent | None = None,
) -> LessonState:
    """Note what was committed or proposed; with neither, the reason why nothing was."""
    if result is None:
        state, effects = LessonState.NO_COMMIT, None
        if transcript is not None and reason == NO_COMMIT:
            refused, words = _last_refusal(transcript), _last_words(transcript)
            reason += f" A commit was refused: {refused}" if refused else ""
            reason += f" The model said: {words}" if words else ""
    elif isinstance(result, Proposed):
        state, effects, reason = LessonState.PROPOSED, None, f"Waits for a decision on {result.proposal_id}."
    else:
        state, effects = LessonState.COMMITTED, result.effects
        reason = "" if effects else "It is known already."
    await lessons.conclude(lesson_id, state, reason=reason, effects=effects, transcript=transcript, spent=spent)
    return state


def _last_refusal(transcript: Transcript) -> str:
    """Why the last commit that was tried was none: whoever reads the outcome asks for that first."""
    answers: list[str] = []
    for entry in transcript.entries:
        if entry["role"] == AGAIN:
            answers.clear()
        elif str(entry.get("name", "")).startswith(_COMMITS):
            answers.append(entry["text"])
    try:
        told: Any = json.loads(answers[-1]) if answers else None
    except ValueError:  # a call of another shape than the tool's, which LangChain answers in words
        return ""
    fields = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    return " ".join(str(fields["reason"]).split())[:_MAX_WORDS] if fields.get("status") == "refused" else ""


def _last_words(transcript: Transcript) -> str:
    """How a model took its leave: a refusal is to be read where its outcome is."""
    last = transcript.entries[-1] if transcript.entries else {"role": "", "text": ""}
    return " ".join(last["text"].split())[:_MAX_WORDS] if last["role"] == "assistant" else ""
