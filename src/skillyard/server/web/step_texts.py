"""Steps and variables as lines of text, to be compared."""

from collections.abc import Iterable, Mapping
from typing import Any

from skillyard.server.yard.skills_insight_schemas import StepDifference, VariableDifference


def texts_of_steps(differences: Iterable[StepDifference]) -> tuple[list[str], list[str]]:
    """The lines of the old steps and those of the new."""
    told = list(differences)
    return (
        [line for each in told for line in _step(each.old_step)],
        [line for each in told for line in _step(each.new_step)],
    )


def texts_of_variables(differences: Iterable[VariableDifference]) -> tuple[list[str], list[str]]:
    told = list(differences)
    return (
        [line for each in told for line in _variable(each.name, each.old)],
        [line for each in told for line in _variable(each.name, each.new)],
    )


def _step(step: Mapping[str, Any] | None) -> list[str]:
    """What is done, and below it, set in, with what and under which conditions."""
    if step is None:
        return []
    first, *rest = str(step.get("cmd", step.get("code", ""))).split("\n")
    more = [f"    {name}: {_said(value)}" for name, value in step.items() if name not in {"type", "cmd", "code"}]
    return [f"{step['type']}: {first}", *(f"    {line}" for line in rest), *more]


def _variable(name: str, variable: Mapping[str, Any] | None) -> list[str]:
    if variable is None:
        return []
    kind = "secret" if variable.get("secret") else variable.get("type", "string")
    default = "" if variable.get("default") is None else f" = {variable['default']}"
    said = f"  # {variable['description']}" if variable.get("description") else ""
    return [f"{name}: {kind}{default}{said}".replace("\n", " ")]


def _said(value: Any) -> str:  # noqa: ANN401 -- any JSON
    if isinstance(value, Mapping):
        pairs: Mapping[str, Any] = value  # pyright: ignore[reportUnknownVariableType] -- any JSON
        if set(pairs) == {"kind", "value"}:  # a condition
            return _said(f"{pairs['kind']} {pairs['value']}")
        return ", ".join(f"{name} {each}" for name, each in pairs.items()).replace("\n", " ")
    if isinstance(value, list):
        return "; ".join(_said(each) for each in value)  # pyright: ignore[reportUnknownVariableType] -- as above
    return str(value).replace("\n", " ")
