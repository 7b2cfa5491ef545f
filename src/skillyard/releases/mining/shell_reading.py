"""Reading a shell command: the words that make it what it is, and the places of values in it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from skillyard.releases.mining import shell_tools as tools
from skillyard.releases.mining.acts import Context, Slot
from skillyard.releases.mining.addresses import address_form, address_parts, origin_of
from skillyard.releases.mining.json_places import json_form, json_places
from skillyard.releases.mining.python_places import code_places
from skillyard.releases.payloads import VariableType
from skillyard.sandbox.capture.markers import MARKER
from skillyard.sandbox.shell_words import Heredoc, Redirect, Simple, Word

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=")
_PAIR: Final = re.compile(r"([A-Za-z_][\w.-]{0,60})(=|:\s+)(?=\S)")
_FORM_DATA: Final = re.compile(r"[\w.\[\]-]{1,60}=[^&\s]*(?:&[\w.\[\]-]{1,60}=[^&]*)+")
_SUBCOMMAND: Final = re.compile(r"[a-z][a-z0-9-]*")
_PATH: Final = re.compile(r"(?:[\w.~-]*/)+[\w.~-]*|[\w~-][\w.~-]*\.[A-Za-z]\w{0,7}|\.[A-Za-z][\w.-]*")
_EXTENSION: Final = re.compile(r"\.[A-Za-z]\w{0,7}$")
_VALUE: Final = re.compile(r"\"[^\"]*\"|'[^']*'|\b\d+(?:\.\d+)?\b|(?<=/)[^/\s]+(?=/)")
"""What differs in a program of another language: texts, numbers, what stands between slashes."""
_USER_AND_SECRET: Final = re.compile(rf"([^:\s]+):({MARKER.pattern})")
_KEYED_LINE: Final = re.compile(r"\s*[\"']?([\w.-]{1,60})[\"']?\s*[:=]\s*[\"']?(.*?)[\"']?,?\s*")
_MOST_SUBCOMMANDS: Final = 2
_LONGEST_BODY: Final = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a value stands in what was written."""

    start: int
    end: int
    word: Word | None = None
    """The word that it is in, with where it begins in the text of it; None in a heredoc."""
    first: int = 0


@dataclass(kw_only=True, slots=True)
class ShellReading:
    form: list[str] = field(default_factory=list[str])
    slots: list[Slot] = field(default_factory=list[Slot])
    places: list[Place] = field(default_factory=list[Place])
    programs: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    """What was run, with what it was to do: `git`, `commit`."""
    mentions: set[str] = field(default_factory=set[str])
    """Paths that it speaks of."""
    writes: list[int] = field(default_factory=list[int])
    """The slots that are paths of files which are there afterwards."""
    appends: list[int] = field(default_factory=list[int])
    """Those of them that may have been there before."""
    reads: list[int] = field(default_factory=list[int])
    """The slots that are paths of files which must be there before."""


def read_commands(text: str, commands: Sequence[Simple]) -> ShellReading:
    """What commands do, and with which values."""
    reading = ShellReading()
    for simple in commands:
        _Command(text, simple, reading).read()
        reading.form.append(simple.operator.replace("\n", ";"))
    while reading.form and reading.form[-1] in {"", ";"}:
        reading.form.pop()
    return reading


class _Group(NamedTuple):
    """One argument, or an option with its value: where it begins in the form, and among the slots."""

    form: int
    slot: int
    option: str = ""


