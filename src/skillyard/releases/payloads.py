"""Payloads as values: the steps of a learned skill, the variables in them, and what must hold afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class PayloadKind(StrEnum):
    """What can be replayed. Payloads of other kinds are kept as they are, and only kept."""

    BROWSER = "browser"
    CODE = "code"
    HYBRID = "hybrid_sequence"


class StepType(StrEnum):
    BROWSER = "browser"
    SHELL = "shell"
    PYTHON = "python"


class VariableType(StrEnum):
    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    EMAIL = "email"
    URL = "url"
    PATH = "path"


@dataclass(frozen=True, kw_only=True, slots=True)
class Variable:
    """Something that differs from run to run."""

    name: str
    type: VariableType = VariableType.STRING
    description: str = ""
    secret: bool = False
    default: str | None = None
    """Never of a secret."""
    from_step: int | None = None
    """The number, from 1 on, of the step that showed its value every time: a replay is given it nevertheless."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Element:
    """What a browser step acts on, as people would name it. Refs are of one look at one page; this lasts."""

    role: str
    name: str
    """The accessible name; may hold `{{variables}}`."""
    password: bool = False
    tag: str = ""
    input_type: str = ""
    within: str = ""
    """The name of the nearest named group around it, where the same name stands on the page more than once."""


class CheckKind(StrEnum):
    """What a postcondition looks at; the value may hold `{{variables}}`."""

    EXIT_CODE = "exit_code"
    OUTPUT_CONTAINS = "output_contains"
    OUTPUT_MATCHES = "output_matches"
    """A regular expression, searched for."""
    FILE_EXISTS = "file_exists"
    FILE_CONTAINS = "file_contains"
    """The value is `path` and `text`, with a line break between."""
    TEXT_VISIBLE = "text_visible"
    URL_MATCHES = "url_matches"
    """A glob over the path and query, as `wait --url` takes it."""
    ELEMENT_PRESENT = "element_present"
    """The value is a role and a name, with a line break between."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    kind: CheckKind
    value: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step: a line of the browser or the shell (`cmd`), or Python (`code`)."""

    type: StepType
    text: str
    """With `{{name}}` where a variable stands."""
    element: Element | None = None
    checks: tuple[Check, ...] = ()
    cwd: str | None = None
    timeout: float | None = None
    when: str = ""
    """The variable on which it depends whether it is taken at all: not where that is empty or false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Payload:
    kind: PayloadKind
    steps: tuple[Step, ...]
    variables: Mapping[str, Variable] = field(default_factory=dict[str, Variable])
    preconditions: tuple[Check, ...] = ()
    postconditions: tuple[Check, ...] = ()
    network: tuple[str, ...] = ()
    """The endpoints that its executions were allowed to reach, and a replay is."""

    @property
    def unproven(self) -> Mapping[str, int]:
        """The variables of which replays prove nothing, with the numbers of the steps that show their values."""
        found = self.variables.values()
        return {variable.name: variable.from_step for variable in found if variable.from_step is not None}

    @property
    def skill_type(self) -> str:
        """As the frontmatter and the API tell it: `browser`, `code` or `hybrid`."""
        return "hybrid" if self.kind is PayloadKind.HYBRID else self.kind.value
