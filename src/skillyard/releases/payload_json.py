"""Payloads from JSON, validated, and to JSON: the shapes that clients send, and the one that is kept."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from skillyard.errors import InputError
from skillyard.releases.filling.browser import fill_browser
from skillyard.releases.filling.python import fill_python
from skillyard.releases.filling.shell import environment_name, fill_shell
from skillyard.releases.payload_checks import OF_OUTPUT, OF_PAGES, checks_document, parse_checks
from skillyard.releases.payload_fields import Fields, listed, refuse, within
from skillyard.releases.payload_steps import parse_step_document, step_document
from skillyard.releases.payloads import Check, Payload, PayloadKind, Step, StepType, Variable, VariableType
from skillyard.releases.placeholders import Scalar, is_variable_name, placeholders, text_of
from skillyard.releases.variable_values import checked_value
from skillyard.sandbox.browser_steps import parse_step
from skillyard.sandbox.network import parse_network

MAX_STEPS: Final = 500
MAX_VARIABLES: Final = 64
MAX_TEXT: Final = 1024 * 1024
"""Characters of all steps together."""
MAX_DESCRIPTION: Final = 1_024

_KNOWN: Final = (
    *("kind", "variables", "steps", "commands", "code", "cmd"),
    *("preconditions", "postconditions", "network"),
)
_VARIABLE_FIELDS: Final = ("type", "description", "secret", "default", "from_step")


def is_replayable(kind: str) -> bool:
    """Whether payloads of a kind are understood; others are only kept."""
    return kind in {known.value for known in PayloadKind}


def parse_payload(document: object, *, kind: str | None = None) -> Payload:
    """The payload that a document is. `kind` is said beside it where it is not said in it."""
    whole: object = {"steps": cast("object", document)} if isinstance(document, list | tuple) else document
    fields = Fields(whole, "", _KNOWN)
    settled = _kind(fields, kind)
    steps = _steps(fields, settled)
    variables = _variables(fields)
    payload = Payload(
        kind=settled,
        steps=steps,
        variables=variables,
        preconditions=parse_checks(fields.get("preconditions"), "preconditions"),
        postconditions=parse_checks(fields.get("postconditions"), "postconditions"),
        network=_network(fields.get("network")),
    )
    within("steps", sum(len(step.text) for step in steps), MAX_TEXT, "characters in all")
    _require_declared(payload)
    _require_conditions(payload)
    _require_fillable(payload)
    _require_page(payload)
    return payload


def payload_document(payload: Payload) -> dict[str, Any]:
    """The document of a payload: `parse_payload` of it is the payload again."""
    document: dict[str, Any] = {
        "kind": payload.kind.value,
        "variables": {name: variable_document(variable) for name, variable in payload.variables.items()},
        "steps": [step_document(step) for step in payload.steps],
    }
    for name in ("preconditions", "postconditions"):
        checks: Sequence[Check] = getattr(payload, name)
        if checks:
            document[name] = checks_document(checks)
    if payload.network:
        document["network"] = {"allow": list(payload.network)}
    return document


def variable_document(variable: Variable) -> dict[str, Any]:
    document: dict[str, Any] = {"type": variable.type.value, "description": variable.description}
    if variable.secret:
        document["secret"] = True
    if variable.default is not None:
        document["default"] = variable.default
    if variable.from_step is not None:
        document["from_step"] = variable.from_step
    return document


def _kind(fields: Fields, said: str | None) -> PayloadKind:
    written = fields.get("kind")
    if written is not None and said is not None and written != said:
        refuse("kind", written, f"is not what stands beside the payload ({said!r})", "Say it once.")
    wanted = said if written is None else written
    try:
        return PayloadKind(cast("str", wanted))
    except ValueError:
        known = ", ".join(kind.value for kind in PayloadKind)
        refuse("kind", wanted, "is no kind of payload that can be replayed", f"Use one of: {known}.")


def _steps(fields: Fields, kind: PayloadKind) -> tuple[Step, ...]:
    given = [name for name in ("steps", "commands", "code", "cmd") if fields.has(name)]
    if len(given) != 1:
        refuse("steps", given, "is not one way to say the steps", 'Write them as "steps": [{"type", "cmd" or "code"}].')
    name = given[0]
    entries = [{name: fields.get(name)}] if name in {"code", "cmd"} else listed(fields.get(name), name, MAX_STEPS)
    if not entries:
        refuse(name, [], "is empty", "A payload has at least one step.")
    allowed = {
        PayloadKind.BROWSER: (StepType.BROWSER,),
        PayloadKind.CODE: (StepType.PYTHON, StepType.SHELL),
        PayloadKind.HYBRID: tuple(StepType),
    }[kind]
    return tuple(parse_step_document(entry, f"{name}[{index}]", allowed=allowed) for index, entry in enumerate(entries))


def _variables(fields: Fields) -> dict[str, Variable]:
    value = fields.get("variables")
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        refuse("variables", value, "is not an object", 'Write it as {"name": {"type": "string"}}.')
    found = cast("Mapping[object, object]", value)
    within("variables", len(found), MAX_VARIABLES, "entries")
    return {str(name): _variable(name, entry) for name, entry in found.items()}


def _variable(name: object, value: object) -> Variable:
    if not isinstance(name, str) or not is_variable_name(name) or unicodedata.normalize("NFKC", name) != name:
        refuse("variables", name, "is no name", "Use up to 64 letters, digits and _, beginning with a letter.")
    where = f"variables.{name}"
    fields = Fields(value, where, _VARIABLE_FIELDS)
    variable = Variable(
        name=name,
        type=_type(fields),
        description=fields.text("description", most=MAX_DESCRIPTION),
        secret=fields.flag("secret"),
        from_step=_from_step(fields),
    )
    default = fields.get("default")
    if default is None:
        return variable
    if variable.secret:
        raise InputError(
            f"{where}.default: a secret has no default.",
            hint="Leave it out; the value is given with each run.",
            details={"field": f"{where}.default", "value": "***"},
        )
    checked: Scalar = checked_value(variable, default, field=f"{where}.default")
    return replace(variable, default=default if isinstance(default, str) else text_of(checked))


def _from_step(fields: Fields) -> int | None:
    value = fields.get("from_step")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_STEPS:
        refuse(fields.at("from_step"), value, "is no number of a step", "Count the steps from 1, or leave it out.")
    return value


def _type(fields: Fields) -> VariableType:
    written = fields.get("type")
    if written is None:
        return VariableType.STRING
    try:
        return VariableType(str(written))
    except ValueError:
        known = ", ".join(kind.value for kind in VariableType)
        refuse(fields.at("type"), written, "is no type", f"Use one of: {known}.")


def _network(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    allow = cast("object", {"allow": value}) if isinstance(value, list | tuple) else value
    return tuple(str(endpoint) for endpoint in parse_network(allow).allow)


def _require_declared(payload: Payload) -> None:
    texts = [(f"steps[{index}]", text) for index, step in enumerate(payload.steps) for text in _texts(step)]
    texts += [("preconditions", check.value) for check in payload.preconditions]
    texts += [("postconditions", check.value) for check in payload.postconditions]
    for where, text in texts:
        for name in sorted(placeholders(text) - set(payload.variables)):
            refuse(
                where,
                f"{{{{{name}}}}}",
                "names no variable",
                f'Declare it: "variables": {{"{name}": {{"type": "string"}}}}; or, if it is no placeholder,'
                f" write {{{{!{name}}}}}.",
            )


def _require_conditions(payload: Payload) -> None:
    """Refuses steps that depend on a variable that there is not."""
    for index, step in enumerate(payload.steps):
        if step.when and step.when not in payload.variables:
            known = ", ".join(payload.variables) or "none"
            refuse(f"steps[{index}].when", step.when, "names no variable", f"Name one of those declared: {known}.")


def _require_fillable(payload: Payload) -> None:
    """Refuses placeholders in places that no value can be put into."""
    examples: dict[str, Scalar] = {
        name: 1 if variable.type in {VariableType.INTEGER, VariableType.NUMBER} else "x"
        for name, variable in payload.variables.items()
    }
    secrets = {name: environment_name(name) for name, variable in payload.variables.items() if variable.secret}
    for index, step in enumerate(payload.steps):
        if not placeholders(step.text):
            continue
        try:
            if step.type is StepType.BROWSER:
                fill_browser(parse_step(step.text), examples)
            elif step.type is StepType.SHELL:
                fill_shell(step.text, examples)
            else:
                fill_python(step.text, examples, secrets=secrets)
        except InputError as error:
            where = f"steps[{index}].{error.details.get('field', 'cmd')}"
            message = f"steps[{index}].{error.message}"
            raise InputError(message, hint=error.hint, details={**error.details, "field": where}) from None


def _require_page(payload: Payload) -> None:
    """Refuses conditions about a page, or about output, where there is none to look at."""
    browses = any(step.type is StepType.BROWSER for step in payload.steps)
    for name, checks in (("preconditions", payload.preconditions), ("postconditions", payload.postconditions)):
        for check in checks:
            if check.kind in OF_PAGES and not browses:
                refuse(name, check.kind.value, "is about a page", "No step opens one: leave it out.")
            if check.kind in OF_OUTPUT and name == "preconditions":
                refuse(name, check.kind.value, "is about what steps say", "Write it under postconditions.")


def _texts(step: Step) -> list[str]:
    named = [step.element.name, step.element.within] if step.element else []
    return [step.text, *named, *(check.value for check in step.checks)]
