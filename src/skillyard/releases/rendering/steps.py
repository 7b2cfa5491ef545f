"""The steps of a payload as people and agents read them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from skillyard.releases.payloads import Check, CheckKind, Step, StepType
from skillyard.releases.rendering.markdown import code_block, code_span, prose
from skillyard.sandbox.browser_lines import line_of
from skillyard.sandbox.browser_steps import FIND_ACTIONS, BrowserStep, parse_step

MAX_SHOWN: Final = 100
"""Steps in the text; all are in the payload."""
_MAX_LINE: Final = 160
_MAX_TEXT: Final = 4_000
_LANGUAGES: Final[Mapping[StepType, str]] = {
    StepType.SHELL: "sh",
    StepType.PYTHON: "python",
    StepType.BROWSER: "text",
}
_INDENT: Final = "    "
NEW_REF: Final = "@ref"
"""A placeholder for the ref of an element in a new snapshot."""


def step_lines(steps: Sequence[Step]) -> Iterator[str]:
    """A numbered list of them."""
    for number, step in enumerate(steps[:MAX_SHOWN], start=1):
        yield from _step(number, step)
    if len(steps) > MAX_SHOWN:
        yield ""
        yield f"{len(steps) - MAX_SHOWN} more steps are in `scripts/payload.json`."


def check_text(check: Check) -> str:
    """What must hold, in words."""
    first, _, second = check.value.partition("\n")
    match check.kind:
        case CheckKind.EXIT_CODE:
            return f"it ends with the code {code_span(check.value)}"
        case CheckKind.OUTPUT_CONTAINS:
            return f"the output contains {code_span(check.value)}"
        case CheckKind.OUTPUT_MATCHES:
            return f"the output matches {code_span(check.value)}"
        case CheckKind.FILE_EXISTS:
            return f"the file {code_span(check.value)} is there"
        case CheckKind.FILE_CONTAINS:
            return f"the file {code_span(first)} contains {code_span(second)}"
        case CheckKind.TEXT_VISIBLE:
            return f"the page shows {code_span(check.value)}"
        case CheckKind.URL_MATCHES:
            return f"the address matches {code_span(check.value)}"
        case CheckKind.ELEMENT_PRESENT:
            return f"the page has the {prose(first)} {code_span(second)}"


def _step(number: int, step: Step) -> Iterator[str]:
    whole = _command(step)
    text, cut = whole[:_MAX_TEXT], len(whole) > _MAX_TEXT
    on = f" ({_element(step)})" if step.element else ""
    where = f" in {code_span(step.cwd)}" if step.cwd else ""
    where += f", only if {code_span(step.when)} is given" if step.when else ""
    if "\n" in text or len(text) > _MAX_LINE:
        yield f"{number}. **{step.type.value}**{where}:{on}"
        yield ""
        yield code_block(text, _LANGUAGES[step.type], indent=_INDENT)
        yield ""
        if cut:
            yield f"{_INDENT}The whole of it is in `scripts/payload.json`."
            yield ""
    else:
        yield f"{number}. **{step.type.value}**: {code_span(text)}{where}{on}"
    for check in step.checks:
        yield f"{_INDENT}- Then {check_text(check)}."


def _command(step: Step) -> str:
    """The step for a new page; a recorded ref is only valid for the page as it was then."""
    if step.type is not StepType.BROWSER or step.element is None:
        return step.text
    parsed = parse_step(step.text)
    at = next((index for index, argument in enumerate(parsed.arguments) if argument.startswith("@e")), None)
    if at is None:
        return step.text
    before, after = parsed.arguments[:at], parsed.arguments[at + 1 :]
    action = "text" if (parsed.verb, before) == ("get", ("text",)) else parsed.verb
    if action in FIND_ACTIONS and (action == "text" or not before) and len(after) <= 1 and step.element.name:
        options = (*parsed.options, f"name={step.element.name}", "exact")
        return line_of(BrowserStep(verb="find", arguments=("role", step.element.role, action, *after), options=options))
    return line_of(replace(parsed, arguments=(*before, NEW_REF, *after)))


def _element(step: Step) -> str:
    assert step.element is not None  # noqa: S101 -- only of steps that have one
    named = f" {code_span(step.element.name)}" if step.element.name else ""
    within = f" within {code_span(step.element.within)}" if step.element.within else ""
    return f"the {prose(step.element.role)}{named}{within}"
