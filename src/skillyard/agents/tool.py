"""A tool that a model may call, independent of any framework."""

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, TypeGuard, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, create_model

from skillyard.errors import InputError, SkillyardError
from skillyard.skill.paths import printable

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

Answer: TypeAlias = JsonValue
"""A text, or any JSON value."""
_SHOWN_VALUE: Final = 100
_SHOWN_PROBLEMS: Final = 5
_FIELD: Final = "argument_"
_OUTCOME: Final = frozenset({"success", "output", "error"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """A tool: what a model reads about it, and the function behind it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """The arguments as a JSON schema of an object."""
    call: Callable[..., Answer]
    """Takes the arguments by name; raises `SkillyardError`, which a model is told in its own words."""
    read_only: bool = True
    """Calling it changes nothing that anyone would miss."""
    destructive: bool = False
    """Calling it may take away or overwrite something."""
    idempotent: bool = True
    """Calling it again with the same arguments changes nothing more."""
    title: str = ""
    """What people see it as."""
    shorter: Callable[[int], str] | None = None
    """Writes the description in fewer characters, where it is not the same for ever."""

    def description_within(self, most: int) -> str:
        """The description in at most so many characters."""
        if len(self.description) <= most:
            return self.description
        return self.shorter(most) if self.shorter else f"{self.description[: most - 1]}…"

    def text(self, arguments: Mapping[str, Any]) -> str:
        """The answer as a model reads it."""
        return as_text(self.call(**arguments))

    def text_or_error(self, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """The answer as a model reads it, or the error it can act on; and whether it went well."""
        try:
            answer = self.call(**arguments)
            return as_text(answer), went_well(answer)
        except SkillyardError as error:
            return told(error), False


def tool_of(
    function: Callable[..., Any],
    *,
    name: str = "",
    description: str = "",
    read_only: bool = True,
    destructive: bool = False,
    idempotent: bool = True,
    title: str = "",
) -> Tool:
    """A function as a tool: its docstring is what a model reads, its signature what arguments there are.

    `Annotated[str, "what it is"]` describes an argument; pydantic's `Field` may say more. Arguments are checked
    before the function is called, and what is wrong with them is told field by field. What is null counts as not
    given: some models name every argument that there is.
    """
    called = name or function.__name__
    model = _arguments_of(called, function)

    def call(**arguments: Any) -> Answer:  # noqa: ANN401 -- whatever a model sends
        try:
            checked = model.model_validate({name: value for name, value in arguments.items() if value is not None})
        except ValidationError as error:
            raise _wrong_arguments(called, error, model) from None
        return function(**{name: getattr(checked, field) for name, field in _fields_of(model)})

    return Tool(
        name=called,
        description=description or inspect.cleandoc(function.__doc__ or ""),
        parameters=_schema_of(model),
        call=call,
        read_only=read_only,
        destructive=destructive,
        idempotent=idempotent,
        title=title,
    )


def as_text(answer: Answer) -> str:
    """An answer as a model reads it: of an outcome its output or error as it was written; JSON for other values."""
    if _is_outcome(answer):
        return str(answer["output"] or answer["error"])
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def went_well(answer: Answer) -> bool:
    """Whether an answer tells of no failure."""
    return not _is_outcome(answer) or bool(answer["success"])


def told(error: SkillyardError) -> str:
    """An error as a model reads it: what is wrong and what to do about it, but not what a store said of itself."""
    public = error.as_public_dict()
    return f"{public['message']} {public['hint']}".rstrip()


def _is_outcome(answer: Answer) -> TypeGuard[dict[str, JsonValue]]:
    """Whether it is what programs read that a tool did: `success`, `output` and `error`."""
    return isinstance(answer, dict) and answer.keys() == _OUTCOME


def _arguments_of(name: str, function: Callable[..., Any]) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        # Under another name: an argument may be called like something that every model has, such as `copy`.
        fields[f"{_FIELD}{parameter.name}"] = (_described(hints[parameter.name]), Field(default, alias=parameter.name))
    return create_model(f"{name}_arguments", __config__=ConfigDict(extra="forbid"), **fields)


def _fields_of(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """The name of each argument, and the field that holds it."""
    return ((field.removeprefix(_FIELD), field) for field in model.model_fields)


def _described(hint: Any) -> Any:  # noqa: ANN401 -- a type as it is written
    """The type with a plain text beside it made its description."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *notes = get_args(hint)
    told_as = [Field(description=note) if isinstance(note, str) else note for note in notes]
    return Annotated[kind, *told_as]


def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    schema.pop("title", None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)
    schema.setdefault("properties", {})
    return schema


def _wrong_arguments(name: str, error: ValidationError, model: type[BaseModel]) -> InputError:
    problems = error.errors(include_url=False)
    shown = "; ".join(map(_problem, problems[:_SHOWN_PROBLEMS]))
    more = f"; and {len(problems) - _SHOWN_PROBLEMS} more" if len(problems) > _SHOWN_PROBLEMS else ""
    fields: dict[str, FieldInfo] = model.model_fields
    takes = ", ".join(
        name if fields[field].is_required() else f"{name} (optional)" for name, field in _fields_of(model)
    )
    return InputError(
        f"{name} cannot be called like this: {shown}{more}.",
        hint=f"It takes: {takes}." if takes else "It takes no arguments.",
        details={"field": _field(problems[0]), "tool": name},
    )


def _problem(problem: "ErrorDetails") -> str:
    field = _field(problem)
    if problem["type"] == "missing":
        return f"{field} is missing"
    if problem["type"] == "extra_forbidden":
        return f"there is no argument {field!r}"
    message = problem["msg"]
    return f"{field} is {_shown(repr(problem['input']))}: {message[:1].lower()}{message[1:]}"


def _field(problem: "ErrorDetails") -> str:
    return _shown(".".join(map(str, problem["loc"])))


def _shown(text: str) -> str:
    return printable(text if len(text) <= _SHOWN_VALUE else f"{text[:_SHOWN_VALUE]}…")
