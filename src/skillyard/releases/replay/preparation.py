"""The steps of a payload with values in them, all of them before the first one is taken."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from skillyard.errors import InputError
from skillyard.releases.filling.browser import fill_browser
from skillyard.releases.filling.python import fill_python
from skillyard.releases.filling.shell import environment_name, fill_shell
from skillyard.releases.payloads import Element, Payload, Step, StepType
from skillyard.releases.placeholders import Scalar, fill_text, placeholders, text_of
from skillyard.sandbox.browser_steps import TYPING, BrowserStep, parse_step


@dataclass(frozen=True, kw_only=True, slots=True)
class BrowserWork:
    """A browser step to take."""

    index: int
    source: Step
    step: BrowserStep
    element: Element | None
    secret: bool = False
    """Whether a secret is typed."""
    refusal: str = ""
    """Why it is not taken at all."""
    left_out: bool = False
    """Whether it is not wanted this time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeWork:
    """A command or code to run."""

    index: int
    source: Step
    text: str
    environment: Mapping[str, str]
    secrets: Mapping[str, str]
    left_out: bool = False


Work: TypeAlias = BrowserWork | CodeWork


def prepare(payload: Payload, values: Mapping[str, Scalar]) -> list[Work]:
    """Everything that is to be done. A value that cannot be used is refused now."""
    secrets = {name for name, variable in payload.variables.items() if variable.secret}
    return [_work(index, step, values, secrets) for index, step in enumerate(payload.steps)]


def _work(index: int, step: Step, values: Mapping[str, Scalar], secrets: Collection[str]) -> Work:
    try:
        if step.type is StepType.BROWSER:
            return _browser(index, step, values, secrets)
        return _code(index, step, values, secrets)
    except InputError as error:
        raise type(error)(f"steps[{index}].{error.message}", hint=error.hint, details=error.details) from None


def _code(index: int, step: Step, values: Mapping[str, Scalar], secrets: Collection[str]) -> CodeWork:
    used = placeholders(step.text)
    hidden = {name: environment_name(name) for name in used if name in secrets}
    if step.type is StepType.SHELL:
        text, environment = fill_shell(step.text, values)
    else:
        text = fill_python(step.text, values, secrets=hidden)
        environment = {environment_name(name): text_of(values[name]) for name in hidden}
    return CodeWork(
        index=index,
        source=step,
        text=text,
        environment={name: value for name, value in environment.items() if name not in hidden.values()},
        secrets={name: value for name, value in environment.items() if name in hidden.values()},
        left_out=_is_left_out(step, values),
    )


def _browser(index: int, step: Step, values: Mapping[str, Scalar], secrets: Collection[str]) -> BrowserWork:
    written = parse_step(step.text)
    element = step.element or _named(written)
    used = placeholders(step.text) & set(secrets)
    typed = _typed_text(written)
    elsewhere = replace(written, arguments=written.arguments[:-1]) if typed is not None else written
    refusal = ""
    if used & placeholders("\n".join((*elsewhere.arguments, *elsewhere.options))) or (
        element and (placeholders(element.name) | placeholders(element.within)) & set(secrets)
    ):
        refusal = "A secret is only typed into a field of a page; this step uses one otherwise."
    return BrowserWork(
        index=index,
        source=step,
        step=fill_browser(written, values),
        element=_filled(element, values) if element else None,
        secret=bool(used),
        refusal=refusal,
        left_out=_is_left_out(step, values),
    )


def _is_left_out(step: Step, values: Mapping[str, Scalar]) -> bool:
    value = values[step.when] if step.when else None
    return value == "" or value is False


def _typed_text(step: BrowserStep) -> str | None:
    """The text that a step types, always its last argument."""
    typing = step.verb in TYPING or (step.verb == "find" and bool(set(step.arguments[2:-1]) & TYPING))
    return step.arguments[-1] if typing else None


def _named(step: BrowserStep) -> Element | None:
    """What a step itself says of the element: `find role button click --name Save`."""
    name = next((option.removeprefix("name=") for option in step.options if option.startswith("name=")), None)
    if step.verb != "find" or step.arguments[0] != "role" or name is None:
        return None
    return Element(role=step.arguments[1], name=name)


def _filled(element: Element, values: Mapping[str, Scalar]) -> Element:
    def value_of(name: str) -> str:
        return text_of(values[name])

    return replace(element, name=fill_text(element.name, value_of), within=fill_text(element.within, value_of))
