"""What an agent is told about its skills, turn by turn: a ranked list within a budget, and what changed."""

import logging
import uuid
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypedDict, TypeVar

from skillyard.agents.changes import BUDGET as CHANGES
from skillyard.agents.changes import LEAST, SkillChanges, changes_between
from skillyard.agents.source import SkillSource, markdown_catalog
from skillyard.agents.tool import told
from skillyard.errors import InputError, SkillyardError
from skillyard.search.catalog import BUDGET, MIN_BUDGET, PromptCatalog, check_budget
from skillyard.skill.prompt import shortened, without_tags

LOAD: Final = "call `load_skill` with its name"
MAX_KNOWN: Final = 2_000
"""Of so many skills it is kept with a conversation in which state the agent knew them."""
_HOW: Final = """## Skills

Skills are instructions that people wrote for particular tasks. Look through this list before you start on a task. \
If a skill fits, {load} first, and follow what it says. What fits the request best comes first, so the list may be \
another in the next turn."""
_CHANGED: Final = "Skills have changed since your last turn.\n"
_FRAME: Final = "<available_skills>\n{}\n</available_skills>"
_BREAKS: Final = 4
"""Line breaks between the parts."""
_NOTICE_SHARE: Final = 4
"""What changed may take this part of the budget."""
LEAST_NOTICE: Final = len(_CHANGED) + LEAST
"""Or so many characters, where that is less."""
_AWAY: Final = "The skills cannot be reached now; go on without them. "
_TOLD_ERROR: Final = 300
_KEPT: Final = 32
"""Lists and looks that are kept, for the conversations that go on now."""
_log: Final = logging.getLogger(__name__)
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Known(TypedDict):
    """What an agent knows of skills, as it is kept with a conversation."""

    look: str
    """By whom the states were told: not of every source those of another process can be compared."""
    stamp: str
    states: dict[str, str]
    """What tells one state of a skill from another, of those that the agent was shown."""
    whole: bool
    """Whether it was shown all that there were."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """What an agent is told before it answers."""

    section: str
    """For its system prompt; empty where there is nothing to tell."""
    known: Known | None
    changes: SkillChanges
    new: tuple[str, ...] = ()
    """The ids of skills that it had not been shown before."""


class SkillPrompt:
    """Writes the section about skills. `budget` bounds all of it; `load` says how a skill is loaded."""

    def __init__(
        self, source: SkillSource, *, budget: int = BUDGET, pins: Sequence[str] = (), load: str = LOAD
    ) -> None:
        self._source = source
        self._pins = tuple(pins)
        self._how = _HOW.format(load=load)
        self._around = len(self._how) + len(_FRAME) + _BREAKS
        self._budget = checked_budget(budget, self._around)
        self._look = uuid.uuid4().hex[:12]
        self._catalogs: _Kept[tuple[str, str, int], PromptCatalog] = _Kept()
        self._states: _Kept[str, Mapping[str, str]] = _Kept()

    def turn(self, query: str, known: Known | None, before: SkillChanges | None = None) -> Turn:
        """What to tell when this was asked. `before` is what was told of changes earlier in the same turn.

        A source that cannot be reached is told of and stops nothing.
        """
        earlier = before or SkillChanges()
        try:
            return self._turn(query, known, earlier)
        except SkillyardError as error:
            _log.warning("The skills of %s could not be listed: %s", self._source.label, error.message)
            away = _AWAY + without_tags(shortened(told(error), _TOLD_ERROR))
            return Turn(section=away, known=known, changes=earlier)

    def _turn(self, query: str, known: Known | None, earlier: SkillChanges) -> Turn:
        # The stamp first: what changes in between is seen now, and told with the next look.
        stamp = self._source.stamp()
        states = self._states_at(stamp)
        changes = earlier if known is None else earlier.then(self._changes(known, stamp, states))
        notice = notice_of(changes, notice_room(self._budget, self._around))
        catalog = self._catalog(stamp, query, self._budget - self._around - len(notice))
        parts = [self._how, _FRAME.format(catalog.text)] if catalog.total else []
        before = known["states"] if known is not None else {}
        shown = {key: states[key] for key in (*catalog.shown, *before) if key in states}
        return Turn(
            section="\n\n".join([*parts, *([notice] if notice else [])]),
            known=Known(
                look=self._look,
                stamp=stamp,
                states=dict(list(shown.items())[:MAX_KNOWN]),
                whole=len(catalog.shown) == catalog.total <= MAX_KNOWN,
            ),
            changes=changes,
            new=tuple(key for key in catalog.shown if key not in before),
        )

    def _changes(self, known: Known, stamp: str, states: Mapping[str, str]) -> SkillChanges:
        """What became of the skills that an agent knows, and which came."""
        before = known["states"]
        is_own = known["look"] == self._look
        if is_own and known["stamp"] == stamp:
            return SkillChanges()
        if not is_own and not self._source.lasting:
            before = {key: states.get(key, "") for key in before}
        found = changes_between(before, states)
        if known["whole"]:
            return found
        all_before = self._states.get(known["stamp"]) if is_own else None
        added = tuple(key for key in found.added if key not in all_before) if all_before is not None else ()
        return SkillChanges(added=added, removed=found.removed, updated=found.updated)

    def _states_at(self, stamp: str) -> Mapping[str, str]:
        kept = self._states.get(stamp)
        return kept if kept is not None else self._states.put(stamp, self._source.snapshot())

    def _catalog(self, stamp: str, query: str, room: int) -> PromptCatalog:
        kept = self._catalogs.get((stamp, query, room))
        if kept is None:
            written = markdown_catalog(self._source, query, budget=room, pins=self._pins)
            kept = self._catalogs.put((stamp, query, room), written)
        return kept


class _Kept(OrderedDict[Key, Value]):
    """The latest of something. Threads may share it: at worst something is worked out twice."""

    def put(self, key: Key, value: Value) -> Value:
        self[key] = value
        while len(self) > _KEPT:
            self.popitem(last=False)
        return value


def notice_room(budget: int, around: int = 0) -> int:
    """What a notice of changes may take of a budget that also has a list, with so many characters around it."""
    return min(max(budget // _NOTICE_SHARE, LEAST_NOTICE), budget - around - MIN_BUDGET)


def notice_of(changes: SkillChanges, room: int = CHANGES) -> str:
    """What an agent is told of changes; empty where there are none."""
    told_in = min(room, CHANGES) - len(_CHANGED)
    return f"{_CHANGED}{changes.text(told_in)}" if changes else ""


def checked_budget(budget: int, around: int) -> int:
    """A budget that has room for a list, what is around it, and a notice of changes."""
    check_budget(budget)
    least = around + MIN_BUDGET + LEAST_NOTICE
    if budget < least:
        raise InputError(
            f"What an agent is told about its skills does not fit into {budget:,} characters.",
            hint=f"Give it at least {least:,}.",
            details={"field": "budget", "value": budget, "limit": least},
        )
    return budget


def known_of(kept: Mapping[str, Any] | None) -> Known | None:
    """What was kept with a conversation, if it was kept by this version."""
    if kept is None or set(kept) != set(Known.__required_keys__):
        return None
    return Known(look=kept["look"], stamp=kept["stamp"], states=dict(kept["states"]), whole=kept["whole"])
