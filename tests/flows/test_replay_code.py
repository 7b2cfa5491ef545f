"""Replays of shell and Python steps in real sandboxes: values are only values, and a fresh sandbox leaves no trace."""

import asyncio

import pytest
from tests.replay_rooms import replay_rooms

from skillyard.errors import NotFoundError
from skillyard.releases.outcomes import Verdict
from skillyard.releases.payload_json import parse_payload
from skillyard.sandbox.executions import Said
from skillyard.sandbox.sandboxes import SandboxSpec

pytestmark = pytest.mark.anyio

EVIL = '\'; touch pwned; "$(touch pwned)" `touch pwned`\n{{x}} \\ 日本語 ${HOME} %s'
SECRET = "hunter2'\"$(touch pwned)\\"


@pytest.fixture(scope="module")
async def yard(tmp_path_factory, anyio_backend):
    async with replay_rooms(tmp_path_factory.mktemp("yard")) as yard:
        yard.sandbox = await yard.rooms.sandboxes.create(yard.caller, SandboxSpec())

        async def replay(payload, values=(), **more):
            wish = {"sandbox_id": yard.sandbox.id, "seconds": 30, **more}
            return await yard.replayer.replay(yard.caller, parse_payload(payload), dict(values), **wish)

        yard.replay = replay
        yield yard


def code(*steps, **more):
    return {"kind": "code", "steps": list(steps), **more}


async def test_whatever_is_in_a_value_it_is_only_a_value(yard):
    payload = code(
        {"cmd": "printf '%s' {{text}} > told.txt; printf '%s' \"<{{text}}>\" > quoted.txt"},
        {"cmd": "cat > note.txt <<'EOF'\nTo: {{text}} $HOME\nEOF"},
        {"code": "open('python.txt', 'w').write('[{{text}}]' + {{text}})\nprint({{count}} + 1)"},
        {"cmd": "printf %s {{key}} > key.txt", "cwd": "sub"},
        {"code": "import os\nprint(len({{key}}), 'key={{key}}')"},
        variables={"text": {}, "count": {"type": "integer"}, "key": {"secret": True}},
        postconditions=[{"kind": "file_exists", "value": "told.txt"}],
    )
    workspace = yard.rooms.workspace
    await workspace.write(yard.caller, yard.sandbox.id, "sub/x", b"")
    done = await yard.replay(payload, {"text": EVIL, "count": "41", "key": SECRET})
    assert done.passed, done.reason

    async def read(path):
        return await workspace.read_text(yard.caller, yard.sandbox.id, path)

    assert await read("told.txt") == EVIL
    assert await read("quoted.txt") == f"<{EVIL}>"
    assert await read("note.txt") == f"To: {EVIL} $HOME\n"
    assert await read("python.txt") == f"[{EVIL}]{EVIL}"
    assert await read("sub/key.txt") == "*" * len(SECRET)  # the very bytes, which the sandbox knows as a secret
    assert done.steps[2].output.endswith("42\n")
    assert done.steps[4].output == f"{len(SECRET)} key=***\n"
    names = {entry.name for entry in await workspace.list(yard.caller, yard.sandbox.id)}
    assert "pwned" not in names
    for execution_id in done.execution_ids:
        kept = await yard.rooms.log.get(yard.sandbox.id, execution_id)
        assert SECRET not in f"{kept.code}{kept.output}{kept.error}"


@pytest.mark.parametrize(
    ("steps", "verdict", "step", "reason"),
    [
        (({"cmd": "true"}, {"cmd": "echo no >&2; exit 3"}), Verdict.STEP_FAIL, 1, "ended with the code 3: no"),
        (({"code": "1 / 0"},), Verdict.STEP_FAIL, 0, "code 1: ZeroDivisionError: division by zero"),
        (({"cmd": "sleep 20", "timeout": 1},), Verdict.STEP_FAIL, 0, "did not come to its end"),
        (({"cmd": "exit 3", "postcondition": {"kind": "exit_code", "value": 3}},), Verdict.PASS, None, ""),
        (
            ({"cmd": "exit 4", "postcondition": {"kind": "exit_code", "value": 3}},),
            Verdict.POSTCONDITION_FAIL,
            0,
            "did not end with the code 3",
        ),
        (
            ({"cmd": "echo ok", "postcondition": {"kind": "output_contains", "value": "fine"}},),
            Verdict.POSTCONDITION_FAIL,
            0,
            "does not contain 'fine'",
        ),
        (
            ({"cmd": "echo n=12", "postcondition": {"kind": "output_matches", "value": r"n=\d+"}},),
            Verdict.PASS,
            None,
            "",
        ),
        (
            (
                {
                    "code": "open('a.txt','w').write('b')",
                    "postcondition": {"kind": "file_contains", "path": "a.txt", "text": "c"},
                },
            ),
            Verdict.POSTCONDITION_FAIL,
            0,
            "'a.txt' is not there, or does not contain 'c'",
        ),
    ],
)
async def test_a_verdict_tells_the_step_and_the_reason(yard, steps, verdict, step, reason):
    done = await yard.replay(code(*steps))
    assert (done.verdict, done.step) == (verdict, step)
    assert reason in done.reason


