"""Pieces of text that the commands of `skillyard learn` print."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from skillyard.cli.safe_text import inline, one_line
from skillyard.cli.text import BAD, FAINT, GOOD, hanging, styled

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

FAILED: Final = frozenset({"needs_review", "failed"})
"""Where feedback is when learning from it did not succeed."""
WAITING_FOR_MODEL: Final = "waiting_for_model"
STAGE_STYLES: Final = {
    "committed": GOOD,
    "proposed": "yellow",
    "waiting_for_model": "yellow",
    "matching": "cyan",
    "deciding": "cyan",
    "needs_review": BAD,
    "failed": BAD,
    "rejected": FAINT,
    "no_commit": FAINT,
    "undone": FAINT,
}
_SERIOUSNESS: Final = {"error": ("✗ error  ", BAD), "warning": ("! warning", "yellow"), "note": ("· note   ", "cyan")}
_DONE: Final = {"CREATE": "new", "UPDATE": "changed", "DELETE": "deleted", "NOOP": "as it was"}
SET_A_MODEL: Final = (
    "Saved. It is learned once a model is set: `skillyard config set model PROVIDER:MODEL`, and its key in "
    "SKILLYARD_MODEL_API_KEY. Or let a connected agent take it."
)


def stage_text(stage: str) -> "Text":
    return styled((stage, STAGE_STYLES.get(stage, "")))


def counts_text(counts: Mapping[str, int]) -> "Text":
    """How much stands where, in one line."""
    parts: list[Any] = []
    for stage, number in counts.items():
        if number:
            parts += [", " if parts else "", (f"{number:,} {stage}", STAGE_STYLES.get(stage, ""))]
    return styled(*parts)


def effect_text(effect: Mapping[str, Any]) -> str:
    """`rule changed: Refunds 1.0.1`."""
    version = f" {effect['version']}" if effect["version"] else ""
    done = _DONE.get(effect["operation"], str(effect["operation"]).lower())
    return f"{effect['kind']} {done}: {one_line(effect['label'])}{version}"


def print_outcome(console: "Console", one: Mapping[str, Any]) -> None:
    """What came of a piece of feedback, in a few lines."""
    said = one_line(one["content"])
    line = styled((one["id"], "bold"), "  ", stage_text(one["stage"]), "  ", said)
    if console.is_terminal:
        line.truncate(console.width, overflow="ellipsis")
    console.print(line, soft_wrap=True)
    if one["reason"] and (one["stage"] in FAILED or not one.get("lessons")):
        console.print(f"  {hanging(console, one_line(one['reason']), '  ')}", soft_wrap=True)
    for lesson in one.get("lessons", ()):
        for told in outcome_of(lesson):
            console.print(f"  {inline(lesson['agent_id'])}: {inline(told)}", soft_wrap=True)


def outcome_of(lesson: Mapping[str, Any]) -> Sequence[str]:
    """What came of a lesson, each part in one line."""
    state = lesson["state"]
    if state == "proposed":
        return (f"{_aimed(lesson)} proposed as {lesson['proposal_id']}",)
    if lesson["effects"]:
        undone = "undone: " if state == "undone" else ""
        return tuple(f"{undone}{effect_text(effect)}" for effect in lesson["effects"])
    return (f"{state}: {one_line(lesson['reason'])}".rstrip(": "),)


def _aimed(lesson: Mapping[str, Any]) -> str:
    kinds = {"MEMORY": "a memory", "DMN_RULE": "a decision rule", "SKILL": "a skill"}
    return f"a change to {kinds.get(lesson['target'] or '', 'something')} is"


def next_of(one: Mapping[str, Any]) -> list[str]:
    """What can be done about feedback now, as commands."""
    stage = one["stage"]
    if stage == WAITING_FOR_MODEL:
        return [SET_A_MODEL]
    steps: list[str] = []
    for lesson in one.get("lessons", ()):
        if lesson["state"] == "proposed":
            steps.append(f"Decide on it: skillyard learn proposals show {lesson['proposal_id']}")
        elif lesson["state"] == "committed" and lesson["effects"]:
            for effect in lesson["effects"]:
                if effect["kind"] == "release":
                    tried = "Some sandboxes try it first. " if effect["label"].endswith("(canary)") else ""
                    steps.append(f"{tried}See how it performs: skillyard release health {effect['id']}")
            steps.append(f"Undo it: skillyard learn undo {lesson['id']}")
    if stage in FAILED or stage == "no_commit":
        steps.append(f"Try it again: skillyard learn retry {one['id']}")
    elif any(lesson["state"] == "undone" for lesson in one.get("lessons", ())):
        steps.append(f"Learn it again: skillyard learn retry {one['id']}")
    return steps


def print_remarks(console: "Console", remarks: Iterable[Mapping[str, Any]]) -> None:
    """What is to be said about a change before it is made, the more serious first."""
    order = list(_SERIOUSNESS)
    for remark in sorted(remarks, key=lambda each: order.index(str(each.get("seriousness", "note")))):
        mark, style = _SERIOUSNESS[str(remark.get("seriousness", "note"))]
        indent = " " * (len(mark) + 2)
        message = hanging(console, _remark_text(remark), indent)
        console.print(styled((f"{mark}  ", style), message), soft_wrap=True)


def _remark_text(remark: Mapping[str, Any]) -> str:
    if remark.get("kind") == "case":
        before, after = outputs_text(remark["before"]), outputs_text(remark["after"])
        return f"past case: {values_text(remark['case'])}: {before} → {after}"
    kind = f"{remark['kind']}: " if remark.get("kind") else ""
    return kind + one_line(str(remark["message"]))


def outputs_text(outputs: Any) -> str:  # noqa: ANN401 -- any JSON
    """An answer of a rule in one line."""
    if outputs is None:
        return "no answer"
    if isinstance(outputs, list):
        answers: list[Mapping[str, Any]] = outputs  # pyright: ignore[reportUnknownVariableType] -- JSON
        return "; ".join(map(values_text, answers)) or "no answer"
    return values_text(outputs)


def values_text(values: Mapping[str, Any]) -> str:
    """`grade = "vip", amount = 80000`."""
    return ", ".join(f"{inline(name)} = {value_text(value)}" for name, value in values.items())


def value_text(value: Any) -> str:  # noqa: ANN401 -- any JSON
    return inline(json.dumps(value, ensure_ascii=False))


def change_remarks(done: Mapping[str, Any]) -> list[str]:
    """What is said after a change by hand: that it is made, or that it waits."""
    if done["state"] == "proposed":
        return [f"It waits for approval: skillyard learn proposals show {done['proposal_id']}"]
    numbers = [effect["history"] for effect in done["effects"] if effect["history"] is not None]
    return [f"To undo that: skillyard registry undo {number}" for number in reversed(numbers)][:1]


def print_change(console: "Console", done: Mapping[str, Any]) -> None:
    """What a change by hand did, and what is to be said about it."""
    for effect in done["effects"]:
        console.print(styled((effect["id"], "bold"), f"  {effect_text(effect)}"), soft_wrap=True)
    if done["state"] == "proposed":
        console.print(styled((done["proposal_id"], "bold"), "  proposed"), soft_wrap=True)
    print_remarks(console, done["warnings"])
