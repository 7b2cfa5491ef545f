"""What was done in a shell: one command line, with its words as values."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from skillyard.releases.mining import shell_tools as tools
from skillyard.releases.mining.acts import Act, Ref, Template, written
from skillyard.releases.mining.shell_reading import Place, ShellReading, read_commands
from skillyard.releases.payloads import Step, StepType
from skillyard.releases.placeholders import literal
from skillyard.sandbox.capture.markers import MARKER
from skillyard.sandbox.shell_words import Simple, UnreadableError, read_shell

_MANY: Final = 3
"""Values, from which on even one program takes some knowing."""
_HALF_QUOTED: Final = re.compile(rf"[\"']*({MARKER.pattern})[\"']*")
"""A secret that begins or ends with a quote, and took some of those with it that it was written in."""
_QUOTED: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "$": "\\$", "`": "\\`"})


@dataclass(kw_only=True, eq=False, slots=True)
class ShellAct(Act):
    text: str
    cwd: str | None = None
    reading: ShellReading = field(default_factory=ShellReading, init=False)
    commands: list[Simple] = field(default_factory=list[Simple], init=False)
    type: StepType = field(default=StepType.SHELL, init=False)

    def __post_init__(self) -> None:
        try:
            self.commands = read_shell(self.text)
        except UnreadableError:
            self.text = _HALF_QUOTED.sub(r"'\1'", self.text)
        try:
            self.commands = self.commands or read_shell(self.text)
            self.reading = read_commands(self.text, self.commands)
        except UnreadableError:  # nobody could say what is a value in it
            self.reading = ShellReading(form=self.text.split())
        self.slots = tuple(self.reading.slots)

    @property
    def programs(self) -> list[tuple[str, ...]]:
        return [program for program in self.reading.programs if program[0] not in tools.KEYWORDS]

    @property
    def is_look(self) -> bool:
        """Whether it only shows something."""
        if not self.commands or self.reading.writes:
            return False
        return all(program[0] in tools.LOOKING for program in self.reading.programs)

    @property
    def weight(self) -> int:
        if self.is_look:
            return 0
        known = [program[0] in tools.EVERYDAY | tools.LOOKING for program in self.programs]
        extra = len(self.reading.writes) + sum(simple.operator == "|" for simple in self.commands)
        extra += sum(len(simple.heredocs) for simple in self.commands) + (len(self.slots) >= _MANY)
        # What is given to another language is code that somebody wrote for this.
        extra += sum(len(program) == 1 and bool(tools.INTERPRETING.fullmatch(program[0])) for program in self.programs)
        return sum(1 if everyday else 2 for everyday in known) + extra if known else 1

    def form(self, typed: Collection[str]) -> str:  # noqa: ARG002 -- no value is part of it
        return f"sh {' '.join(self.reading.form)}"

    def skeleton(self) -> str:
        return self.form(())

    def step(self, templates: Sequence[Template | None], ref: str) -> Step:  # noqa: ARG002 -- of browsers
        changes: list[tuple[int, int, str]] = []
        requoted: dict[int, list[tuple[int, int, Ref]]] = {}
        for place, template in zip(self.reading.places, templates, strict=True):
            for first, last, variable in _refs(template):
                if place.word is None:
                    changes.append((place.start + first, place.start + last, written((variable,))))
                    continue
                start, end = place.word.span(place.first + first, place.first + last)
                if end - start == last - first:
                    changes.append((start, end, written((variable,))))
                else:  # quotes stand within it: the whole word is written anew
                    requoted.setdefault(self.reading.places.index(place), []).append((first, last, variable))
        changes += [self._anew(self.reading.places[index], refs) for index, refs in requoted.items()]
        return Step(type=StepType.SHELL, text=self._changed(changes), cwd=self.cwd)

    def _anew(self, place: Place, refs: Sequence[tuple[int, int, Ref]]) -> tuple[int, int, str]:
        word = place.word
        if word is None:
            return place.start, place.end, self.text[place.start : place.end]
        pieces: list[str] = []
        at = 0
        for first, last, variable in refs:
            pieces += [literal(word.text[at : place.first + first].translate(_QUOTED)), written((variable,))]
            at = place.first + last
        pieces.append(literal(word.text[at:].translate(_QUOTED)))
        return word.start, word.end, f'"{"".join(pieces)}"'

    def _changed(self, changes: list[tuple[int, int, str]]) -> str:
        pieces: list[str] = []
        at = 0
        for start, end, instead in sorted(changes):
            if start < at:
                continue
            pieces += [literal(self.text[at:start]), instead]
            at = end
        return "".join([*pieces, literal(self.text[at:])])


def _refs(template: Template | None) -> list[tuple[int, int, Ref]]:
    """The variables of a template, with where their values stood in the text."""
    found: list[tuple[int, int, Ref]] = []
    at = 0
    for part in template or ():
        length = len(part.value if isinstance(part, Ref) else part)
        if isinstance(part, Ref):
            found.append((at, at + length, part))
        at += length
    return found
