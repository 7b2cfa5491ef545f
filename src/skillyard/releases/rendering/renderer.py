"""`SKILL.md` of learned skills."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from skillyard.errors import InputError
from skillyard.releases.payload_json import parse_payload, variable_document
from skillyard.releases.payloads import Payload, Step, StepType, Variable
from skillyard.releases.placeholders import literal
from skillyard.releases.rendering.markdown import code_block, code_span, one_line, prose
from skillyard.releases.rendering.names import settled_name
from skillyard.releases.rendering.steps import check_text, step_lines
from skillyard.skill.limits import MAX_DESCRIPTION
from skillyard.skill.write import compose_skill_md

PayloadLike: TypeAlias = Payload | Mapping[str, Any] | Sequence[Any] | None

_SUMMARY: Final = 500
_NOTES: Final = 4_000
_KINDS: Final[Mapping[str, str]] = {
    "browser": "Browser steps that were done by hand and are replayed with new values.",
    "code": "Shell and Python steps that were done by hand and are replayed with new values.",
    "hybrid": "Hybrid sequence of browser, shell and Python steps, replayed with new values.",
}
_REF: Final = re.compile(r"@(?:ref\b|e[0-9])")
_REFS: Final = (
    "A ref such as `@e1` is of one look at one page. For each step that needs one, take a new `snapshot -i` and use the"
    " ref that it prints for the element."
)
_TYPES: Final[Mapping[str, StepType]] = {"python": StepType.PYTHON, "shell": StepType.SHELL}


class SkillMDRenderer:
    """Renders learned skills. The same input always gives the same text."""

    @staticmethod
    def render(
        *,
        skill_key: str,
        release: object = None,
        candidate: object = None,
        payload: PayloadLike = None,
        executions: Iterable[object] = (),
    ) -> str:
        """The text of `SKILL.md`. What is missing is left out: a payload, a candidate, some of the executions.

        A release only names the skill; nothing else of it is in the text, which is rendered before there is one.
        """
        name = _said(candidate, "name") or _said(release, "name") or settled_name(skill_key)
        return render_skill(name=name, skill_key=skill_key, candidate=candidate, payload=payload, executions=executions)


def render_skill(
    *, name: str, skill_key: str, candidate: object, payload: PayloadLike, executions: Iterable[object]
) -> str:
    """The same under a name that is settled."""
    read = read_payload(payload, _said(candidate, "skill_type"))
    skill = _Skill(key=skill_key, candidate=candidate, payload=read, executions=executions)
    return compose_skill_md(name, skill.description, skill.body, {"metadata": skill.metadata})


def read_payload(value: PayloadLike, skill_type: str = "") -> Payload | None:
    """A payload however it is given; None for one that nobody here can replay."""
    if value is None or isinstance(value, Payload):
        return value
    said = isinstance(value, Mapping) and bool(value.get("kind"))
    kind = None if said else skill_type if skill_type in {"browser", "code"} else "hybrid_sequence"
    try:
        return parse_payload(value, kind=kind)
    except InputError:
        return None


class _Skill:
    """What is told of one skill."""

    def __init__(self, *, key: str, candidate: object, payload: Payload | None, executions: Iterable[object]) -> None:
        self._key = key
        self._candidate = candidate
        self._payload = payload
        self._steps = payload.steps if payload else tuple(_steps_of(executions))
        self.type = payload.skill_type if payload else (_said(candidate, "skill_type") or "code")

    @property
    def description(self) -> str:
        """What it does and when to use it, as an agent chooses by."""
        what = one_line(_said(self._candidate, "summary")).replace("<", "(").replace(">", ")")[:_SUMMARY].rstrip()
        what = what or f"{self._title}: {_KINDS.get(self.type, _KINDS['hybrid'])}"
        what = what if what.endswith((".", "!", "?", "。")) else f"{what}."
        needs = ", ".join(variable.name for variable in self._variables)
        when = f"Use when this task is to be done again{f' with other values for {needs}' if needs else ''}"
        how = "learned from recorded runs; replay it instead of doing the steps by hand."
        return f"{what} {when}; {how}"[:MAX_DESCRIPTION]

    @property
    def metadata(self) -> dict[str, Any]:
        metadata: dict[str, Any] = {"skill_type": self.type, "source": "learned", "skill_key": self._key}
        if self._variables:
            metadata["variables"] = {variable.name: _told(variable) for variable in self._variables}
        return metadata

    @property
    def body(self) -> str:
        return "\n".join(line for section in self._sections() for line in section)

    def _sections(self) -> Iterator[Iterable[str]]:
        yield (f"# {prose(self._title)}", "", prose(self._summary), "")
        if self._variables:
            yield ("## Variables", "", *_table(self._variables), "")
        lines = list(step_lines(self._steps))
        yield ("## Workflow Steps", "", *lines, "")
        if any(_REF.search(line) for line in lines):
            yield (_REFS, "")
        yield self._conditions()
        notes = _said(self._candidate, "usage_notes")[:_NOTES]
        if notes:
            yield ("## Notes", "", *(prose(line) for line in notes.splitlines()), "")
        if self._payload is not None:
            yield self._replay()

    @property
    def _variables(self) -> Sequence[Variable]:
        return list(self._payload.variables.values()) if self._payload else []

    @property
    def _title(self) -> str:
        words = one_line(self._key).replace("-", " ").replace("_", " ").split()
        return " ".join(word[:1].upper() + word[1:] for word in words) or "Learned Skill"

    @property
    def _summary(self) -> str:
        return _said(self._candidate, "summary") or _KINDS.get(self.type, _KINDS["hybrid"])

    def _conditions(self) -> Iterator[str]:
        payload = self._payload
        if payload is None or not (payload.preconditions or payload.postconditions):
            return
        yield from ("## Conditions", "")
        yield from (f"- Before: {check_text(check)}." for check in payload.preconditions)
        yield from (f"- At the end: {check_text(check)}." for check in payload.postconditions)
        yield ""

    def _replay(self) -> Iterator[str]:
        yield from ("## Replay", "")
        yield "Elements of pages are found again by role and name, each step is checked, and a page that is not what"
        yield "it was fails loudly instead of being clicked blindly."
        yield from ("", "Where an agent has this tool:", "", code_block(self._call(), "python"), "")
        yield from ("On a command line with Skillyard:", "")
        yield from (code_block(self._command(), "sh"), "")
        secrets = [variable.name for variable in self._variables if variable.secret]
        if secrets:
            named = ", ".join(code_span(name) for name in secrets)
            yield f"Secrets ({named}) are given with each run and stored nowhere: `--secret` asks for them."
            yield ""
        if any(step.type is StepType.BROWSER for step in self._steps):
            yield "`scripts/replay.py` asks a Skillyard server to take the steps, so it needs `SKILLYARD_URL` and"
            yield "`SKILLYARD_TOKEN`. A sandbox of that server cannot reach it: take the steps above there."
        else:
            yield "`scripts/replay.py` does the same without an installation: `python3 scripts/replay.py --help`."

    def _call(self) -> str:
        examples = [f"        {json.dumps(each.name)}: {_example(each)}," for each in self._variables]
        variables = "\n".join(["    variables={", *examples, "    },"]) if examples else "    variables={},"
        return f"execute_hybrid_skill(\n    skill_key={json.dumps(self._key)},\n{variables}\n)"

    def _command(self) -> str:
        flags = [
            f"--secret {variable.name}" if variable.secret else f"--var {variable.name}=…"
            for variable in self._variables
            if variable.default is None
        ]
        return " ".join(["skillyard", "release", "run", _quoted(self._key), *flags])


def _steps_of(executions: Iterable[object]) -> Iterator[Step]:
    """What was done, where there is no payload."""
    for execution in executions:
        code = literal(_said(execution, "code"))
        kind = _TYPES.get(_said(execution, "exec_type"), StepType.BROWSER)
        for text in code.splitlines() if kind is StepType.BROWSER else [code]:
            if text.strip():
                yield Step(type=kind, text=text)


def _told(variable: Variable) -> dict[str, Any]:
    document = variable_document(variable)
    return {key: one_line(value) if key == "description" else value for key, value in document.items() if value}


def _table(variables: Sequence[Variable]) -> Iterator[str]:
    yield "| Name | Type | Description |"
    yield "|------|------|-------------|"
    for variable in variables:
        told = [prose(variable.description)] if variable.description else []
        if variable.secret:
            told = [f"{one.rstrip('.')}." for one in told] + ["Secret: given with each run, never stored."]
        elif variable.default:
            told = [f"{one.rstrip('.')}." for one in told]
            told.append(f"Without it: {code_span(variable.default, cell=True)}.")
        yield f"| {code_span(variable.name, cell=True)} | {variable.type.value} | {' '.join(told)} |"


def _example(variable: Variable) -> str:
    if variable.secret or variable.default is None:
        return '"..."'
    return json.dumps(variable.default, ensure_ascii=False)


def _quoted(text: str) -> str:
    line = one_line(text)
    plain = line.replace("-", "").replace("_", "").replace(".", "").replace("/", "")
    return line if plain.isalnum() else "'" + line.replace("'", "'\\''") + "'"


def _said(source: object, name: str) -> str:
    """A text of whatever was given: a row, a value, a document; empty where there is none."""
    found = (
        cast("Mapping[str, object]", source).get(name) if isinstance(source, Mapping) else getattr(source, name, None)
    )
    return "" if found is None else str(getattr(found, "value", found))
