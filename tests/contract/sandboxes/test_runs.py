"""What runs in sandboxes: answered, recorded once, with no secret in it, and files beside it."""

import asyncio
from datetime import timedelta

import pytest

from skillyard.errors import (
    FileMissingError,
    InputError,
    InvalidPathError,
    LimitError,
    NotFoundError,
    SandboxFaultError,
    UnavailableError,
)
from skillyard.sandbox import executions as executions_module
from skillyard.sandbox.executions import Asked, ExecType, Said
from skillyard.sandbox.models import ExecutionNoteRow, ExecutionRow
from skillyard.sandbox.network import parse_network
from skillyard.sandbox.runs import Wish
from skillyard.sandbox.sandboxes import SandboxSpec, Status
from skillyard.sandbox.session import Ending

pytestmark = pytest.mark.anyio


async def test_the_first_run_starts_it_and_what_was_defined_stays(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    first = await here.runs.python(world.editor, made.id, "x = 20\nprint(x)")
    assert (first.execution.success, first.output.strip(), first.error) == (True, "20", None)
    second = await here.runs.python(world.editor, made.id, "x + 1")
    assert second.output.strip() == "21"
    now = await here.sandboxes.get(world.editor, made.id)
    assert now.status is Status.READY
    assert now.idle_expires_at == here.clock() + timedelta(seconds=now.idle_ttl)
    assert first.execution.session_id == second.execution.session_id == now.session_id


async def test_stopping_keeps_the_files_and_the_next_run_starts_it_again(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.runs.python(world.editor, made.id, "x = 1; open('kept.txt', 'w').write('here')")
    for _ in range(2):
        stopped = await here.sandboxes.stop(world.editor, made.id)
        assert (stopped.status, stopped.idle_expires_at, stopped.session_id) == (Status.IDLE, None, None)
    done = await here.runs.shell(world.editor, made.id, "cat kept.txt")
    assert (done.output, done.execution.exit_code) == ("here", 0)
    gone = await here.runs.python(world.editor, made.id, "x")
    assert not gone.execution.success
    assert "NameError" in gone.error


async def test_whoever_goes_away_while_a_run_is_written_down_waits_for_that(world, here, monkeypatch):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    begun, go_on, add = asyncio.Event(), asyncio.Event(), here.log.add

    async def slow(*given, **more):
        begun.set()
        await go_on.wait()
        return await add(*given, **more)

    monkeypatch.setattr(here.log, "add", slow)
    run = asyncio.create_task(here.runs.shell(world.editor, made.id, "true"))
    await begun.wait()
    run.cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    assert not run.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (await here.log.last(made.id, Asked())).code == "true"


async def test_a_failing_command_is_an_answer_and_a_record(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    done = await here.runs.shell(world.editor, made.id, "echo out; echo err >&2; exit 3")
    assert (done.execution.success, done.execution.exit_code) == (False, 3)
    assert (done.output, done.error) == ("out\n", "err\n")
    assert await here.log.get(made.id, done.execution.id) == done.execution


async def test_a_run_that_takes_too_long_is_ended_and_recorded(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    done = await here.runs.shell(world.editor, made.id, "echo begun; exec sleep 60", Wish(seconds=0.5))
    assert (done.execution.ending, done.execution.success, done.output) == (Ending.TIMEOUT, False, "begun\n")
    assert "0.5 s" in done.error
    assert (await here.runs.shell(world.editor, made.id, "echo on")).output == "on\n"


async def test_a_sandbox_that_dies_under_a_run_is_recorded_and_starts_again(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.runs.shell(world.editor, made.id, "true")
    run = asyncio.create_task(here.runs.shell(world.editor, made.id, "sleep 60", Wish(seconds=50)))
    await here.used()
    await asyncio.sleep(0.05)
    await here.running.all[0].session.close()
    done = await run
    assert (done.execution.success, done.execution.ending) == (False, Ending.DIED)
    assert (await here.sandboxes.get(world.editor, made.id)).status is Status.IDLE
    assert (await here.runs.shell(world.editor, made.id, "echo on")).output == "on\n"


async def test_a_run_that_is_given_up_is_recorded(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.runs.shell(world.editor, made.id, "true")
    run = asyncio.create_task(here.runs.shell(world.editor, made.id, "sleep 60", Wish(seconds=50)))
    await here.used()
    here.clock.pass_by(seconds=1)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    last = await here.log.last(made.id, Asked())
    assert (last.code, last.ending, last.success) == ("sleep 60", "cancelled", False)


@pytest.mark.parametrize(
    ("failure", "told"), [(UnavailableError("no process"), UnavailableError), (OSError("odd"), SandboxFaultError)]
)
async def test_a_run_that_could_not_be_carried_out_is_recorded(world, here, monkeypatch, failure, told):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.runs.shell(world.editor, made.id, "true")

    async def broken(program, *, on_output):
        raise failure

    here.clock.pass_by(seconds=1)
    monkeypatch.setattr(here.running.all[0].session, "run", broken)
    with pytest.raises(told):
        await here.runs.shell(world.editor, made.id, "echo lost")
    last = await here.log.last(made.id, Asked())
    assert (last.code, last.ending, last.success) == ("echo lost", "failed", False)


async def test_a_folder_that_is_not_there_is_told_and_nothing_is_run(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    with pytest.raises(NotFoundError):
        await here.runs.shell(world.editor, made.id, "true", cwd="nowhere")
    assert (await here.log.page(made.id, Asked())).total == 0


async def test_secrets_are_in_no_answer_and_no_record(world, tables, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    secret = "hunter2-and-more"
    said = Said(description=f"a run with {secret}", tags=f"one,{secret}", notes=f"It was {secret}.")
    wish = Wish(secrets={"PASSWORD": secret}, said=said)
    done = await here.runs.shell(
        world.editor, made.id, f"echo $PASSWORD; echo {secret} >&2; echo postgresql://me:pass@db/x", wish
    )
    assert "***" in done.output
    python = await here.runs.python(world.editor, made.id, "import os\nprint(os.environ['PASSWORD'])", wish)
    assert "***" in python.output
    kept = [str(vars(each)) for row in (ExecutionRow, ExecutionNoteRow) for each in await tables.all(row)]
    told = [done.output, done.error, python.output, str(vars(done.execution))]
    assert [text for text in kept if "a run with" in text]
    assert not [text for text in (*kept, *told) if secret in text]
    execution = await here.log.get(made.id, done.execution.id)
    assert "me:pass@db" not in execution.output


async def test_of_much_output_the_beginning_and_the_end_are_kept(world, here, monkeypatch):
    monkeypatch.setattr(executions_module, "MAX_KEPT", 1000)
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    done = await here.runs.python(world.editor, made.id, "print('a' * 5000 + 'z')")
    assert len(done.output) > 5000
    kept = (await here.log.get(made.id, done.execution.id)).output
    assert kept.startswith("aaa")
    assert kept.rstrip().endswith("z")
    assert "left out" in kept
    assert len(kept) < 1100


async def test_output_that_no_database_takes_is_kept_readable(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    done = await here.runs.shell(world.editor, made.id, r"printf 'a\000b\377'")
    assert done.output == "a\ufffdb\ufffd"
    assert (await here.log.get(made.id, done.execution.id)).output == done.output


async def test_executions_are_listed_newest_first_and_filtered(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    one = await here.runs.python(world.editor, made.id, "1", Wish(said=Said(tags="alpha, beta")))
    here.clock.pass_by(seconds=1)
    two = await here.runs.shell(world.editor, made.id, "false", Wish(said=Said(description="fails", tags="beta")))
    here.clock.pass_by(seconds=1)
    three = await here.runs.shell(world.editor, made.id, "true")

    async def ids(**asked):
        page = await here.log.page(made.id, Asked(**asked))
        return [entry.id for entry in page.entries], page.total

    first, second, third = (each.execution.id for each in (one, two, three))
    assert await ids() == ([third, second, first], 3)
    assert await ids(limit=1, offset=1) == ([second], 3)
    assert await ids(exec_type=ExecType.PYTHON) == ([first], 1)
    assert await ids(success_only=True) == ([third, first], 2)
    assert await ids(tags=["beta"]) == ([second, first], 2)
    assert await ids(tags=["alpha", "gamma"]) == ([first], 1)
    assert await ids(tags=["alpha", "beta"]) == ([second, first], 2)
    assert await ids(tags=["alph"]) == ([], 0)
    assert await ids(tags=["%"]) == ([], 0)
    assert await ids(has_description=True) == ([second], 1)
    assert await ids(has_notes=True) == ([], 0)
    assert (await here.log.last(made.id, Asked(exec_type=ExecType.PYTHON, limit=1))).id == first
    with pytest.raises(NotFoundError):
        await here.log.last(made.id, Asked(exec_type=ExecType.BROWSER))


async def test_remarks_stand_beside_an_execution_and_change_nothing_in_it(world, tables, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    done = await here.runs.python(world.editor, made.id, "print(1)", Wish(said=Said(description="first", tags="a")))
    before = next(each for each in await tables.all(ExecutionRow) if each.id == done.execution.id)
    said = await here.log.annotate(made.id, done.execution.id, Said(tags="b,c", notes="look"))
    assert (said.description, said.tags, said.notes) == ("first", "b,c", "look")
    after = next(each for each in await tables.all(ExecutionRow) if each.id == done.execution.id)
    assert {**vars(after), "_sa_instance_state": 0} == {**vars(before), "_sa_instance_state": 0}
    assert (await here.log.page(made.id, Asked(tags=["c"], has_notes=True))).total == 1
    with pytest.raises(NotFoundError):
        await here.log.annotate(made.id, "exec-000000000000", Said(notes="x"))


async def test_what_was_there_is_recorded_with_a_run(world, here):
    here.log.skills = lambda _: [{"name": "pdf", "digest": "sha256:1", "release_id": "sr-1"}]
    spec = SandboxSpec(network=parse_network({"allow": ["http://127.0.0.1:8080"]}))
    made = await here.sandboxes.create(world.editor, spec)
    done = await here.runs.shell(world.editor, made.id, "true")
    assert done.execution.network == ("http://127.0.0.1:8080",)
    kept = await here.log.get(made.id, done.execution.id)
    assert kept.skills == ({"name": "pdf", "digest": "sha256:1", "release_id": "sr-1"},)


async def test_files_are_written_read_listed_and_deleted(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    files = here.workspace
    await files.write(world.editor, made.id, "a/b.bin", b"\x00\xff")
    assert await files.read(world.editor, made.id, "a/../a/b.bin") == b"\x00\xff"
    assert await files.read(world.editor, made.id, "/workspace/a/b.bin") == b"\x00\xff"
    assert [(entry.name, entry.kind) for entry in await files.list(world.editor, made.id)] == [("a", "folder")]
    with pytest.raises(InputError, match="UTF-8"):
        await files.read_text(world.editor, made.id, "a/b.bin")
    await files.delete(world.editor, made.id, "a")
    for missing in (files.read, files.list, files.delete):
        with pytest.raises(FileMissingError):
            await missing(world.editor, made.id, "a/b.bin")
    with pytest.raises(InputError):
        await files.delete(world.editor, made.id, ".")
    await files.write(world.editor, made.id, "big", b"12")
    with pytest.raises(LimitError):
        await files.read(world.editor, made.id, "big", max_bytes=1)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/etc/passwd", "absolute_path"),
        ("../x", "path_traversal"),
        ("a/../../x", "path_traversal"),
        ("/workspace/../etc", "path_traversal"),
        ("", "empty_path"),
        ("a\0b", "null_byte"),
    ],
)
async def test_a_path_out_of_the_workspace_is_refused_before_anything_starts(world, here, path, reason):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    with pytest.raises(InvalidPathError) as caught:
        await here.workspace.read(world.editor, made.id, path)
    assert (caught.value.details["reason"], caught.value.details["field"]) == (reason, "path")
    with pytest.raises(InvalidPathError) as caught:
        await here.runs.shell(world.editor, made.id, "true", cwd=path)
    assert caught.value.details["field"] == "cwd"
    assert here.running.all == ()


async def test_a_run_of_more_code_than_is_taken_is_refused(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    with pytest.raises(LimitError):
        await here.runs.python(world.editor, made.id, "#" * (executions_module.MAX_CODE + 1))
    with pytest.raises(InputError):
        Wish(seconds=0)
    with pytest.raises(LimitError):
        Said(notes="x" * (executions_module.MAX_NOTE + 1))


async def test_what_runs_is_measured_and_what_does_not_uses_nothing(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    assert (await here.sandboxes.stats(world.editor, made.id)).processes == 0
    await here.runs.python(world.editor, made.id, "1")
    assert (await here.sandboxes.stats(world.editor, made.id)).processes >= 1


async def test_the_output_is_told_as_it_comes(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    told = []
    await here.runs.shell(
        world.editor, made.id, "echo a; echo b >&2", on_output=lambda stream, data: told.append((stream, data))
    )
    assert sorted(told) == [("stderr", b"b\n"), ("stdout", b"a\n")]


async def test_who_looks_on_sees_output_as_it_comes_and_no_secret(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    with here.rooms.onlookers.looking_at(made.id) as onlooker:
        wish = Wish(secrets={"KEY": "hunter2hunter2"})
        await here.runs.shell(world.editor, made.id, "echo $KEY; export PASSWORD=sesame-open-91", wish)
        begun, *wrote, ended = await onlooker.look(20)
    assert "sesame-open-91" not in begun.code
    assert "".join(one.text for one in wrote) == "***\n"
    assert ended.run_id == begun.run_id
