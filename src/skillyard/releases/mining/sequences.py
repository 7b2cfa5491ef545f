"""Finding tasks in the executions of many sandboxes."""

from collections.abc import Mapping, Sequence

from skillyard.releases.mining.assembly import NotReplayableError, assemble
from skillyard.releases.mining.classes import use_one_name
from skillyard.releases.mining.detours import leave_out_detours
from skillyard.releases.mining.entrances import use_one_entrance
from skillyard.releases.mining.findings import Gap, GapKind, LoggedExecution, MinedSequence, MiningResult, SessionLog
from skillyard.releases.mining.gaps import failing_gaps, manual_gap
from skillyard.releases.mining.optional import fill_in_optional
from skillyard.releases.mining.reading import Failure, read_session
from skillyard.releases.mining.sending import use_the_button
from skillyard.releases.mining.tasks import Occurrence, Task, tasks_in
from skillyard.releases.mining.titles import skill_key, summary_of
from skillyard.releases.mining.units import Unit, acts_of, units_of
from skillyard.releases.payload_json import MAX_STEPS, MAX_VARIABLES
from skillyard.sandbox.executions import Execution

__all__ = ["Gap", "GapKind", "LoggedExecution", "MinedSequence", "MiningResult", "SessionLog", "as_one", "mine"]


def mine(sessions: Sequence[SessionLog], *, chosen: bool = False) -> MiningResult:
    """The tasks in what was run, each once, however often it was done.

    Once is enough for what was run to be learned from, and with `chosen`, when a person chose what is looked through.
    """
    executions = {one.execution.id: one.execution for session in sessions for one in session.entries}
    rows: list[list[Unit]] = []
    failures: list[Failure] = []
    happened = [list(read_session(session)) for session in sessions]
    use_the_button(happened)
    for events in happened:
        units, failed = units_of(events)
        rows.append(units)
        failures += failed
    every = [unit for units in rows for unit in units]
    use_one_entrance(every)
    leave_out_detours(every)
    succeeded = {act.form(()) for unit in every for act in unit.acts}
    use_one_name(every)
    fill_in_optional(every)
    tasks = tasks_in(rows, once=lambda unit: chosen or unit.learn)
    found: dict[str, MinedSequence] = {}
    gaps: list[Gap] = []
    for task in tasks:
        try:
            sequence = _sequence(task, executions)
        except NotReplayableError as error:
            gap = manual_gap(task, str(error))
            gaps += [gap] if gap else []
            continue
        found.setdefault(sequence.canonical, sequence)
    return MiningResult(
        sequences=tuple(found.values()), examined=len(executions), gaps=(*failing_gaps(failures, succeeded), *gaps)
    )


def as_one(sessions: Sequence[SessionLog]) -> MinedSequence | None:
    """All that was run as one task, however little it is; None if it cannot be replayed, or is nothing."""
    executions = {one.execution.id: one.execution for session in sessions for one in session.entries}
    acts = [act for session in sessions for act in acts_of(read_session(session))]
    if not acts:
        return None
    try:
        return _sequence(Task(occurrences=(Occurrence(before=[], acts=acts),)), executions)
    except NotReplayableError:
        return None


def _sequence(task: Task, executions: Mapping[str, Execution]) -> MinedSequence:
    ids = tuple(dict.fromkeys(each for one in task.occurrences for each in one.execution_ids if each in executions))
    network = dict.fromkeys(endpoint for each in ids for endpoint in executions[each].network)
    made = assemble(task, list(network))
    payload = made.payload
    if len(payload.steps) > MAX_STEPS or len(payload.variables) > MAX_VARIABLES:
        raise NotReplayableError(f"it has {len(payload.steps)} steps and {len(payload.variables)} variables")
    used = {name: made.found[name] for name in payload.variables}
    values = {value for one in used.values() for value in one.examples}
    described = _description([executions[each] for each in ids])
    repeats = len(task.occurrences)
    return MinedSequence(
        canonical=made.canonical,
        payload=payload,
        skill_key=skill_key(made.chosen.acts, values, described=described, canonical=made.canonical),
        summary=summary_of(made.chosen.acts, values, described=described, names=list(used), repeats=repeats),
        execution_ids=ids,
        repeats=repeats,
        example_values={name: one.examples for name, one in used.items() if one.examples},
        variants=made.variants,
    )


def _description(executions: Sequence[Execution]) -> str:
    """What people said of it, if all who said something said the same."""
    said = {execution.description.strip() for execution in executions if execution.description}
    return said.pop() if len(said) == 1 else ""