class _Command:
    def __init__(self, text: str, simple: Simple, reading: ShellReading) -> None:
        self._text = text
        self._simple = simple
        self._reading = reading
        self._said: list[str] = []
        """The words so far that say what is to be done."""
        self._positional = 0
        self._last: int | None = None
        """The slot of the last argument."""
        self._option = ""
        self._groups: list[_Group] = []
        """The arguments, an option with its value as one."""

    def read(self) -> None:
        words = iter(self._simple.words)
        for word in words:
            if not self._said and self._starts(word):
                continue
            if not self._option or _is_flag(word):
                self._groups.append(_Group(len(self._reading.form), len(self._reading.slots)))
            self._argument(word)
        self._order_options()
        if self._said:
            self._reading.programs.append(tuple(self._said))
        if self._program in tools.WRITING and self._last is not None:
            self._reading.writes.append(self._last)
        for redirect in self._simple.redirects:
            self._redirect(redirect)
        for heredoc in self._simple.heredocs:
            self._heredoc(heredoc)

    def _starts(self, word: Word) -> bool:
        """Take what stands before the arguments: variables and the program itself."""
        assignment = _ASSIGNMENT.match(word.text)
        if assignment and not word.expands:
            self._form(f"{assignment[1]}=")
            self._value(word, assignment.end(), assignment[1])
        elif assignment or word.text in tools.WRAPPING:
            self._form(word.text)
        else:
            name = word.text.rpartition("/")[2] or word.text
            self._said.append(name)
            self._form(name)
        return True

    @property
    def _program(self) -> str:
        return self._said[0] if self._said else ""

    def _argument(self, word: Word) -> None:
        option, self._option = self._option, ""
        if self._program in tools.KEYWORDS or (word.expands and word.text.startswith("-")):
            self._form(word.text)
        elif word.expands:
            self._positional += not option
            self._beside(word, _option_label(option) if option else self._label())
        elif _is_flag(word):
            self._flag(word)
        elif option in tools.PROGRAM_FLAGS and tools.INTERPRETING.fullmatch(self._program):
            self._positional += 1
            self._code(word)
        elif self._is_subcommand(word, option):
            self._said.append(word.text)
            self._form(word.text)
        elif option:
            self._value(word, 0, _option_label(option))
            self._note_written(option)
        else:
            self._positional += 1
            before = len(self._reading.slots)
            self._value(word, 0, self._label(), program=self._is_program())
            self._last = len(self._reading.slots) - 1
            if self._last == before:
                script = self._said[1] if tools.INTERPRETING.fullmatch(self._program) and self._said[1:] else ""
                program = (script or self._program).rpartition("/")[2]
                slot = replace(self._reading.slots[before], program=program, argument=self._positional)
                self._reading.slots[before] = slot

    def _beside(self, word: Word, label: str) -> None:
        """Take a word into which the shell puts something: what stands beside that are values."""
        forms: list[str] = []
        at = 0
        for start, end in (*word.expansions, (len(word.text), len(word.text))):
            value = word.text[at:start]
            first, last = word.span(at, start)
            if any(map(str.isalnum, value)) and last - first == len(value):  # no quotes stand within it
                slot = Slot(value=value, context=Context.WORD, label=label or "text")
                self._add(slot, Place(start=first, end=last, word=word, first=at))
                value = "?"
            forms += [value, word.text[start:end]]
            at = end
        self._form("".join(forms))

    def _code(self, word: Word) -> None:
        """Take a word as a program in another language."""
        found = code_places(word.text) if self._program.startswith("python") else None
        if found is None:
            self._value(word, 0, "program", program=True)
            return
        self._form(found.form)
        for start, end, slot in found.places:
            first, last = word.span(start, end)
            self._add(slot, Place(start=first, end=last, word=word, first=start))

    def _flag(self, word: Word) -> None:
        name, equals, _ = word.text.partition("=")
        self._form(name)  # the same, whether its value follows a blank or "="
        if not equals:
            self._option = name if self._takes_value(name) else ""
        if name.startswith("--") or self._option:
            self._groups[-1] = self._groups[-1]._replace(option=name)
        if equals:
            self._value(word, len(name) + 1, _option_label(name))
            self._note_written(name)

    def _order_options(self) -> None:
        """Have options be in one order, behind all other arguments, in whatever they were written."""
        if self._program in tools.IN_ORDER or not any(group.option for group in self._groups):
            return
        form, slots, places = self._reading.form, self._reading.slots, self._reading.places
        ends = [*self._groups[1:], _Group(len(form), len(slots))]
        rows = sorted(zip(self._groups, ends, strict=True), key=lambda row: (bool(row[0].option), row[0].option))
        first = self._groups[0]
        order = [index for group, end in rows for index in range(group.slot, end.slot)]
        form[first.form :] = [word for group, end in rows for word in form[group.form : end.form]]
        slots[first.slot :] = [slots[index] for index in order]
        places[first.slot :] = [places[index] for index in order]
        moved = {old: first.slot + new for new, old in enumerate(order)}
        for indices in (self._reading.writes, self._reading.reads, self._reading.appends):
            indices[:] = [moved.get(index, index) for index in indices]
        self._last = moved.get(self._last, self._last) if self._last is not None else None

    def _takes_value(self, option: str) -> bool:
        """Whether what follows an option may be its value; after a short one it is mostly an argument of its own."""
        if option[1:] and option[1:] in tools.PLAIN.get(self._program, ""):
            return False
        if tools.INTERPRETING.fullmatch(self._program) and len(self._said) == 1:
            return option in tools.PROGRAM_FLAGS or option == tools.MODULES
        return option.startswith("--") or option in tools.OPTIONS or option in tools.PROGRAM_FLAGS

    def _is_subcommand(self, word: Word, option: str) -> bool:
        if tools.INTERPRETING.fullmatch(self._program):
            return len(self._said) == 1 and self._positional == 0 and (not option or option == tools.MODULES)
        return (
            self._program in tools.COMMANDED
            and self._positional == 0
            and not option
            and len(self._said) <= _MOST_SUBCOMMANDS
            and _SUBCOMMAND.fullmatch(word.text) is not None
        )

    def _is_program(self) -> bool:
        return self._program in tools.FILTERING and self._positional == 1

    def _label(self) -> str:
        names = tools.ARGUMENTS.get(" ".join(self._said)) or tools.ARGUMENTS.get(self._program)
        return names[min(self._positional, len(names)) - 1] if names else ""

    def _note_written(self, option: str) -> None:
        if _option_label(option) in tools.WRITING_OPTIONS and self._reading.slots:
            self._reading.writes.append(len(self._reading.slots) - 1)

    def _redirect(self, redirect: Redirect) -> None:
        word = redirect.target
        if word.text.isdigit() or word.text.startswith("/dev/"):
            self._form(f"{redirect.operator}{word.text}")
            return
        self._form(redirect.operator)
        if word.expands:
            self._beside(word, "file")
            return
        writes = ">" in redirect.operator
        before = len(self._reading.slots)
        self._value(word, 0, "text" if redirect.operator.endswith("<<<") else "output file" if writes else "input file")
        if len(self._reading.slots) == before + 1 and not redirect.operator.endswith("<<<"):
            (self._reading.writes if writes else self._reading.reads).append(before)
            self._reading.appends += [before] if ">>" in redirect.operator else []

    def _heredoc(self, heredoc: Heredoc) -> None:
        body = self._text[heredoc.start : heredoc.end]
        found = json_places(body)
        if found:
            self._form(json_form(body))
            for place in found:
                self._add(
                    Slot(value=place.value, context=Context.WORD, label=place.label, type=place.type),
                    Place(start=heredoc.start + place.start, end=heredoc.start + place.end),
                )
            return
        lines = body.splitlines(keepends=True)
        keyed = [_KEYED_LINE.fullmatch(line) for line in lines if line.strip()]
        if keyed and all(keyed) and len(keyed) <= _LONGEST_BODY:
            self._keyed_lines(lines, heredoc.start)
        elif body:
            self._form("?")
            self._add(Slot(value=body, context=Context.WORD, label="text"), Place(start=heredoc.start, end=heredoc.end))

    def _keyed_lines(self, lines: Sequence[str], at: int) -> None:
        for line in lines:
            found = _KEYED_LINE.fullmatch(line)
            if found and found[2]:
                self._form(f"{found[1]}:?")
                slot = Slot(value=found[2], context=Context.WORD, label=found[1])
                self._add(slot, Place(start=at + found.start(2), end=at + found.end(2)))
            at += len(line)

    def _value(self, word: Word, first: int, label: str, *, program: bool = False) -> None:
        """Take a word, from some character on, as a value: with its parts, if it has any."""
        text = word.text[first:]
        if not text:
            self._form('""')
            return
        form, parts = _parts(text, label, program=program)
        self._form(form)
        for start, end, slot in parts:
            place = Place(
                start=word.span(first + start, first + end)[0],
                end=word.span(first + start, first + end)[1],
                word=word,
                first=first + start,
            )
            self._add(slot, place)

    def _add(self, slot: Slot, place: Place) -> None:
        self._reading.slots.append(slot)
        self._reading.places.append(place)
        if slot.type is VariableType.PATH or _PATH.fullmatch(slot.value):
            self._reading.mentions.add(slot.value.removeprefix("./"))

    def _form(self, text: str) -> None:
        self._reading.form.append(text)


