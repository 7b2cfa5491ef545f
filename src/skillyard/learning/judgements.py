"""What was found and judged while a lesson is decided: it bounds what may be made anew, and what may be taken away."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from skillyard.errors import NotAllowedError
from skillyard.learning.drafts import Refused, Related
from skillyard.learning.knowledge import Known
from skillyard.learning.states import Relation, Target

MOST_NEAR: Final = 3
"""Of one search: those behind them are less like the lesson."""
NEAR_SHARE: Final = 0.6
"""How much of the best hit's score another must have to be as near."""
_RELATED: Final = {
    Relation.DUPLICATE: "says the same as",
    Relation.EXTENDS: "extends",
    Relation.REFINES: "refines",
    Relation.CONFLICTS: "conflicts with",
    Relation.EXCEPTION: "is an exception from",
    Relation.SUPERSEDES: "supersedes",
}
"""How a lesson stands to what is changed with it, in words."""
_OVERCOME: Final = frozenset({Relation.CONFLICTS, Relation.SUPERSEDES, Relation.DUPLICATE})


@dataclass(kw_only=True)
class Judgements:
    """Of one lesson."""

    relations: dict[str, Related] = field(default_factory=dict[str, Related])
    read: set[str] = field(default_factory=set[str])
    """The ids of what was read as a whole."""
    searched: bool = False
    """Whether skills were searched for, in whatever words."""
    near: dict[str, Known] = field(default_factory=dict[str, Known])
    """Skills that came first in a search, by their ids."""

    def found(self, hits: Sequence[Known]) -> None:
        """Note the skills among hits that are most like what was looked for."""
        skills = [each for each in hits if each.target is Target.SKILL]
        best = max((each.score for each in skills), default=0.0)
        self.near |= {each.id: each for each in skills[:MOST_NEAR] if each.score >= best * NEAR_SHARE}

    def of(self, target: Target) -> tuple[Related, ...]:
        return tuple(each for each in self.relations.values() if each.target is target)

    def objection_to_new_skill(self) -> Refused | None:
        """A skill that is related is updated; only where none is, a new one is made."""
        related = [each for each in self.of(Target.SKILL) if each.relation in _RELATED]
        if related:
            name = related[0].name
            reason = f"The lesson {_RELATED[related[0].relation]} the skill {name!r}: UPDATE that one."
            return Refused(reason=reason, hint=f'commit_to_skill(operation="UPDATE", skill_id="{name}")')
        unjudged = [known.name for known in self.near.values() if known.id not in self.relations]
        if not unjudged:
            return None
        calls = [
            f'analyze_knowledge_conflict(knowledge_type="SKILL", knowledge_id="{name}")'
            for name in unjudged[:MOST_NEAR]
        ]
        return Refused(
            reason=f"There may be a skill for it already: {', '.join(map(repr, unjudged[:MOST_NEAR]))}.",
            hint=f"First call {', '.join(calls)}; then UPDATE what is related, or CREATE again if nothing is.",
        )

    def require_deletable(self, known: Known, *, must_read: bool) -> None:
        """Only what was judged to be overcome is taken away: a wish in feedback is no reason."""
        judged = self.relations.get(known.id)
        if judged is None or judged.relation not in _OVERCOME:
            said = "it was not judged yet" if judged is None else f"the judgement is {judged.relation}"
            raise NotAllowedError(
                f"{known.name!r} is only deleted after analyze_knowledge_conflict says that the lesson CONFLICTS with "
                f"it, SUPERSEDES it, or that it is a DUPLICATE; {said}.",
                hint="Keep the lesson in another way, or finish without a commit.",
            )
        if must_read and known.id not in self.read:
            raise NotAllowedError(
                f"{known.name!r} is only deleted after it was read as a whole.",
                hint=f'Call get_knowledge_detail(knowledge_type="{known.target}", knowledge_id="{known.id}") first.',
            )
