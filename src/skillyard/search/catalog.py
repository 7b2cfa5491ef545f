"""The catalog for a model's prompt: ranked, never larger than its budget, and the same for the same input.

Whole entries come first, then some with a shortened description, then bare names, then one line that says how
many there are. The order is a prefix: what is less relevant never pushes out what is more so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from skillyard.errors import InputError, NotFoundError
from skillyard.skill.library import Catalog, SkillEntry
from skillyard.skill.limits import MAX_DESCRIPTION
from skillyard.skill.names import nearest_name
from skillyard.skill.prompt import MARKDOWN, SEPARATOR, XML, Layout, one_line, shortened

BUDGET: Final = 8_000
"""Characters a catalog may have unless said otherwise."""
MIN_BUDGET: Final = 200
"""With less there is no room even to say how many skills there are."""
MAX_BUDGET: Final = 1_000_000
HITS: Final = 100
"""So many skills that fit the query come before the others."""
BRIEF: Final = 120
"""Characters of a shortened description: enough to tell what a skill is for, if not when."""
NAMES_SHARE: Final = 0.25
"""The share of the budget that is kept for bare names before anything is described."""
DESCRIBED_SHARE: Final = 0.85
"""The share up to which descriptions are shortened to have more of them; the rest makes the first ones whole."""


OTHERS: Final = "use search_skills"
"""How a model comes by what is not shown."""
LONGEST_NAME: Final = 256
"""A skill whose name is longer comes last, where it cannot keep others out."""


class Shape(StrEnum):
    """What a catalog is written for."""

    XML = "xml"
    """The `<available_skills>` block of a system prompt."""
    MARKDOWN = "markdown"
    """The list in the description of a tool."""

    @classmethod
    def named(cls, name: str) -> "Shape":
        """The shape of that name; an error that names the others if there is none."""
        if name not in list(cls):
            raise InputError(
                f"A catalog cannot be written as {name[:100]!r}.",
                hint=f"Choose one of: {', '.join(cls)}.",
                details={"field": "format", "value": name[:100]},
            )
        return cls(name)


class Form(StrEnum):
    """How a skill appears in a catalog."""

    WHOLE = "whole"
    SHORTENED = "shortened"
    NAMED = "named"


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptCatalog:
    """The text for the prompt, and how much of the library it shows."""

    text: str
    shown: Mapping[str, Form]
    """How each skill in it appears, by id, in the order of the text."""
    total: int
    naive: int
    """The characters that the whole library would take."""

    @property
    def characters(self) -> int:
        return len(self.text)

    def count(self, form: Form) -> int:
        return sum(each is form for each in self.shown.values())

    def as_dict(self) -> dict[str, Any]:
        counts = {form.value: self.count(form) for form in Form}
        return {
            "text": self.text,
            "characters": self.characters,
            **counts,
            "shown": len(self.shown),
            "total": self.total,
            "naive_characters": self.naive,
        }


class CatalogWriter:
    """Skills of which catalogs are written, again and again for other queries at little cost."""

    def __init__(self, entries: Sequence[SkillEntry], *, uses: Mapping[str, int] | None = None) -> None:
        counts = uses or {}
        told_apart = _told_apart(entries)
        # By powers of two, so that a few more uses leave the order, and with it a cached prompt, as it is.
        self._by_use = sorted(
            told_apart, key=lambda entry: (-counts.get(entry.id, 0).bit_length(), entry.name, entry.id)
        )
        self._by_id = {entry.id: entry for entry in self._by_use}
        self._unwieldy = [entry for entry in self._by_use if _is_unwieldy(entry)]
        self._wieldy = [entry for entry in self._by_use if not _is_unwieldy(entry)]
        self._naive = lru_cache(self._size_of_all)

    def write(
        self,
        *,
        budget: int = BUDGET,
        shape: Shape = Shape.XML,
        pins: Sequence[str] = (),
        hits: Sequence[str] = (),
        others: str = OTHERS,
    ) -> PromptCatalog:
        """The catalog in at most `budget` characters: pinned skills, those found in the order of `hits`, the others.

        `pins` are ids or names, `hits` are ids. Those that were not found are described only where all have a place;
        `others` says how to come by those that are not shown.
        """
        check_budget(budget)
        found = self._with_ids(hits)
        first = {entry.id: entry for entry in (*map(self._pinned, pins), *found)}
        ordered = [
            *(entry for entry in first.values() if not _is_unwieldy(entry)),
            *(entry for entry in self._wieldy if entry.id not in first),
            *filter(_is_unwieldy, first.values()),
            *(entry for entry in self._unwieldy if entry.id not in first),
        ]
        naive = self._naive(shape)
        layout = _LAYOUTS[shape]
        if naive <= budget:
            text = "\n".join([*layout.start, *(layout.skill(each, each.description) for each in ordered), *layout.end])
            shown = dict.fromkeys((entry.id for entry in ordered), Form.WHOLE)
        else:
            text, shown = _Fitting(ordered, layout, budget, others).fill(len(first) if found else len(ordered))
        return PromptCatalog(text=text, shown=shown, total=len(ordered), naive=naive)

    def _pinned(self, wanted: str) -> SkillEntry:
        entry = Catalog(entries=self._by_use).find(wanted)
        if entry is None:
            near = nearest_name(wanted, [entry.id for entry in self._by_use])
            raise NotFoundError(
                f"There is no skill {wanted[:200]!r} to pin.",
                hint=f"Did you mean {near!r}?" if near else "`skillyard list` shows the skills there are.",
                details={"field": "pin", "value": wanted[:200]},
            )
        return entry

    def _with_ids(self, ids: Sequence[str]) -> list[SkillEntry]:
        # A skill may have gone since it was found.
        return [self._by_id[each] for each in ids if each in self._by_id]

    def _size_of_all(self, shape: Shape) -> int:
        layout = _LAYOUTS[shape]
        skills = (layout.skill(entry, entry.description) for entry in self._by_use)
        return _lines_length([*layout.start, *layout.end, *skills])


def count_note(shown: int, total: int, others: str = OTHERS) -> str:
    """What stands in a catalog that has no room for all."""
    return f"{shown} of {total} shown; {others}"


def check_budget(budget: int) -> int:
    if not MIN_BUDGET <= budget <= MAX_BUDGET:
        raise InputError(
            f"A catalog cannot have {budget:,} characters.",
            hint=f"Give it {MIN_BUDGET} to {MAX_BUDGET:,}.",
            details={"field": "budget", "value": budget, "limit": MIN_BUDGET if budget < MIN_BUDGET else MAX_BUDGET},
        )
    return budget


_LAYOUTS: Final = {Shape.XML: XML, Shape.MARKDOWN: MARKDOWN}


class _Fitting:
    """Skills in their order, made to fit: the first ones whole, more of them shortened, more of them by name."""

    def __init__(self, entries: Sequence[SkillEntry], layout: Layout, budget: int, others: str) -> None:
        self._entries = entries
        self._layout = layout
        self._others = others
        frame = _lines_length((*layout.start, *layout.end, layout.names.format(""), self._note(len(entries))))
        self._room = budget - frame + len(SEPARATOR)
        self._used = 0
        # So many from the start are whole, are described at all, are shown at all.
        self._whole: int = 0
        self._described: int = 0
        self._shown: int = 0

    def fill(self, preferred: int) -> tuple[str, dict[str, Form]]:
        """The text, and how each skill in it appears. Only once all are named are others than the first described."""
        room, everything = self._room, len(self._entries)
        self._name_more(int(room * NAMES_SHARE))
        self._shorten_more(preferred, int(room * DESCRIBED_SHARE))
        self._complete()
        self._add_whole(preferred)
        self._shorten_more(preferred, room)
        self._name_more(room)
        if self._shown == everything:
            self._add_whole(everything)
            self._shorten_more(everything, room)
        return self._text(), self._forms()

    def _name_more(self, limit: int) -> None:
        while self._shown < len(self._entries) and self._takes(self._name_size(self._shown), limit):
            self._shown += 1

    def _shorten_more(self, end: int, limit: int) -> None:
        while self._described < end and self._takes(self._growth(self._brief), limit):
            self._described += 1
            self._shown = max(self._shown, self._described)

    def _complete(self) -> None:
        while self._whole < self._described:
            growth = len(self._skill(self._whole, self._full)) - len(self._skill(self._whole, self._brief))
            if not self._takes(growth, self._room):
                return
            self._whole += 1

    def _add_whole(self, end: int) -> None:
        while self._whole == self._described < end and self._takes(self._growth(self._full), self._room):
            self._whole += 1
            self._described += 1
            self._shown = max(self._shown, self._described)

    def _takes(self, size: int, limit: int) -> bool:
        if self._used + size > limit:
            return False
        self._used += size
        return True

    def _growth(self, describe: Callable[[SkillEntry], str]) -> int:
        """What it takes to describe the next skill, which may be there by its name."""
        named = self._name_size(self._described) if self._described < self._shown else 0
        return len(self._skill(self._described, describe)) + 1 - named

    def _name_size(self, number: int) -> int:
        return len(self._layout.name(self._entries[number].name)) + len(SEPARATOR)

    def _skill(self, number: int, describe: Callable[[SkillEntry], str]) -> str:
        entry = self._entries[number]
        return self._layout.skill(entry, describe(entry))

    @staticmethod
    def _full(entry: SkillEntry) -> str:
        # One endless description would leave no room for any other.
        return shortened(entry.description, MAX_DESCRIPTION)

    @staticmethod
    def _brief(entry: SkillEntry) -> str:
        return shortened(entry.description, BRIEF)

    def _note(self, shown: int) -> str:
        return self._layout.note.format(count_note(shown, len(self._entries), self._others))

    def _text(self) -> str:
        names = [self._layout.name(entry.name) for entry in self._entries[self._described : self._shown]]
        parts = [
            *self._layout.start,
            *(self._skill(number, self._full) for number in range(self._whole)),
            *(self._skill(number, self._brief) for number in range(self._whole, self._described)),
            *([self._layout.names.format(SEPARATOR.join(names))] if names else ()),
            self._note(self._shown),
            *self._layout.end,
        ]
        return "\n".join(parts)

    def _forms(self) -> dict[str, Form]:
        limits = ((self._whole, MAX_DESCRIPTION), (self._described, BRIEF))
        forms: dict[str, Form] = {}
        for number, entry in enumerate(self._entries[: self._shown]):
            limit = next((limit for end, limit in limits if number < end), None)
            if limit is None:
                forms[entry.id] = Form.NAMED
            else:
                forms[entry.id] = Form.WHOLE if len(one_line(entry.description)) <= limit else Form.SHORTENED
        return forms


def _told_apart(entries: Sequence[SkillEntry]) -> Sequence[SkillEntry]:
    """The skills, each by a name that finds it: by its id, where its name finds another skill."""
    if all(entry.name == entry.id for entry in entries):
        return entries
    last_first = sorted(entries, key=lambda entry: entry.id, reverse=True)
    folded = {entry.name.casefold(): entry.id for entry in last_first}
    folded |= {entry.id.casefold(): entry.id for entry in last_first}
    ids = {entry.id for entry in entries}

    def is_found(entry: SkillEntry) -> bool:
        return (entry.name if entry.name in ids else folded[entry.name.casefold()]) == entry.id

    return [entry if is_found(entry) else entry._replace(name=entry.id) for entry in entries]


def _is_unwieldy(entry: SkillEntry) -> bool:
    return len(entry.name) > LONGEST_NAME


def _lines_length(lines: Sequence[str]) -> int:
    return max(sum(len(line) + 1 for line in lines) - 1, 0)