def _parts(text: str, label: str, *, program: bool) -> tuple[str, list[tuple[int, int, Slot]]]:
    """The form of a value, and the places of values in it."""
    found = json_places(text)
    if found:
        return json_form(text), [
            (one.start, one.end, Slot(value=one.value, context=Context.WORD, label=one.label or label, type=one.type))
            for one in found
        ]
    if origin_of(text):
        return address_form(text), list(_of_address(text))
    if _FORM_DATA.fullmatch(text):
        return _form_data(text)
    both = _USER_AND_SECRET.fullmatch(text)
    if both:
        user = Slot(value=both[1], context=Context.WORD, label=label or "user")
        secret = Slot(value=both[2], context=Context.WORD, label="password")
        return "?:?", [(both.start(1), both.end(1), user), (both.start(2), both.end(2), secret)]
    pair = _PAIR.match(text)
    if pair and not MARKER.match(text):
        rest, parts = _parts(text[pair.end() :], pair[1], program=False)
        return pair[0] + rest, [(start + pair.end(), end + pair.end(), slot) for start, end, slot in parts]
    is_path = _PATH.fullmatch(text) is not None and not MARKER.search(text)
    if not program:
        extension = _EXTENSION.search(text) if is_path else None
        kind = VariableType.PATH if is_path else None
        label = label or ("file" if extension else "path" if is_path else "value")
        slot = Slot(value=text, context=Context.WORD, label=label, type=kind)
        return f"?{extension[0].lower()}" if extension else "?", [(0, len(text), slot)]
    return _VALUE.sub("?", text), [(0, len(text), Slot(value=text, context=Context.WORD, label=label))]


def _form_data(text: str) -> tuple[str, list[tuple[int, int, Slot]]]:
    """`name=value&name=value`."""
    forms: list[str] = []
    places: list[tuple[int, int, Slot]] = []
    at = 0
    for pair in text.split("&"):
        name, _, value = pair.partition("=")
        forms.append(f"{name}=?")
        start = at + len(name) + 1
        if value:
            places.append((start, start + len(value), Slot(value=value, context=Context.WORD, label=name)))
        at += len(pair) + 1
    return "&".join(forms), places


def _of_address(text: str) -> Iterator[tuple[int, int, Slot]]:
    at = 0
    for part in address_parts(text):
        if part.slot is not None:
            slot = Slot(value=part.text, context=Context.ADDRESS, label=part.slot.label)
            yield at, at + len(part.text), slot
        at += len(part.text)


def _is_flag(word: Word) -> bool:
    return word.text.startswith("-") and len(word.text) > 1 and not word.expands


def _option_label(option: str) -> str:
    return tools.OPTIONS.get(option, option.lstrip("-"))
