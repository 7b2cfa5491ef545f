"""Who holds a sandbox, what each start does, and what is left when a process is killed at any point."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import update

from skillyard.errors import (
    InputError,
    NotFoundError,
    SandboxNotReadyError,
    UnavailableError,
)
from skillyard.sandbox.hosts import LEASE
from skillyard.sandbox.models import CargoRow, SandboxHostRow, SandboxRow
from skillyard.sandbox.sandboxes import SandboxSpec, Status

pytestmark = pytest.mark.anyio


async def test_many_first_runs_at_once_start_it_once(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    done = await asyncio.gather(*(here.runs.python(world.editor, made.id, f"print({n})") for n in range(5)))
    assert {each.output.strip() for each in done} == {"0", "1", "2", "3", "4"}
    assert len({each.execution.session_id for each in done}) == 1


async def test_renewals_that_race_all_count(world, here, start):
    made = await here.sandboxes.create(world.editor, SandboxSpec(ttl=100))
    others = [here, start(), start()]
    await asyncio.gather(*(each.sandboxes.extend(world.editor, made.id, 10) for each in others for _ in range(4)))
    assert (await here.sandboxes.get(world.editor, made.id)).expires_at == here.clock.noon + timedelta(seconds=220)


async def test_the_sweep_stops_what_is_idle_but_nothing_in_use(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec(idle_ttl=60))
    await here.runs.shell(world.editor, made.id, "echo kept > file")
    busy = await here.sandboxes.create(world.editor, SandboxSpec(idle_ttl=60))
    await here.runs.shell(world.editor, busy.id, "true")
    run = asyncio.create_task(here.runs.shell(world.editor, busy.id, "sleep 1; echo done"))
    await here.used()
    assert (await here.sweep.idle_sessions()).cleaned == 0
    here.clock.pass_by(seconds=61)
    swept = await here.sweep.idle_sessions()
    assert (swept.cleaned, swept.skipped) == (1, 1)
    assert (await here.sandboxes.get(world.editor, made.id)).status is Status.IDLE
    assert (await run).output == "done\n"
    assert (await here.runs.shell(world.editor, made.id, "cat file")).output == "kept\n"


async def test_the_sweep_deletes_what_is_expired_with_its_files(world, tables, here, tmp_path):
    made = await here.sandboxes.create(world.editor, SandboxSpec(ttl=10))
    other = await here.sandboxes.create(world.editor, SandboxSpec(ttl=100))
    await here.runs.shell(world.editor, made.id, "echo x > file")
    assert list((tmp_path / "home").glob(f"cargos/{made.cargo_id}*"))
    here.clock.pass_by(seconds=11)
    swept = await here.sweep.run(["expired_sandbox"])
    assert [(task.task, task.cleaned >= 1, task.errors) for task in swept.tasks] == [("expired_sandbox", True, ())]
    with pytest.raises(NotFoundError):
        await here.sandboxes.get(world.editor, made.id)
    assert not list((tmp_path / "home").glob(f"cargos/{made.cargo_id}*"))
    assert await tables.sandbox(made) is not None
    assert (await here.sandboxes.get(world.editor, other.id)).status is Status.IDLE
    with pytest.raises(InputError, match="no task"):
        await here.sweep.run(["everything"])


async def test_a_start_that_fails_is_told_and_tried_again(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    here.choice.failure = UnavailableError("bwrap is not there", hint="apt install bubblewrap")
    with pytest.raises(UnavailableError) as caught:
        await here.runs.python(world.editor, made.id, "1")
    assert caught.value.hint == "apt install bubblewrap"
    failed = await here.sandboxes.get(world.editor, made.id)
    assert (failed.status, failed.error) == (Status.FAILED, "bwrap is not there")
    assert {each.id for each in (await here.sandboxes.page(world.editor, status=Status.FAILED)).sandboxes} == {made.id}
    here.choice.failure = None
    assert (await here.runs.python(world.editor, made.id, "1")).execution.success
    assert (await here.sandboxes.get(world.editor, made.id)).error is None


async def test_what_is_done_with_each_start_is_noted_and_never_fails_it(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    started = []

    async def hook(sandbox, session):
        started.append((sandbox.id, sandbox.status))
        await session.write_file("skills/x.md", b"injected")

    here.sandboxes.on_running(hook)
    assert await here.workspace.read(world.editor, made.id, "skills/x.md") == b"injected"
    found = await here.sandboxes.get(world.editor, made.id)
    assert (found.skills_injected_at, found.hook_error) == (here.clock(), None)
    await here.runs.shell(world.editor, made.id, "true")
    assert started == [(made.id, Status.READY)]

    async def broken(sandbox, session):
        raise RuntimeError("no skills today")

    here.sandboxes.on_running(broken)
    await here.sandboxes.stop(world.editor, made.id)
    here.clock.pass_by(seconds=5)
    assert (await here.runs.shell(world.editor, made.id, "echo on")).output == "on\n"
    found = await here.sandboxes.get(world.editor, made.id)
    assert "no skills today" in found.hook_error
    assert len(started) == 2


async def test_what_is_done_with_a_start_has_its_time(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())

    async def endless(sandbox, session):
        await asyncio.Event().wait()

    here.running._hook_seconds = 0.01
    here.sandboxes.on_running(endless)
    assert (await here.runs.shell(world.editor, made.id, "echo on")).output == "on\n"
    assert "longer" in (await here.sandboxes.get(world.editor, made.id)).hook_error


async def test_a_sandbox_that_another_living_process_holds_is_not_ready_here(world, start):
    here, there = start(), start()
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.runs.shell(world.editor, made.id, "true")
    with pytest.raises(SandboxNotReadyError) as caught:
        await there.runs.shell(world.editor, made.id, "true")
    assert caught.value.details["retry_after"] > 0
    assert (await there.sandboxes.get(world.editor, made.id)).status is Status.READY
    await there.sandboxes.stop(world.editor, made.id)
    assert (await there.sandboxes.get(world.editor, made.id)).status is Status.IDLE
    await here.sweep.idle_sessions()
    assert here.running.all == ()
    assert (await there.runs.shell(world.editor, made.id, "echo mine")).output == "mine\n"


async def test_what_a_process_held_is_free_when_it_ends(world, tables, start):
    here, there = start(), start()
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.runs.shell(world.editor, made.id, "echo x > file")
    await here.rooms.close()
    assert (await there.runs.shell(world.editor, made.id, "cat file")).output == "x\n"
    assert [each.id for each in await tables.all(SandboxHostRow)] == [there.running.host.id]


async def test_what_a_killed_process_held_is_idle_at_once_on_the_same_home(world, tables, start):
    here, there = start(), start()
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.runs.shell(world.editor, made.id, "echo x > file")
    await here.kill()
    assert (await tables.sandbox(made)).state == "ready"
    found = await there.sandboxes.get(world.editor, made.id)
    assert (found.status, found.idle_expires_at) == (Status.IDLE, None)
    assert (await there.sandboxes.page(world.editor, status=Status.IDLE)).sandboxes == [found]
    swept = await there.sweep.idle_sessions()
    assert swept.cleaned == 1
    assert (await tables.sandbox(made)).holder is None
    assert await tables.all(SandboxHostRow) == []
    assert (await there.runs.shell(world.editor, made.id, "cat file")).output == "x\n"


async def test_what_a_killed_process_held_can_be_stopped_and_deleted(world, tables, start, tmp_path):
    here, there = start(), start()
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.runs.shell(world.editor, made.id, "echo x > file")
    await here.kill()
    assert (await there.sandboxes.stop(world.editor, made.id)).status is Status.IDLE
    assert (await tables.sandbox(made)).holder is None
    await there.runs.shell(world.editor, made.id, "true")
    await there.kill()
    third = start()
    await third.sandboxes.delete(world.editor, made.id)
    assert not list((tmp_path / "home").glob(f"cargos/{made.cargo_id}*"))


async def test_a_killed_process_elsewhere_is_dead_when_its_beats_stop(world, start):
    here, there = start("one", files="both"), start("two", files="both")
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.runs.shell(world.editor, made.id, "true")
    await here.kill()
    with pytest.raises(SandboxNotReadyError):
        await there.runs.shell(world.editor, made.id, "true")
    there.clock.pass_by(seconds=LEASE.total_seconds() - 1)
    with pytest.raises(SandboxNotReadyError):
        await there.runs.shell(world.editor, made.id, "true")
    there.clock.pass_by(seconds=2)
    assert (await there.runs.shell(world.editor, made.id, "echo on")).output == "on\n"


async def test_a_process_that_was_taken_for_dead_ends_what_others_took_over(world, tables, start):
    here, there = start("one", files="both"), start("two", files="both")
    lost = await here.sandboxes.create(world.editor, SandboxSpec())
    kept = await here.sandboxes.create(world.editor, SandboxSpec())
    for each in (lost, kept):
        await here.runs.shell(world.editor, each.id, "true")
    here.clock.pass_by(seconds=LEASE.total_seconds() + 1)
    await there.runs.shell(world.editor, lost.id, "true")
    await here.running.host.beat()
    assert [held.sandbox_id for held in here.running.all] == [kept.id]
    assert (await tables.sandbox(lost)).holder == there.running.host.id
    assert (await here.runs.shell(world.editor, kept.id, "echo on")).output == "on\n"


async def test_a_beat_keeps_a_process_alive_for_others(world, start):
    here, there = start("one", files="both"), start("two", files="both")
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.runs.shell(world.editor, made.id, "true")
    for _ in range(3):
        here.clock.pass_by(seconds=LEASE.total_seconds() - 1)
        await here.running.host.beat()
    with pytest.raises(SandboxNotReadyError):
        await there.runs.shell(world.editor, made.id, "true")


async def test_what_was_being_started_when_its_process_was_killed_can_be_started(world, start, monkeypatch):
    here, there = start(), start()
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    begun = asyncio.Event()

    async def endless(place):
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(here.choice.backend, "start", endless)
    monkeypatch.setattr(here.running, "_release", lambda *_: asyncio.sleep(0))
    starting = asyncio.create_task(here.runs.shell(world.editor, made.id, "true"))
    await begun.wait()
    assert (await there.sandboxes.get(world.editor, made.id)).status is Status.STARTING
    await here.kill()
    starting.cancel()
    assert (await there.sandboxes.get(world.editor, made.id)).status is Status.IDLE
    assert (await there.runs.shell(world.editor, made.id, "echo on")).output == "on\n"


async def test_a_start_that_is_given_up_lets_go(world, tables, here, monkeypatch):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    begun = asyncio.Event()

    async def endless(place):
        begun.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(here.choice.backend, "start", endless)
        starting = asyncio.create_task(here.runs.shell(world.editor, made.id, "true"))
        await begun.wait()
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
    assert (await tables.sandbox(made)).holder is None
    assert (await here.runs.shell(world.editor, made.id, "echo on")).output == "on\n"


async def test_a_sandbox_deleted_while_it_starts_leaves_nothing(world, tables, here, monkeypatch):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    real = here.choice.backend.start
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(place):
        begun.set()
        await go_on.wait()
        return await real(place)

    monkeypatch.setattr(here.choice.backend, "start", slow)
    starting = asyncio.create_task(here.runs.shell(world.editor, made.id, "true"))
    await begun.wait()
    deleting = asyncio.create_task(here.sandboxes.delete(world.editor, made.id))
    await asyncio.sleep(0.05)
    go_on.set()
    with pytest.raises(NotFoundError):
        await starting
    await deleting
    await here.sweep.run()
    assert here.running.all == ()
    assert (await tables.sandbox(made)).holder is None
    assert not [each for each in await tables.all(CargoRow) if each.id == made.cargo_id]


async def test_a_delete_that_was_killed_half_way_is_finished_by_the_sweep(world, tables, start, tmp_path, monkeypatch):
    here, there = start(), start()
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.runs.shell(world.editor, made.id, "echo x > file")

    async def killed(sandbox_id):
        raise asyncio.CancelledError

    monkeypatch.setattr(here.sandboxes, "clear", killed)
    with pytest.raises(asyncio.CancelledError):
        await here.sandboxes.delete(world.editor, made.id)
    assert list((tmp_path / "home").glob(f"cargos/{made.cargo_id}*"))
    alive = await there.sweep.run()
    assert {task.task: (task.cleaned, task.skipped) for task in alive.tasks}["orphan_cargo"] == (0, 1)
    await here.kill()
    await there.sweep.run()
    assert not list((tmp_path / "home").glob(f"cargos/{made.cargo_id}*"))
    assert not [each for each in await tables.all(CargoRow) if each.id == made.cargo_id]


async def test_a_managed_cargo_whose_sandbox_is_gone_is_collected(world, tables, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    async with world.yard.database.write() as transaction:
        await transaction.session.execute(
            update(SandboxRow).where(SandboxRow.id == made.id).values(deleted_at=here.clock())
        )
    assert (await here.sweep.orphan_cargos()).cleaned >= 1
    assert not [each for each in await tables.all(CargoRow) if each.id == made.cargo_id]


async def test_a_process_that_could_not_become_known_at_first_becomes_so_later(tables, start, monkeypatch):
    here = start()
    host = here.running.host

    async def away(*_):
        raise UnavailableError("The database is away.")

    monkeypatch.setattr(host, "_say_alive", away)
    with pytest.raises(UnavailableError):
        await host.begin()
    monkeypatch.undo()
    await host.begin()
    assert host.id in [each.id for each in await tables.all(SandboxHostRow)]
    assert host._beating is not None


async def test_a_process_becomes_known_though_whoever_wanted_that_went_away(tables, start):
    host = start().running.host
    caller = asyncio.create_task(host.begin())
    while not host._beginning.locked():  # noqa: ASYNC110 -- nothing tells of it
        await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert host.id in [each.id for each in await tables.all(SandboxHostRow)]
    await host.begin()
