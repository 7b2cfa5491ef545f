"""Variables: what differed from time to time, and what was secret; each once, wherever it stands."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from skillyard.releases.mining.acts import Act, Context, Ref, Slot, Template
from skillyard.releases.mining.expressions import (
    Row,
    core_of,
    differs,
    expressed,
    is_within,
    shared_dates,
    words_around,
)
from skillyard.releases.mining.naming import variable_name
from skillyard.releases.mining.value_types import type_of
from skillyard.releases.payloads import Variable, VariableType
from skillyard.sandbox.capture.markers import MARKER, has_marker

ENTERED: Final = frozenset({Context.FIELD, Context.CHOICE})
_IN_CODE: Final = frozenset({Context.WORD, Context.LITERAL})
_PROGRAMS: Final = frozenset({"filter", "expression", "program"})
"""Labels of texts in another language: of these only a part differs."""
_VAGUE: Final = frozenset(
    {"in", "out", "input", "output", "file", "path", "input file", "output file", "source", "target"}
)
_DEEDS: Final = frozenset(
    "add approve assign book borrow buy choose close complete copy delete details download edit export join manage "  # noqa: SIM905 -- a list of words
    "modify open order pay pick print remove rename rent reserve return select share show start update use view "
    "예약 수정 편집 삭제 보기 선택 추가 열기 编辑 修改 删除 查看 选择 预订 添加 打开".split()
)
"""Words with which the names of links and buttons say what is done to a thing of a list."""
_UNNAMED: Final = "name"
"""What the differing part of something is called that has no better name."""
_NOTHING_KNOWN: Final = "value"
_TELLING_TYPES: Final = frozenset({VariableType.DATE, VariableType.EMAIL, VariableType.URL})
"""Types that say what something is, where nothing else does."""
_DIGITS: Final = re.compile(r"\d+")
_NUMBER: Final = re.compile(r"_\d+$")
_LONG: Final = 200
_TELLING: Final = 4
"""Characters from which on the same text in two places is hardly chance, when it was seen only once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A place in a task, with what stood there each time."""

    slot: Slot
    values: Row
    is_optional: bool = False
    """Whether nothing was entered there at some times, and the place was left as it was."""


@dataclass(kw_only=True, slots=True)
class Found:
    """A variable."""

    name: str
    label: str
    values: Row
    """Nothing of a secret."""
    type: VariableType = VariableType.STRING
    secret: bool = False
    default: str | None = None
    shown_by: Act | None = None
    """The act after which it, or a part of it, was shown every time before it was used."""

    @property
    def examples(self) -> tuple[str, ...]:
        given = (value for value in self.values if value is not None and not has_marker(value))
        return () if self.secret else tuple(dict.fromkeys(given))

    def variable(self, from_step: int | None = None) -> Variable:
        """The variable of a payload. `from_step` is the number of the step that shows its value, from 1 on."""
        return Variable(
            name=self.name,
            type=self.type,
            description=self._description(from_step),
            secret=self.secret,
            default=self.default,
            from_step=from_step,
        )

    def _description(self, from_step: int | None) -> str:
        said = self.label[:_LONG] or self.name
        if self.default == "":
            said += "; without it, the field is left as it is"
        if from_step is not None:
            said += f"; it was read from what an earlier step shows (step {from_step}): look it up there first"
        return said


@dataclass(kw_only=True, slots=True)
class Bound:
    """The variables of a task, and what stands in each of its places."""

    variables: dict[str, Found]
    templates: list[Template | None]


def optional_flag(bound: Bound, label: str, times: int) -> str:
    """Add a variable for something that is done at some times, and has no value of its own; answers its name."""
    name = variable_name(label, taken=bound.variables)
    row: Row = (None,) * times
    bound.variables[name] = Found(name=name, label=label, values=row, type=VariableType.BOOLEAN, default="false")
    return name


def bind(columns: Sequence[Column], at: int) -> Bound:
    """What of the places of a task are variables. `at` is the time by whose texts it is told how to do it."""
    return _Binding(columns, at).bound()


@dataclass(kw_only=True, slots=True)
class _Secrets:
    """Secrets by what their markers say, each time."""

    names: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    typed: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    """Those that were put where secrets belong."""


class _Binding:
    def __init__(self, columns: Sequence[Column], at: int) -> None:
        self._columns = columns
        self._at = at
        self._found: dict[str, Found] = {}
        self._templates: list[Template | None] = [None] * len(columns)
        self._secrets = _Secrets()
        self._once = len(columns[0].values) == 1 if columns else True
        self._cores = Counter(
            core[1] for column in columns if (core := self._core(column)) is not None and differs(core[1])
        )
        self._cores.update(column.values for column in columns if differs(column.values))

    def bound(self) -> Bound:
        for column in self._columns:
            if column.slot.sensitive:
                self._secrets.typed |= {_key(column.values, index) for index in range(_markers(column.values))}
        for dates in shared_dates([column.values for column in self._columns if column.slot.context in _IN_CODE]):
            slot = Slot(value=dates[self._at] or "", context=Context.WORD, label=VariableType.DATE.value)
            self._add(Column(slot=slot, values=dates), dates, whole=False)
        order = sorted(range(len(self._columns)), key=self._turn)
        for index in order:
            self._templates[index] = self._template(self._columns[index])
        return self._counted(Bound(variables=self._found, templates=self._templates))

    def _counted(self, bound: Bound) -> Bound:
        """The same with those of one name numbered as they are met: `value` first, then `value_2`."""
        met = dict.fromkeys(part.name for one in bound.templates for part in one or () if isinstance(part, Ref))
        families: dict[str, list[str]] = {}
        for name in met:
            base = _NUMBER.sub("", name)
            families.setdefault(base if base in met else name, []).append(name)
        new = {
            name: numbered
            for family in families.values()
            for name, numbered in zip(family, sorted(family, key=lambda one: (len(one), one)), strict=True)
        }
        for name, found in bound.variables.items():
            found.name = new.get(name, name)
        templates = [
            None
            if one is None
            else tuple(Ref(new[part.name], part.value) if isinstance(part, Ref) else part for part in one)
            for one in bound.templates
        ]
        return Bound(variables={found.name: found for found in bound.variables.values()}, templates=templates)

    def _turn(self, index: int) -> tuple[int, int, int]:
        """What is called best first, then what is shorter: the longer may hold it."""
        column = self._columns[index]
        longest = max((len(value) for value in column.values if value is not None), default=0)
        if column.slot.context in ENTERED:
            return (0, longest, index)
        return (1, longest, index) if column.slot.context in _IN_CODE else (2, longest, index)

    def _template(self, column: Column) -> Template | None:
        if any(value and (column.slot.sensitive or has_marker(value)) for value in column.values):
            return self._secret(column)
        if column.is_optional:
            value = column.values[self._at] or ""
            return (Ref(self._add(column, column.values, default=""), value),)
        if not differs(column.values):
            return self._constant(column)
        if column.slot.context in ENTERED:
            return self._entered(column)
        return expressed(column.values, self._known, self._at) or self._other(column)

    @property
    def _known(self) -> Mapping[str, Row]:
        return {name: found.values for name, found in self._found.items() if not found.secret}

    def _constant(self, column: Column) -> Template | None:
        """What was the same every time. Done once, what a person typed is taken for what will differ."""
        value = column.values[self._at] or ""
        if not self._once:
            return None
        if column.slot.context is Context.FIELD:
            known = self._same(column.values) if len(value) >= _TELLING else None
            return known or (Ref(self._add(column, column.values, default=value), value),)
        told = {name: row for name, row in self._known.items() if len(row[0] or "") >= _TELLING}
        return expressed(column.values, told, self._at) if value else None

    def _entered(self, column: Column) -> Template:
        value = column.values[self._at] or ""
        known = self._same(column.values)
        if known is not None:
            return known
        kind = type_of([one for one in column.values if one is not None], column.slot)
        if kind is not VariableType.EMAIL:
            within = expressed(column.values, self._known, self._at)
            if within is not None:
                return within
        return (Ref(self._add(column, column.values), value),)

    def _same(self, row: Row) -> Template | None:
        found = next((found for found in self._found.values() if not found.secret and found.values == row), None)
        return None if found is None else (Ref(found.name, row[self._at] or ""),)

    def _other(self, column: Column) -> Template | None:
        slot = column.slot
        if slot.context is Context.AROUND:
            return self._beside_value(column) or self._whole(column)
        if slot.context is Context.NAME:
            return (self._done_to(column) or self._whole(column)) if slot.listed or _by_number(column.values) else None
        core = self._core(column)
        if core is None or slot.type in {VariableType.INTEGER, VariableType.NUMBER, VariableType.BOOLEAN}:
            return self._whole(column)
        before, row, after = core
        known = expressed(row, self._known, self._at)
        if known is not None:
            return _around(before, known, after)
        longest = max(len(value) for value in column.values if value is not None)
        if slot.context in _IN_CODE and (self._cores[row] > 1 or slot.label in _PROGRAMS or longest > _LONG):
            label = _UNNAMED if slot.label in _VAGUE | _PROGRAMS else slot.label
            named = Column(slot=_called(slot, label), values=row)
            return _around(before, (Ref(self._add(named, row, whole=False), row[self._at] or ""),), after)
        return self._whole(column)

    def _done_to(self, column: Column) -> Template | None:
        """The thing alone, where the name of an element says what is done to it: the berth of `Reserve B12`."""
        around = words_around(column.values)
        if around is None:
            return None
        before, row, after = around
        if not _DEEDS.intersection(f"{before} {after}".casefold().split()):
            return None
        known = expressed(row, self._known, self._at)
        return _around(before, known or (Ref(self._add(column, row), row[self._at] or ""),), after)

    def _beside_value(self, column: Column) -> Template | None:
        """The value that stood beside an element every time, by which its row is known whatever else is in it."""
        names = [name for name, values in self._known.items() if is_within(column.values, values, self._at)]
        name = max(names, key=lambda name: len(self._known[name][self._at] or ""), default=None)
        return None if name is None else (Ref(name, self._known[name][self._at] or ""),)

    def _whole(self, column: Column) -> Template:
        return (Ref(self._add(column, column.values), column.values[self._at] or ""),)

    def _core(self, column: Column) -> tuple[str, Row, str] | None:
        in_code = column.slot.context in _IN_CODE
        return core_of(column.values) if in_code and differs(column.values) else None

    def _secret(self, column: Column) -> Template:
        """Places with secrets in them; what stands beside a secret may differ too."""
        value = column.values[self._at] or ""
        count = _markers(column.values)
        if not count:
            return (Ref(self._add_secret(column, (f"#{len(self._found)}",)), value),)
        if not column.slot.sensitive and self._only_looks_secret(column):
            return (Ref(self._add(column, column.values), value),)
        parts: list[str | Ref] = []
        texts = [None if one is None else MARKER.sub("\0", one).split("\0") for one in column.values]
        marks = [found[0] for found in MARKER.finditer(value)]
        for index in range(count):
            parts += self._beside(column, tuple(None if text is None else text[index] for text in texts))
            parts.append(Ref(self._add_secret(column, _key(column.values, index)), marks[index]))
        parts += self._beside(column, tuple(None if text is None else text[count] for text in texts))
        return tuple(part for part in parts if isinstance(part, Ref) or part)

    def _beside(self, column: Column, row: Row) -> Template:
        if not differs(row):
            return (row[self._at] or "",)
        known = expressed(row, self._known, self._at)
        return known or (Ref(self._add(column, row), row[self._at] or ""),)

    def _only_looks_secret(self, column: Column) -> bool:
        """Something that was no secret here, only the same as one: a name that is its own password."""
        if column.slot.context is not Context.FIELD:
            return False
        return all(value is None or MARKER.fullmatch(value) for value in column.values) and (
            _key(column.values, 0) in self._secrets.typed
        )

    def _add_secret(self, column: Column, key: tuple[str, ...]) -> str:
        known = self._secrets.names.get(key)
        if known is not None:
            return known
        marked = next((name for name in key if name and not name.startswith("#")), "")
        label = column.slot.label if column.slot.context in ENTERED or not marked else marked
        name = variable_name(label, instead=variable_name(marked or "secret"), taken=self._found)
        self._found[name] = Found(name=name, label=label, values=(None,) * len(column.values), secret=True)
        self._secrets.names[key] = name
        return name

    def _add(self, column: Column, row: Row, *, default: str | None = None, whole: bool = True) -> str:
        slot = column.slot
        given = [value for value in row if value is not None and not has_marker(value)]
        # The empty text, for leaving something out, is of no other type.
        kind = VariableType.STRING if default == "" else type_of(given, slot, whole=whole)
        unnamed = slot.label == _NOTHING_KNOWN or (slot.label == _UNNAMED and not whole)
        label = kind.value if unnamed and kind in _TELLING_TYPES else slot.label
        name = variable_name(label, taken=self._found)
        values = tuple(None if value is None or has_marker(value) else value for value in row)
        self._found[name] = Found(name=name, label=label, values=values, type=kind, default=default)
        return name


def _around(before: str, template: Template, after: str) -> Template:
    return tuple(part for part in (before, *template, after) if part != "")


def _called(slot: Slot, label: str) -> Slot:
    return Slot(value=slot.value, context=slot.context, label=label)


def _markers(row: Row) -> int:
    """How many secrets stand in a place; 0 where that differs."""
    counts = {len(MARKER.findall(value)) for value in row if value is not None}
    return counts.pop() if len(counts) == 1 else 0


def _key(row: Row, index: int) -> tuple[str, ...]:
    return tuple("" if value is None else MARKER.findall(value)[index] for value in row)


def _by_number(row: Row) -> bool:
    """Whether names differ only by a number in them."""
    return len({_DIGITS.sub("#", value) for value in row if value is not None}) == 1
