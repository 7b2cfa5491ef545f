"""What became of the skills of a source between two looks, and how an agent is told."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from skillyard.skill.prompt import SEPARATOR, listed_name

BUDGET: Final = 1_000
"""Characters in which an agent is told of changes unless said otherwise."""
LEAST: Final = 100
"""With so many characters there is room to say at least how many skills changed."""
_SHARE: Final = 3
"""Kinds of changes, each of which has its share of the budget."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillChanges:
    """The ids of skills that came, went, or are now in another state."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.updated)

    def as_dict(self) -> dict[str, Any]:
        return {"added": list(self.added), "removed": list(self.removed), "updated": list(self.updated)}

    def then(self, later: "SkillChanges") -> "SkillChanges":
        """Both changes as one: what came and went again did neither."""
        came, went = {*later.added}, {*later.removed}
        back = came & {*self.removed}
        return SkillChanges(
            added=tuple(sorted(({*self.added} - went) | (came - back))),
            removed=tuple(sorted(({*self.removed} - back) | (went - {*self.added}))),
            updated=tuple(sorted(({*self.updated, *later.updated} - went - {*self.added}) | back)),
        )

    def less_updated(self, ids: Collection[str]) -> "SkillChanges":
        """These changes without that some skills were updated."""
        return replace(self, updated=tuple(key for key in self.updated if key not in ids))

    def text(self, budget: int = BUDGET) -> str:
        """What an agent is told, one line for each kind of change, or how many there are; empty when nothing changed.

        It is never longer than a budget that is not below `LEAST`.
        """
        share = (budget - _SHARE + 1) // _SHARE  # the line breaks, too
        lines = [
            _line("Added", self.added, "", share),
            _line("Updated", self.updated, " What you loaded of it before is out of date: load it again.", share),
            _line("Removed", self.removed, " Do not use what you loaded of it before.", share),
        ]
        text = "\n".join(line for line in lines if line)
        return text if len(text) <= budget else self._counts()

    def _counts(self) -> str:
        counts = {"added": len(self.added), "updated": len(self.updated), "removed": len(self.removed)}
        told = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
        return f"{told}; load again what you use."


def changes_between(before: Mapping[str, str], after: Mapping[str, str]) -> SkillChanges:
    """What changed from one snapshot of a source to a later one."""
    return SkillChanges(
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        updated=tuple(sorted(key for key, state in after.items() if before.get(key, state) != state)),
    )


def _line(kind: str, ids: tuple[str, ...], advice: str, budget: int) -> str:
    """The line of one kind, with as many names as fit and the number of the others."""
    if not ids:
        return ""
    room = budget - len(f"{kind}:  and {len(ids):,} more.{advice}")
    shown: list[str] = []
    for name in map(listed_name, ids):
        room -= len(name) + len(SEPARATOR)
        if room < 0:
            break
        shown.append(name)
    rest = len(ids) - len(shown)
    if not rest:
        return f"{kind}: {SEPARATOR.join(shown)}.{advice}"
    more = f"{SEPARATOR.join(shown)} and {rest:,} more" if shown else f"{rest:,} skill{'s' * (rest > 1)}"
    return f"{kind}: {more}.{advice}"
