"""A task as it can be replayed: the steps of one time that it was done, with variables for what differed."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from skillyard.errors import SkillyardError
from skillyard.releases.mining.acts import Act, Context, Look, Ref, Template, written
from skillyard.releases.mining.argument_names import arguments_named, better_named
from skillyard.releases.mining.browser_acts import BrowserAct
from skillyard.releases.mining.classes import digest_of
from skillyard.releases.mining.derived import mark_derived
from skillyard.releases.mining.expressions import differs, substituted
from skillyard.releases.mining.postconditions import Times, end_checks, file_checks, is_volatile, output_check
from skillyard.releases.mining.shell_acts import ShellAct
from skillyard.releases.mining.table_rows import known_by
from skillyard.releases.mining.tasks import Occurrence, Task
from skillyard.releases.mining.titles import listed_on, opened_for
from skillyard.releases.mining.units import ordered
from skillyard.releases.mining.variables import ENTERED, Bound, Column, Found, bind, optional_flag
from skillyard.releases.payload_json import parse_payload, payload_document
from skillyard.releases.payloads import Payload, PayloadKind, Step, StepType
from skillyard.releases.placeholders import literal
from skillyard.sandbox.capture.markers import has_marker


class NotReplayableError(Exception):
    """The task cannot be done again as it was done; the message says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Assembled:
    canonical: str
    variants: tuple[str, ...]
    payload: Payload
    found: Mapping[str, Found]
    chosen: Occurrence
    """The time by whose texts it is told."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Lined:
    """The times that a task was done, act beside act."""

    rows: tuple[tuple[Act | None, ...], ...]
    """For each act of the chosen time, in the common order, the one of each time; None where that time had none."""
    forms: tuple[str, ...]
    at: int


def assemble(task: Task, network: Sequence[str]) -> Assembled:
    """What is to be replayed of a task."""
    at = _chosen(task.occurrences)
    chosen = task.occurrences[at]
    lined = _lined(task.occurrences, at)
    columns, places = _columns(lined, [one.all for one in task.occurrences])
    bound = bind(columns, at)
    mark_derived(bound.variables, task.occurrences, at)
    templates: dict[int, list[Template | None]] = {}
    for (row, index), template in zip(places, bound.templates, strict=True):
        act = lined.rows[row][at]
        if act is not None:
            templates.setdefault(id(act), [None] * len(act.slots))[index] = template
    conditions = _conditions(lined, bound, templates)
    payload = _Steps(task.occurrences, at, bound, templates, conditions).payload(network)
    canonical = digest_of(lined.forms)
    variants = tuple(sorted({*_exact(task.occurrences), *_grown(lined)} - {canonical}))
    return Assembled(canonical=canonical, variants=variants, payload=payload, found=bound.variables, chosen=chosen)


def _exact(occurrences: Sequence[Occurrence]) -> Iterator[str]:
    """What each time is on its own, as things were called and done then, without what was left out."""
    for one in occurrences:
        own = [replace(act, same_as=act.done_as) if isinstance(act, BrowserAct) else act for act in one.all]
        yield digest_of([form for form, act in ordered(own) if not _is_left_out(act)])


def _grown(lined: _Lined) -> Iterator[str]:
    """What the task was taken for after each time, before the next ones showed what else may be filled in."""
    first = [
        next((time for time, act in enumerate(row) if act is not None and not _is_left_out(act)), 0)
        for row in lined.rows
    ]
    for time in sorted(set(first)):
        yield digest_of([form for form, since in zip(lined.forms, first, strict=True) if since <= time])


def _chosen(occurrences: Sequence[Occurrence]) -> int:
    """The time that was looked at and waited for the most, and is complete: looks are where a replay sees anew."""
    longest = max(len(one.before) for one in occurrences)
    candidates = [index for index, one in enumerate(occurrences) if len(one.before) == longest]
    return max(candidates, key=lambda index: (_looks_in(occurrences[index]), index))


def _looks_in(occurrence: Occurrence) -> int:
    return sum(look.kept and look.verb != "open" for act in occurrence.all for look in act.looks)


def _lined(occurrences: Sequence[Occurrence], at: int) -> _Lined:
    chosen = ordered(occurrences[at].all)
    others = [ordered(one.all) for one in occurrences]
    own = len(ordered(occurrences[at].acts))
    rows: list[tuple[Act | None, ...]] = []
    forms: list[str] = []
    for index, (form, _) in enumerate(chosen):
        from_end = len(chosen) - index
        row: list[Act | None] = []
        for other in others:
            there = other[-from_end] if from_end <= len(other) else None
            alike = there is not None and (from_end <= own or there[0] == form)
            row.append(there[1] if there is not None and alike else None)
        said = {others[time][-from_end][0] for time, act in enumerate(row) if act is not None}
        forms.append(form if len(said) == 1 else f"~{chosen[index][1].skeleton()}")
        rows.append(tuple(row))
    return _Lined(rows=tuple(rows), forms=tuple(forms), at=at)


def _columns(lined: _Lined, times: Sequence[Sequence[Act]]) -> tuple[list[Column], list[tuple[int, int]]]:
    """The places of values, in the order in which they were filled at the chosen time."""
    columns: list[Column] = []
    places: list[tuple[int, int]] = []
    chosen_acts = times[lined.at]
    order = {id(act): number for number, act in enumerate(chosen_acts)}
    known = arguments_named(chosen_acts)
    for number, row in sorted(enumerate(lined.rows), key=lambda pair: order[id(pair[1][lined.at])]):
        chosen = row[lined.at]
        if chosen is None:
            continue
        for index, slot in enumerate(chosen.slots):
            values = tuple(
                act.slots[index].value if act is not None and len(act.slots) == len(chosen.slots) else None
                for act in row
            )
            is_optional = slot.context in ENTERED and any(map(_is_left_out, row))
            if is_optional:
                values = tuple(None if _is_left_out(act) else value for act, value in zip(row, values, strict=True))
            if slot.listed and slot.context is Context.NAME:
                slot = replace(slot, label=listed_on(chosen_acts, chosen) or slot.label)  # noqa: PLW2901
            if slot.context is Context.CHOICE:
                slot = replace(slot, label=opened_for(chosen_acts, chosen) or slot.label)  # noqa: PLW2901
            beside = known_by(values, row, times) if slot.context is Context.AROUND and differs(values) else None
            if beside is not None:
                values = beside.values
                slot = replace(slot, label=beside.title or slot.label)  # noqa: PLW2901
            slot = better_named(slot, known)  # noqa: PLW2901
            columns.append(Column(slot=slot, values=values, is_optional=is_optional))
            places.append((number, index))
    return columns, places


def _conditions(lined: _Lined, bound: Bound, templates: Mapping[int, list[Template | None]]) -> dict[int, str]:
    """For each act of the chosen time that was not done every time, the variable on which it depends."""
    found: dict[int, str] = {}
    for row in lined.rows:
        act = row[lined.at]
        if not isinstance(act, BrowserAct) or not any(map(_is_left_out, row)):
            continue
        given = zip(act.slots, templates[id(act)], strict=True)
        entered = [
            part
            for slot, template in given
            if slot.context in ENTERED
            for part in template or ()
            if isinstance(part, Ref)
        ]
        said = act.spot.name if act.spot else act.selector
        label = f"no {said}" if act.kind == "uncheck" else said
        found[id(act)] = entered[0].name if entered else optional_flag(bound, label, len(row))
    return found


def _is_left_out(act: Act | None) -> bool:
    return isinstance(act, BrowserAct) and act.is_left_out


class _Steps:
    def __init__(
        self,
        occurrences: Sequence[Occurrence],
        at: int,
        bound: Bound,
        templates: Mapping[int, list[Template | None]],
        conditions: Mapping[int, str],
    ) -> None:
        self._conditions = conditions
        self._chosen = occurrences[at]
        self._bound = bound
        self._templates = templates
        self._times = Times(
            occurrences=occurrences, at=at, values={name: one.values for name, one in bound.variables.items()}
        )
        self._refs: dict[tuple[str, ...], str] = {}

    def payload(self, network: Sequence[str]) -> Payload:
        steps: list[Step] = []
        acts = self._chosen.all
        folders: set[str] = set()
        numbers: dict[int, int] = {}
        for act in acts:
            if isinstance(act, ShellAct) and act.cwd and act.cwd not in folders:
                # In the sandbox where it was done the folder was there; in a fresh one it is not.
                folders.add(act.cwd)
                steps.append(Step(type=StepType.SHELL, text=f"mkdir -p {shlex.quote(literal(act.cwd))}"))
            steps.append(self._checked(act))
            numbers[id(act)] = len(steps)
            steps += self._looks(act, opening=act is acts[-1] and self._times.end_with_opening)
        if not any(step.type is StepType.BROWSER for step in steps):
            kind = PayloadKind.CODE
        else:
            browser_only = all(step.type is StepType.BROWSER for step in steps)
            kind = PayloadKind.BROWSER if browser_only else PayloadKind.HYBRID
        after, before = file_checks(acts, self._templates)
        payload = Payload(
            kind=kind,
            steps=tuple(steps),
            variables={
                name: one.variable(numbers.get(id(one.shown_by))) for name, one in self._bound.variables.items()
            },
            preconditions=before,
            postconditions=(*end_checks(self._times), *after),
            network=tuple(network),
        )
        return _used(payload)

    def _checked(self, act: Act) -> Step:
        """The step of an act. Where a variable cannot stand in it, what was there stays, unless that is secret."""
        if isinstance(act, BrowserAct):
            if not act.can_be_found:
                raise NotReplayableError(f"it is not known what {act.verb!r} acted on")
            if act.verb in {"press", "eval"} and any(map(has_marker, act.values)):
                raise NotReplayableError(f"a secret was given with {act.verb!r}")
        templates = self._templates.get(id(act), [None] * len(act.slots))
        ref = self._ref(act)
        check = output_check(act, self._times) if act is self._chosen.acts[-1] else ()
        step = replace(act.step(templates, ref), checks=check, when=self._conditions.get(id(act), ""))
        if self._is_valid(step):
            return step
        plain = replace(act.step([None] * len(act.slots), ref), checks=check)
        if has_marker(act.step([None] * len(act.slots), ref).text) or not self._is_valid(plain):
            raise NotReplayableError("a value cannot be put where it stands")
        return plain

    def _ref(self, act: Act) -> str:
        """A ref for the element of an act: numbered in the order of the steps, it means nothing else."""
        if not isinstance(act, BrowserAct) or act.spot is None or act.verb in {"open", "press"}:
            return ""
        return self._refs.setdefault(act.same_place, f"@e{len(self._refs) + 1}")

    def _is_valid(self, step: Step) -> bool:
        variables = {name: one.variable() for name, one in self._bound.variables.items()}
        kind = PayloadKind.BROWSER if step.type is StepType.BROWSER else PayloadKind.CODE
        try:
            parse_payload(payload_document(_used(Payload(kind=kind, steps=(step,), variables=variables))))
        except SkillyardError:
            return False
        return True

    def _looks(self, act: Act, *, opening: bool) -> list[Step]:
        """The looks and waits that follow an act, as a replay does them."""
        steps: list[Step] = []
        opened = False
        for look in act.looks:
            opened = opened or look.verb == "open"
            if not look.kept or (opened and not opening) or has_marker(look.text):
                continue
            template = self._templated(look)
            if look.awaited and any(isinstance(part, str) and is_volatile(part) for part in template):
                continue
            step = Step(type=StepType.BROWSER, text=written(template))
            if (not steps or steps[-1] != step) and self._is_valid(step):
                steps.append(step)
        return steps

    def _templated(self, look: Look) -> Template:
        template: Template = (look.text,)
        for name, value in self._times.told:
            template = substituted(template, name, value)
        return template


def _used(payload: Payload) -> Payload:
    """A payload with the variables that something in it names, in the order in which they are named."""
    texts: list[str] = []
    for step in payload.steps:
        element = [step.element.name, step.element.within] if step.element is not None else []
        condition = [written((Ref(step.when),))] if step.when else []
        texts += [step.text, *element, *(check.value for check in step.checks), *condition]
    texts += [check.value for check in (*payload.preconditions, *payload.postconditions)]
    whole = "\n".join(texts)
    places = {name: whole.find(written((Ref(name),))) for name in payload.variables}
    named = sorted((name for name, place in places.items() if place >= 0), key=lambda name: places[name])
    return replace(payload, variables={name: payload.variables[name] for name in named})
