"""What search and the catalog would bring up for prompts, measured against what a person expects.

No model takes part, so the same skills and prompts give the same report. A skill that should be found must be among
the first hits; one that should not be found must not come first, where an agent would take it.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from skillyard.search.catalog import Form
from skillyard.search.trigger_file import TriggerFile, TriggerPrompt
from skillyard.skill.library import Catalog
from skillyard.skill.models import Finding, Severity
from skillyard.skill.names import nearest_name

TOP: Final = 5
"""Among so many hits a skill must be to count as found."""
TOLD: Final = 3
"""So many of the hits are told of each prompt."""
NOTHING: Final = ""
"""What comes first when nothing is found, and what is expected where no skill should be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Surfaced:
    """What a prompt brings up."""

    hits: Sequence[str]
    """The ids that search finds, best first."""
    shown: Mapping[str, Form]
    """How the catalog for this prompt shows skills."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of one expectation."""

    skill: str
    """Empty where nothing at all should be found."""
    should: bool
    rank: int | None
    """Its place among the hits, from 1; None when it was not found."""
    shown: Form | None
    held: bool

    def as_dict(self) -> dict[str, Any]:
        return {
            "skill": self.skill or None,
            "should": self.should,
            "rank": self.rank,
            "catalog": self.shown.value if self.shown else None,
            "held": self.held,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A prompt, what came up, and what became of each expectation."""

    prompt: TriggerPrompt
    top: tuple[str, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def held(self) -> bool:
        return all(outcome.held for outcome in self.outcomes)

    @property
    def first(self) -> str:
        return self.top[0] if self.top else NOTHING

    @property
    def is_wrong_first(self) -> bool:
        """Whether what came first is known to be wrong: it should not, or another should, or none should."""
        prompt = self.prompt
        judged = bool(prompt.should) or prompt.wants_nothing
        return bool(self.top) and (self.first in prompt.should_not or (judged and self.first not in prompt.should))

    def as_dict(self) -> dict[str, Any]:
        return {
            "line": self.prompt.line,
            "prompt": self.prompt.text,
            "top": list(self.top),
            "held": self.held,
            "expectations": [outcome.as_dict() for outcome in self.outcomes],
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillScore:
    """How one skill fares over all prompts that say something of it."""

    skill: str
    should: int
    should_not: int
    first: int
    """Of the prompts that should find it, those where it came first."""
    found: int
    """Those where it was among the first hits that count."""
    hit_at_5: int
    wrong: int
    """Prompts for which it came first and should not have."""

    @property
    def recall(self) -> float | None:
        return _share(self.found, self.should)

    @property
    def precision(self) -> float | None:
        """Of the times it came first, how often that was right."""
        return _share(self.first, self.first + self.wrong)

    def as_dict(self) -> dict[str, Any]:
        return {
            "skill": self.skill,
            "should": self.should,
            "should_not": self.should_not,
            "hit_at_1": _share(self.first, self.should),
            "hit_at_5": _share(self.hit_at_5, self.should),
            "recall": self.recall,
            "precision": self.precision,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Confusion:
    """A skill that came first where another should have been found."""

    expected: str
    instead: str
    """Empty when nothing was found."""
    count: int

    def as_dict(self) -> dict[str, Any]:
        return {"expected": self.expected, "instead": self.instead or None, "count": self.count}


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerReport:
    prompts: tuple[Judged, ...]
    findings: tuple[Finding, ...]
    top: int

    @property
    def outcomes(self) -> list[Outcome]:
        return [outcome for judged in self.prompts for outcome in judged.outcomes]

    @property
    def share(self) -> float:
        """How many of the expectations hold; one without any holds none."""
        return _share(sum(outcome.held for outcome in self.outcomes), len(self.outcomes)) or 0.0

    @property
    def skills(self) -> list[SkillScore]:
        """Every skill that an expectation names, by id."""
        own: defaultdict[str, list[Outcome]] = defaultdict(list)
        for outcome in self.outcomes:
            if outcome.skill != NOTHING:
                own[outcome.skill].append(outcome)
        wrong = Counter(judged.first for judged in self.prompts if judged.is_wrong_first)
        return [_score(skill, own[skill], wrong[skill]) for skill in sorted(own)]

    @property
    def confusions(self) -> list[Confusion]:
        """Which skill came first instead of one that should, the most frequent pairs first."""
        pairs = Counter(
            (skill, judged.first)
            for judged in self.prompts
            if judged.first not in judged.prompt.should
            for skill in judged.prompt.should
        )
        by_count = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
        return [Confusion(expected=expected, instead=instead, count=count) for (expected, instead), count in by_count]

    def as_dict(self) -> dict[str, Any]:
        outcomes = self.outcomes
        wanted = [outcome for outcome in outcomes if outcome.should]
        return {
            "prompts": [judged.as_dict() for judged in self.prompts],
            "skills": [score.as_dict() for score in self.skills],
            "confusions": [confusion.as_dict() for confusion in self.confusions],
            "findings": [finding.as_dict() for finding in self.findings],
            "summary": {
                "prompts": len(self.prompts),
                "expectations": len(outcomes),
                "held": sum(outcome.held for outcome in outcomes),
                "share": round(self.share, 4),
                "top": self.top,
                "hit_at_1": _share(sum(outcome.rank == 1 for outcome in wanted), len(wanted)),
                "hit_at_5": _share(sum(_is_within(outcome.rank, TOP) for outcome in wanted), len(wanted)),
                "in_catalog": _share(sum(outcome.shown is not None for outcome in wanted), len(wanted)),
            },
        }


def resolve(read: TriggerFile, catalog: Catalog, *, file: str) -> TriggerFile:
    """The prompts with the ids of their skills; a skill that is not there is a finding, and not expected."""
    ids = [entry.id for entry in catalog.entries]
    known: dict[str, str | None] = {}
    prompts: list[TriggerPrompt] = []
    findings = list(read.findings)
    for prompt in read.prompts:
        for name in dict.fromkeys((*prompt.should, *prompt.should_not)):
            if name not in known:
                entry = catalog.find(name)
                known[name] = entry.id if entry else None
            if known[name] is None:
                findings.append(_unknown(name, prompt.line, nearest_name(name, ids), file))
        should, should_not = (
            tuple(dict.fromkeys(found for name in names if (found := known[name])))
            for names in (prompt.should, prompt.should_not)
        )
        if should or should_not or prompt.wants_nothing:
            prompts.append(TriggerPrompt(line=prompt.line, text=prompt.text, should=should, should_not=should_not))
    return TriggerFile(tuple(prompts), tuple(sorted(findings, key=lambda finding: finding.line)))


def judge(prompt: TriggerPrompt, surfaced: Surfaced, *, top: int = TOP) -> Judged:
    """What became of a prompt's expectations."""
    ranks = {skill: rank for rank, skill in reversed(list(enumerate(surfaced.hits, start=1)))}

    def outcome(skill: str, *, should: bool) -> Outcome:
        rank = ranks.get(skill)
        held = _is_within(rank, top) if should else rank != 1
        return Outcome(skill=skill, should=should, rank=rank, shown=surfaced.shown.get(skill), held=held)

    wanted = [outcome(skill, should=True) for skill in prompt.should]
    unwanted = [outcome(skill, should=False) for skill in prompt.should_not]
    if prompt.wants_nothing:
        unwanted = [Outcome(skill=NOTHING, should=False, rank=None, shown=None, held=not surfaced.hits)]
    return Judged(prompt=prompt, top=tuple(surfaced.hits[:TOLD]), outcomes=(*wanted, *unwanted))


def _score(skill: str, outcomes: list[Outcome], wrong: int) -> SkillScore:
    wanted = [outcome for outcome in outcomes if outcome.should]
    return SkillScore(
        skill=skill,
        should=len(wanted),
        should_not=len(outcomes) - len(wanted),
        first=sum(outcome.rank == 1 for outcome in wanted),
        found=sum(outcome.held for outcome in wanted),
        hit_at_5=sum(_is_within(outcome.rank, TOP) for outcome in wanted),
        wrong=wrong,
    )


def _unknown(name: str, line: int, near: str, file: str) -> Finding:
    return Finding(
        code="unknown-skill",
        severity=Severity.ERROR,
        message=f"There is no skill {name[:100]!r} here.",
        fix=f"Did you mean {near!r}?" if near else "`skillyard list` shows the skills there are.",
        file=file,
        line=line,
    )


def _is_within(rank: int | None, top: int) -> bool:
    return rank is not None and rank <= top


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
