"""`scripts/payload.json`: the payload, and beside each step how a script runs it without putting values into code."""

import json
from typing import Any

from skillyard.errors import InputError
from skillyard.releases.filling.python import fill_python
from skillyard.releases.filling.shell import environment_name, fill_shell, program_variables
from skillyard.releases.payload_json import payload_document
from skillyard.releases.payloads import Payload, Step, StepType, VariableType
from skillyard.releases.placeholders import Scalar, placeholders
from skillyard.skill.names import hidden_characters


def script_document(payload: Payload, skill_key: str) -> str:
    """The text of the file."""
    document = payload_document(payload)
    for variable in document["variables"]:
        document["variables"][variable]["environment"] = environment_name(variable)
    for step, written in zip(payload.steps, document["steps"], strict=True):
        run = _run(step, payload)
        if run is not None:
            written["run"] = run
    text = json.dumps({"skill_key": skill_key, **document}, ensure_ascii=False, indent=2)
    return "".join(_seen(character) for character in text) + "\n"


def _run(step: Step, payload: Payload) -> dict[str, Any] | None:
    """How to run it: text that reads its values from the environment, whatever they are. None for browser steps."""
    names = sorted(placeholders(step.text))
    examples: dict[str, Scalar] = {name: _example(payload.variables[name].type) for name in names}
    if step.type is StepType.SHELL:
        command, _ = fill_shell(step.text, examples)
        plain = sorted(program_variables(step.text, examples))
        return {"command": command, **({"plain": plain} if plain else {})}
    if step.type is StepType.PYTHON:
        try:
            return {"code": fill_python(step.text, examples, secrets={name: environment_name(name) for name in names})}
        except InputError:
            return None  # bytes that hold a value: only the yard writes those
    return None


def _example(kind: VariableType) -> Scalar:
    return {VariableType.INTEGER: 1, VariableType.NUMBER: 1.0, VariableType.BOOLEAN: True}.get(kind, "x")


def _seen(character: str) -> str:
    return f"\\u{ord(character):04x}" if character != "\n" and _is_hidden(character) else character


def _is_hidden(character: str) -> bool:
    return not character.isascii() and ord(character) < 0x10000 and bool(hidden_characters(character))  # noqa: PLR2004
