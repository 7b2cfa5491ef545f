"""A part of the demonstration: a task done three times becomes one skill, and is replayed."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from skillyard.app.demo_scenes import Scene
from skillyard.app.demo_work import BrowserWork, ShellWork, Trial, Visit, Work, make_visits
from skillyard.errors import SkillyardError
from skillyard.redact import Secrets
from skillyard.remote.client import YardClient
from skillyard.remote.release_following import finished_mining, runs_as_they_come

_BROWSER: Final = "browser"
_NO_BROWSER: Final = "Sandboxes have no browser here: skillyard doctor says why."


def show_releases(yard: YardClient, folder: Path) -> Iterator[Scene]:
    """The story, scene by scene, on a yard of its own in that folder."""
    try:
        sandbox = yard.sandboxes.create(profile="browser-python")
    except SkillyardError as error:
        yield _without_sandboxes(error)
        return
    yard.sandboxes.delete(sandbox["id"])
    visits, why = make_visits(), _NO_BROWSER
    if _BROWSER in sandbox["capabilities"]:
        with BrowserWork(yard, visits) as work:
            try:
                sandbox_id = _done(work, visits)
            except SkillyardError as error:
                why = f"{error.message.rstrip('.')}."
            else:
                yield from _story(yard, folder, work, visits, sandbox_id)
                return
    work = ShellWork(yard)
    yield from _story(yard, folder, work, visits, _done(work, visits), why=f"{why} So it is done with shell commands.")


def _done(work: Work, visits: Sequence[Visit]) -> str:
    """Have the task done by all of them; the sandbox that it was done in."""
    sandbox_id = work.sandbox()
    for visit in visits:
        work.do(sandbox_id, visit)
    return sandbox_id


def _without_sandboxes(error: SkillyardError) -> Scene:
    return Scene(
        name="unavailable",
        title="A task done three times becomes one skill:",
        remark=f"This part needs a sandbox, and there is none. {error.message}\nFix: {error.hint}",
        good=False,
        facts={"message": error.message, "hint": error.hint},
    )


def _story(
    yard: YardClient, folder: Path, work: Work, visits: Sequence[Visit], sandbox_id: str, *, why: str = ""
) -> Iterator[Scene]:
    yield Scene(
        name="done",
        title=f"{work.title}, done three times in a sandbox:",
        rows=[(visit.user, "••••••", visit.customer, visit.article, str(visit.quantity)) for visit in visits],
        remark=why,
        facts={"how": work.kind, "times": len(visits)},
    )
    candidate, *others = _mined(yard, sandbox_id)
    yield _learned(yard, candidate, total=1 + len(others))
    yield _searched(folder, [visit.password for visit in visits])
    for trial in work.trials:
        work.arrange(trial)
        yield _tried(yard, candidate, trial, work)
    yield _released(yard, candidate, work.trials[-1])


def _mined(yard: YardClient, sandbox_id: str) -> list[Mapping[str, Any]]:
    over = finished_mining(yard.releases, yard.releases.mine(sandbox_ids=[sandbox_id]))
    if not over["candidates"]:
        said = f"Nothing was learned: {over['error'] or 'no candidate was found'}."
        raise SkillyardError(said, hint="This is our mistake; please report it.")
    return [yard.releases.candidate(each) for each in over["candidates"]]


def _learned(yard: YardClient, candidate: Mapping[str, Any], *, total: int) -> Scene:
    payload = yard.releases.payloads.get(candidate["payload_ref"])["payload"]
    steps = [(f"{at:>2}", _first_line(step["cmd"]), _element(step)) for at, step in enumerate(payload["steps"], 1)]
    names = [f"{name} (secret)" if each.get("secret") else name for name, each in payload["variables"].items()]
    return Scene(
        name="learned",
        title=f"Mined into {'one candidate' if total == 1 else f'{total} candidates'}, {candidate['skill_key']}:",
        rows=steps,
        remark=f"What differed became variables: {', '.join(names)}.",
        facts={
            "candidates": total,
            "skill_key": candidate["skill_key"],
            "executions": len(candidate["source_execution_ids"]),
            "steps": len(steps),
            "variables": payload["variables"],
        },
    )


def _element(step: Mapping[str, Any]) -> str:
    element: Mapping[str, Any] | None = step.get("element")
    return f"{element['role']} “{element['name']}”" if element else ""


def _first_line(text: str) -> str:
    first, _, rest = text.partition("\n")
    return f"{first} …" if rest else first


def _searched(folder: Path, passwords: Sequence[str]) -> Scene:
    """Read every file of the yard, and look for the passwords in all their forms."""
    secrets = Secrets(passwords)
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    leaks = 0
    for path in files:
        data = path.read_bytes()
        leaks += secrets.data(data) != data
    found = "found nowhere" if not leaks else f"FOUND in {leaks} of them"
    return Scene(
        name="searched",
        title="The three passwords, looked for in every file that the yard keeps:",
        remark=f"{found}: as they are, encoded, backwards and as dumps, in {len(files)} files.",
        good=not leaks,
        facts={"files": len(files), "leaks": leaks},
    )


def _tried(yard: YardClient, candidate: Mapping[str, Any], trial: Trial, work: Work) -> Scene:
    plain, hidden = _entered(yard, candidate, trial)
    begun = yard.releases.replay(candidate["id"], runs=trial.runs, variables=plain, secrets=hidden)
    runs = list(runs_as_they_come(yard.releases, begun["id"]))
    run, passed = runs[-1], all(each["verdict"] == "PASS" for each in runs)
    place = "" if run["step"] is None else f" at step {run['step'] + 1} of {run['total_steps']}"
    times = f" {len(runs)} times of {len(runs)}" if len(runs) > 1 else ""
    return Scene(
        name=trial.name,
        title=trial.title,
        remark=f"PASS{times}: {work.outcome()}" if passed else f"{run['verdict']}{place}: {run['reason']}",
        good=passed,
        facts={"runs": len(runs), **{name: run[name] for name in ("verdict", "step", "reason", "total_steps")}},
    )


def _released(yard: YardClient, candidate: Mapping[str, Any], trial: Trial) -> Scene:
    """Put it to use for some, and use it once."""
    release = yard.releases.promote(candidate["id"], upgrade_reason="All replays passed.")
    plain, hidden = _entered(yard, candidate, trial)
    run = yard.releases.run_skill(candidate["skill_key"], plain, secrets=hidden, release_id=release["id"])
    return Scene(
        name="released",
        title="So it is released to some first, and watched:",
        remark=f"{candidate['skill_key']} is a {release['stage']} now. Its first run: {run['verdict']}.",
        good=run["verdict"] == "PASS",
        facts={"stage": release["stage"], "version": release["version"], "verdict": run["verdict"]},
    )


def _entered(yard: YardClient, candidate: Mapping[str, Any], trial: Trial) -> tuple[dict[str, str], dict[str, str]]:
    """The values of a trial; those of secret variables on their own."""
    variables = yard.releases.payloads.get(candidate["payload_ref"])["payload"]["variables"]
    hidden = {name: value for name, value in trial.values.items() if variables.get(name, {}).get("secret")}
    return {name: value for name, value in trial.values.items() if name not in hidden}, hidden
