"""Acts: what was done, one after the other, with the places in it whose values may differ the next time."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias

from skillyard.releases.payloads import Step, StepType, VariableType
from skillyard.releases.placeholders import literal


class Context(Enum):
    """Where a value stands."""

    FIELD = auto()
    """Typed into a field of a page."""
    CHOICE = auto()
    """Chosen from what a page offers."""
    ADDRESS = auto()
    """Part of an address that was opened."""
    NAME = auto()
    """Part of the name of an element, by which it is found."""
    AROUND = auto()
    """Part of what stands around an element."""
    WORD = auto()
    """Part of a command."""
    LITERAL = auto()
    """A constant in code."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """A place for a value, with the value that was there."""

    value: str
    context: Context
    label: str = ""
    """What people call it."""
    type: VariableType | None = None
    """Where the place itself says so."""
    listed: bool = False
    """Of a name: whether elements of its kind stand in lists, one for each thing."""
    sensitive: bool = False
    """Whether it is for a secret."""
    program: str = ""
    """The program, or the script, that it is an argument of."""
    argument: int = 0
    """Which one, from 1 on."""


@dataclass(frozen=True, slots=True)
class Ref:
    """The place of a variable in a template."""

    name: str
    value: str = ""
    """What stood there."""


Template: TypeAlias = tuple[str | Ref, ...]
"""A text with variables in it."""


def written(template: Template) -> str:
    """A template as steps have it: `{{name}}` for each variable, and no text that looks so."""
    return "".join(f"{{{{{part.name}}}}}" if isinstance(part, Ref) else literal(part) for part in template)


@dataclass(kw_only=True, eq=False, slots=True)
class Look:
    """A look at the page, or a wait for it: it changes nothing, but tells how things stand."""

    verb: str
    text: str
    """The step."""
    output: str
    execution_id: str
    kept: bool
    """Whether a replay is to do it too."""
    awaited: str = ""
    """The text that was waited for."""
    address: str = ""
    """Where it was, if it tells."""


@dataclass(kw_only=True, eq=False, slots=True)
class Act(ABC):
    """Something that was done with success."""

    type: StepType
    execution_id: str
    slots: tuple[Slot, ...] = ()
    output: str = ""
    looks: list[Look] = field(default_factory=list[Look])
    """Those that followed it, before the next act."""
    learn: bool = False

    @abstractmethod
    def form(self, typed: Collection[str]) -> str:
        """What it is, whatever the values; `typed` are texts that were entered before."""

    @abstractmethod
    def skeleton(self) -> str:
        """The same without what may be called otherwise the next time."""

    @abstractmethod
    def step(self, templates: Sequence[Template | None], ref: str) -> Step:
        """The step that does it again, with templates in its slots; None leaves what was there."""

    @property
    @abstractmethod
    def weight(self) -> int:
        """How much know-how it is: 0 for what everyone does."""

    @property
    def entered(self) -> list[str]:
        """What was typed or chosen: what is called so afterwards is called by a value."""
        return [slot.value for slot in self.slots if slot.context in {Context.FIELD, Context.CHOICE} and slot.value]

    @property
    def is_entry(self) -> bool:
        """Whether it only fills in a part of a form: in which order such is done makes no difference."""
        return False
