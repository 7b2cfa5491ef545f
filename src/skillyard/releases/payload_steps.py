"""One step of a payload, from JSON and to it."""

from collections.abc import Sequence
from typing import Any, Final

from skillyard.errors import InputError
from skillyard.releases.payload_checks import checks_document, parse_checks
from skillyard.releases.payload_fields import Fields, refuse
from skillyard.releases.payloads import Element, Step, StepType
from skillyard.releases.placeholders import tidy
from skillyard.sandbox.browser_steps import parse_step
from skillyard.sandbox.workspace_paths import workspace_path

MAX_TEXT: Final = 200_000
"""Characters of one step."""
MAX_SECONDS: Final = 600
MAX_NAME: Final = 500
_KNOWN: Final = ("type", "cmd", "code", "element", "postcondition", "postconditions", "cwd", "timeout", "when")
_ELEMENT_FIELDS: Final = ("role", "name", "password", "tag", "input_type", "within")


def parse_step_document(value: object, where: str, *, allowed: Sequence[StepType]) -> Step:
    """A step: an object, or the command alone where only the browser is meant."""
    if isinstance(value, str) and StepType.BROWSER in allowed:
        value = {"type": "browser", "cmd": value}
    fields = Fields(value, where, _KNOWN)
    written = [name for name in ("cmd", "code") if fields.has(name)]
    if len(written) != 1:
        refuse(where, written, "is not one of cmd and code", 'Browser and shell steps have "cmd", python has "code".')
    kind = _type(fields, written[0], allowed)
    text = fields.text(written[0], most=MAX_TEXT, least=1)
    if not text.strip():
        refuse(fields.at(written[0]), text, "is blank", "Write what is to be done.")
    if kind is StepType.BROWSER:
        text = _browser_command(tidy(text), fields.at(written[0]))
    elif fields.has("element"):
        refuse(fields.at("element"), "element", "is of browser steps", "Leave it out.")
    return Step(
        type=kind,
        text=text,
        element=_element(fields.get("element"), fields.at("element")),
        checks=(
            *parse_checks(fields.get("postcondition"), fields.at("postcondition"), of=kind),
            *parse_checks(fields.get("postconditions"), fields.at("postconditions"), of=kind),
        ),
        cwd=_folder(fields, kind),
        timeout=_seconds(fields),
        when=fields.text("when", most=MAX_NAME),
    )


def step_document(step: Step) -> dict[str, Any]:
    document: dict[str, Any] = {
        "type": step.type.value,
        ("code" if step.type is StepType.PYTHON else "cmd"): step.text,
    }
    if step.element is not None:
        document["element"] = element_document(step.element)
    if step.checks:
        document["postcondition"] = checks_document(step.checks)
    if step.cwd is not None:
        document["cwd"] = step.cwd
    if step.timeout is not None:
        document["timeout"] = step.timeout
    if step.when:
        document["when"] = step.when
    return document


def element_document(element: Element) -> dict[str, Any]:
    document: dict[str, Any] = {"role": element.role, "name": element.name}
    for name in ("password", "tag", "input_type", "within"):
        if getattr(element, name):
            document[name] = getattr(element, name)
    return document


def _type(fields: Fields, written: str, allowed: Sequence[StepType]) -> StepType:
    given = fields.get("type")
    known = ", ".join(kind.value for kind in allowed)
    if given is None:
        if len(allowed) == 1:
            return allowed[0]
        if StepType.BROWSER not in allowed:
            return StepType.PYTHON if written == "code" else StepType.SHELL
        refuse(fields.at("type"), None, "is missing", f"Use one of: {known}.")
    try:
        kind = StepType(str(given))
    except ValueError:
        refuse(fields.at("type"), given, "is no type of step", f"Use one of: {known}.")
    if kind not in allowed:
        refuse(fields.at("type"), given, "is no step of this kind of payload", f"Use {known}, or hybrid_sequence.")
    return kind


def _browser_command(text: str, where: str) -> str:
    try:
        parse_step(text)
    except InputError as error:
        raise type(error)(
            f"{where}: {error.message.removeprefix('cmd: ')}",
            hint=error.hint,
            details={**error.details, "field": where},
        ) from None
    return text


def _element(value: object, where: str) -> Element | None:
    if value is None:
        return None
    fields = Fields(value, where, _ELEMENT_FIELDS)
    return Element(
        role=fields.text("role", most=MAX_NAME, least=1),
        name=fields.text("name", most=MAX_NAME),
        password=fields.flag("password"),
        tag=fields.text("tag", most=MAX_NAME),
        input_type=fields.text("input_type", most=MAX_NAME),
        within=fields.text("within", most=MAX_NAME),
    )


def _folder(fields: Fields, kind: StepType) -> str | None:
    if not fields.has("cwd"):
        return None
    folder = fields.text("cwd", most=MAX_NAME, least=1)
    if kind is not StepType.SHELL:
        refuse(fields.at("cwd"), folder, "is of shell steps", "Leave it out.")
    workspace_path(folder, field=fields.at("cwd"))
    return folder


def _seconds(fields: Fields) -> float | None:
    value = fields.get("timeout")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_SECONDS:
        refuse(fields.at("timeout"), value, "is no time", f"Use seconds, up to {MAX_SECONDS}.")
    return float(value)