async def test_what_must_hold_before_is_looked_at_first(yard):
    payload = code({"cmd": "touch begun"}, preconditions=[{"kind": "file_exists", "value": "data/input.csv"}])
    done = await yard.replay(payload)
    assert (done.verdict, done.step, done.steps) == (Verdict.PRECONDITION_FAIL, None, ())
    await yard.rooms.workspace.write(yard.caller, yard.sandbox.id, "data/input.csv", b"a,b\n")
    assert (await yard.replay(payload)).passed


async def test_what_does_not_hold_is_told_with_the_values_but_those_of_secrets(yard):
    lacking = {"kind": "file_contains", "path": "{{folder}}/in.csv", "text": "{{key}}"}
    variables = {"folder": {}, "key": {"secret": True}}
    payload = code({"cmd": "echo {{folder}} {{key}}"}, preconditions=[lacking], variables=variables)
    done = await yard.replay(payload, {"folder": "nowhere", "key": SECRET})
    assert done.verdict is Verdict.PRECONDITION_FAIL
    assert done.reason == "The file 'nowhere/in.csv' is not there, or does not contain '<key>'."


async def test_after_a_step_that_failed_it_goes_on_where_that_is_wanted_and_fails_all_the_same(yard):
    missing = {"kind": "output_contains", "value": "fine"}
    steps = ({"cmd": "exit 3"}, {"code": "1 / 0"}, {"cmd": "echo ok", "postcondition": missing}, {"cmd": "echo end"})
    done = await yard.replay(code(*steps), stop_on_error=False)
    assert (done.verdict, done.step, done.total_steps) == (Verdict.STEP_FAIL, 0, 4)
    assert done.reason == "It ended with the code 3. 2 more failed after it."
    assert [report.success for report in done.steps] == [False, False, False, True]
    assert (done.steps[2].error, done.steps[3].output) == ("The output does not contain 'fine'.", "end\n")
    (first,) = (await yard.replay(code(*steps))).steps
    assert (first.index, first.exit_code) == (0, 3)
    lacking = code(*steps, preconditions=[{"kind": "file_exists", "value": "nowhere"}])
    assert (await yard.replay(lacking, stop_on_error=False)).steps == ()


@pytest.mark.parametrize(("loud", "name", "said"), [(False, "", "hi"), (True, "0", "hi\nLOUD\n0")])
async def test_a_step_is_left_out_where_its_variable_is_empty_or_false(yard, loud, name, said):
    variables = {"loud": {"type": "boolean"}, "name": {}, "count": {"type": "integer"}}
    steps = ({"cmd": "echo LOUD", "when": "loud"}, {"code": "print({{name}})", "when": "name"})
    payload = code({"cmd": "echo hi", "when": "count"}, *steps, variables=variables)
    done = await yard.replay(payload, {"loud": loud, "name": name, "count": 0})
    assert done.passed, done.reason
    taken = [report.output.strip() for report in done.steps if not report.output.startswith("Left out: there is no")]
    assert ("\n".join(taken), [report.index for report in done.steps]) == (said, [0, 1, 2])
    assert len(done.execution_ids) == len(taken)


async def test_what_is_said_of_a_replay_is_kept_with_its_executions(yard):
    said = Said(description="Weekly greeting", tags="weekly, greeting")
    done = await yard.replay(code({"cmd": "true"}, {"code": "1"}), said=said)
    for execution_id in done.execution_ids:
        kept = await yard.rooms.log.get(yard.sandbox.id, execution_id)
        assert (kept.description, kept.tags) == ("Weekly greeting", "greeting,skill-replay,weekly")


async def test_the_start_of_a_sandbox_is_no_part_of_how_long_a_replay_took(yard):
    async def slow(sandbox, session):
        await asyncio.sleep(1)

    yard.rooms.running.hooks.append(slow)
    try:
        done = await yard.replay(code({"cmd": "sleep 0.1"}), sandbox_id=None)
    finally:
        yard.rooms.running.hooks.remove(slow)
    assert done.passed, done.reason
    assert 100 <= done.milliseconds == done.steps[0].milliseconds < 1_000


async def test_a_fresh_sandbox_is_gone_afterwards_also_when_nobody_waits_any_more(yard):
    begun = asyncio.Event()
    made = []
    create = yard.rooms.sandboxes.create

    async def watched(caller, spec):
        made.append(await create(caller, spec))
        begun.set()
        return made[-1]

    yard.rooms.sandboxes.create = watched
    try:
        done = await yard.replay(code({"cmd": "echo hi"}), sandbox_id=None)
        begun.clear()
        task = asyncio.create_task(yard.replay(code({"cmd": "sleep 20"}), sandbox_id=None))
        await begun.wait()
        async with asyncio.timeout(60):
            while not any(held.users for held in yard.rooms.running.all):  # noqa: ASYNC110 -- nothing tells of it
                await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    finally:
        del yard.rooms.sandboxes.create
    assert done.passed
    assert done.sandbox_id == made[0].id
    assert (made[0].labels, made[0].expires_at is not None) == ({"skillyard.purpose": "replay"}, True)
    for sandbox in made:
        with pytest.raises(NotFoundError):
            await yard.rooms.sandboxes.get(yard.caller, sandbox.id)
