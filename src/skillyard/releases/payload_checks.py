"""Conditions of a payload, from JSON and to it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from skillyard.releases.payload_fields import Fields, listed, refuse
from skillyard.releases.payloads import Check, CheckKind, StepType
from skillyard.releases.placeholders import fill_text

MAX_CHECKS: Final = 20
MAX_VALUE: Final = 4_000
_KNOWN: Final = ("kind", "value", "path", "text", "role", "name")
_PAIRS: Final[Mapping[CheckKind, tuple[str, str]]] = {
    CheckKind.FILE_CONTAINS: ("path", "text"),
    CheckKind.ELEMENT_PRESENT: ("role", "name"),
}
"""Kinds whose value is two things, which may be told apart by these names."""
OF_OUTPUT: Final = frozenset({CheckKind.OUTPUT_CONTAINS, CheckKind.OUTPUT_MATCHES})
OF_PAGES: Final = frozenset({CheckKind.TEXT_VISIBLE, CheckKind.URL_MATCHES, CheckKind.ELEMENT_PRESENT})
_OF_RUNS: Final = frozenset({CheckKind.EXIT_CODE})


def parse_checks(value: object, where: str, *, of: StepType | None = None) -> tuple[Check, ...]:
    """One condition or a list of them; `of` is the type of the step that they are about."""
    if value is None:
        return ()
    if isinstance(value, Mapping):
        return (_check(cast("object", value), where, of),)
    entries = listed(value, where, MAX_CHECKS)
    return tuple(_check(entry, f"{where}[{index}]", of) for index, entry in enumerate(entries))


def checks_document(checks: Sequence[Check]) -> list[dict[str, Any]]:
    return [{"kind": check.kind.value, "value": check.value} for check in checks]


def _check(value: object, where: str, of: StepType | None) -> Check:
    fields = Fields(value, where, _KNOWN)
    kind = _kind(fields)
    if of is None and kind in _OF_RUNS:
        refuse(f"{where}.kind", kind.value, "is about one step", "Write it as the postcondition of a step.")
    if of is StepType.BROWSER and kind in _OF_RUNS:
        refuse(f"{where}.kind", kind.value, "is nothing that browser steps have", "Use text_visible or url_matches.")
    if of in {StepType.SHELL, StepType.PYTHON} and kind in OF_PAGES:
        refuse(f"{where}.kind", kind.value, "is about a page", "Write it as the postcondition of a browser step.")
    text = _value(fields, kind)
    _require_sense(kind, text, f"{where}.value")
    return Check(kind=kind, value=text)


def _kind(fields: Fields) -> CheckKind:
    written = fields.get("kind")
    try:
        return CheckKind(str(written))
    except ValueError:
        known = ", ".join(kind.value for kind in CheckKind)
        refuse(fields.at("kind"), written, "is no kind of condition", f"Use one of: {known}.")


def _value(fields: Fields, kind: CheckKind) -> str:
    given = fields.get("value")
    if kind is CheckKind.EXIT_CODE and isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    pair = _PAIRS.get(kind)
    if pair and not fields.has("value"):
        return "\n".join(fields.text(name, most=MAX_VALUE, least=1) for name in pair)
    return fields.text("value", most=MAX_VALUE, least=1)


def _require_sense(kind: CheckKind, text: str, where: str) -> None:
    if kind is CheckKind.EXIT_CODE and not re.fullmatch(r"[0-9]{1,3}", text):
        refuse(where, text, "is not the number that a command ends with", "Use 0 to 255.")
    if kind in _PAIRS and not all(part for part in text.partition("\n")):
        first, second = _PAIRS[kind]
        refuse(where, text, "is not two things with a line break between", f'Or write "{first}" and "{second}".')
    if kind is CheckKind.OUTPUT_MATCHES:
        try:
            re.compile(fill_text(text, lambda _: "x"))
        except (re.error, RecursionError, OverflowError) as error:
            refuse(where, text, f"is not a regular expression ({error})", "Correct it, or use output_contains.")
