"""Sandboxes and cargos on each database: made, found, renewed, deleted, each by its owner alone."""

from datetime import timedelta

import pytest

from skillyard.errors import (
    CapabilityError,
    ConflictError,
    InputError,
    NotAllowedError,
    NotFoundError,
    QuotaError,
    SandboxEndlessError,
    SandboxExpiredError,
    UnavailableError,
)
from skillyard.identity.principals import Scope
from skillyard.sandbox.models import CargoRow, SandboxRow
from skillyard.sandbox.network import parse_network
from skillyard.sandbox.sandboxes import SandboxSpec, Status

pytestmark = pytest.mark.anyio


async def test_a_new_sandbox_is_idle_and_has_a_cargo_of_its_own(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    assert made.status is Status.IDLE
    assert (made.profile, made.expires_at, made.idle_expires_at) == ("python-default", None, None)
    assert made.capabilities == ("python", "shell", "filesystem")
    assert made.id.startswith("sandbox-")
    assert len(made.id) == len("sandbox-") + 12
    assert here.running.all == ()
    cargo = await here.cargos.get(world.editor, made.cargo_id)
    assert (cargo.managed_by, cargo.backend) == (made.id, "unsafe")
    assert await here.sandboxes.get(world.editor, made.id) == made


async def test_what_the_profile_lacks_cannot_be_asked(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec(profile="python-only"))
    assert (await here.runs.python(world.editor, made.id, "1")).execution.success
    with pytest.raises(CapabilityError):
        await here.runs.shell(world.editor, made.id, "true")
    with pytest.raises(CapabilityError):
        await here.workspace.list(world.editor, made.id)
    with pytest.raises(CapabilityError):
        await here.browsing.step(world.editor, made.id, "open about:blank")


@pytest.mark.parametrize(
    "spec",
    [
        {"profile": "none"},
        {"limits": {"speed": 1}},
        {"limits": {"processes": 0}},
        {"limits": {"memory_bytes": 2**60}},
        {"ttl": -1},
        {"idle_ttl": 10**12},
        {"isolation": ["walls"]},
        {"labels": {"a": "b" * 1000}},
    ],
)
async def test_a_wrong_wish_is_refused(world, tables, here, spec):
    with pytest.raises(InputError):
        await here.sandboxes.create(world.editor, SandboxSpec(**spec))
    assert not [each for each in await tables.all(SandboxRow) if each.owner_id == world.editor.person_id]


async def test_limits_labels_and_network_are_kept(world, here):
    spec = SandboxSpec(
        limits={"memory_bytes": 2**28, "disk_bytes": 2**21},
        labels={"task": "7"},
        network=parse_network({"allow": ["https://example.org"]}),
        isolation=["files"],
        idle_ttl=0,
    )
    made = await here.sandboxes.create(world.editor, spec)
    found = await here.sandboxes.get(world.editor, made.id)
    assert (found.limits.memory_bytes, found.limits.disk_bytes, found.limits.processes) == (2**28, 2**21, 128)
    assert (found.labels, found.network, found.isolation) == (
        {"task": "7"},
        ("https://example.org:443",),
        ("files",),
    )
    assert (await here.cargos.get(world.editor, made.cargo_id)).size_limit_mb == 2
    await here.runs.shell(world.editor, made.id, "true")
    assert (await here.sandboxes.get(world.editor, made.id)).idle_expires_at is None


async def test_nobody_else_finds_a_sandbox(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    for other in (world.viewer, world.boss, world.foreigner):
        for ask in (
            here.sandboxes.get(other, made.id),
            here.sandboxes.delete(other, made.id),
            here.sandboxes.stop(other, made.id),
            here.sandboxes.extend(other, made.id, 1),
            here.sandboxes.keep_alive(other, made.id),
            here.runs.python(other, made.id, "1"),
            here.workspace.list(other, made.id),
            here.cargos.get(other, made.cargo_id),
            here.sandboxes.create(other, SandboxSpec(cargo_id=made.cargo_id)),
        ):
            with pytest.raises(NotFoundError):
                await ask
        assert (await here.sandboxes.page(other)).sandboxes == []


async def test_reading_rights_start_nothing_and_change_nothing(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    reader = await world.with_scope(world.editor, Scope.READ)
    assert (await here.sandboxes.get(reader, made.id)).id == made.id
    for ask in (
        here.sandboxes.create(reader, SandboxSpec()),
        here.runs.python(reader, made.id, "1"),
        here.workspace.write(reader, made.id, "a", b""),
        here.workspace.delete(reader, made.id, "a"),
        here.sandboxes.stop(reader, made.id),
        here.sandboxes.delete(reader, made.id),
        here.sandboxes.extend(reader, made.id, 1),
        here.cargos.create(reader),
    ):
        with pytest.raises(NotAllowedError):
            await ask


async def test_a_person_has_so_many_sandboxes_and_no_more(world, start):
    here = start(sandboxes_per_person=2)
    await here.sandboxes.create(world.editor, SandboxSpec(ttl=10))
    kept = await here.sandboxes.create(world.editor, SandboxSpec())
    with pytest.raises(QuotaError):
        await here.sandboxes.create(world.editor, SandboxSpec())
    await here.sandboxes.create(world.viewer, SandboxSpec())
    here.clock.pass_by(seconds=11)
    await here.sandboxes.create(world.editor, SandboxSpec())
    await here.sandboxes.delete(world.editor, kept.id)
    await here.sandboxes.create(world.editor, SandboxSpec())


async def test_an_expired_sandbox_stays_expired(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec(ttl=10))
    here.clock.pass_by(seconds=10)
    assert (await here.sandboxes.get(world.editor, made.id)).status is Status.EXPIRED
    for ask in (
        here.sandboxes.extend(world.editor, made.id, 100),
        here.sandboxes.keep_alive(world.editor, made.id),
        here.runs.python(world.editor, made.id, "1"),
        here.workspace.list(world.editor, made.id),
        here.sandboxes.snapshot(world.editor, made.id),
    ):
        with pytest.raises(SandboxExpiredError):
            await ask


async def test_a_sandbox_without_an_end_cannot_be_renewed(world, start):
    here = start(sandbox_ttl=50)
    made = await here.sandboxes.create(world.editor, SandboxSpec(ttl=0))
    with pytest.raises(SandboxEndlessError):
        await here.sandboxes.extend(world.editor, made.id, 10)
    default = await here.sandboxes.create(world.editor, SandboxSpec())
    assert default.expires_at == here.clock.noon + timedelta(seconds=50)
    for wrong in (0, -1, 10**12):
        with pytest.raises(InputError):
            await here.sandboxes.extend(world.editor, default.id, wrong)


async def test_keeping_alive_moves_the_idle_end_only_and_starts_nothing(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec(ttl=1000, idle_ttl=60))
    assert (await here.sandboxes.keep_alive(world.editor, made.id)).idle_expires_at is None
    assert here.running.all == ()
    await here.runs.shell(world.editor, made.id, "true")
    here.clock.pass_by(seconds=50)
    kept = await here.sandboxes.keep_alive(world.editor, made.id)
    assert (kept.idle_expires_at, kept.expires_at) == (here.clock() + timedelta(seconds=60), made.expires_at)


async def test_deleting_takes_the_own_cargo_but_not_a_given_one(world, tables, here, tmp_path):
    given = await here.cargos.create(world.editor, size_limit_mb=7)
    own = await here.sandboxes.create(world.editor, SandboxSpec())
    user = await here.sandboxes.create(world.editor, SandboxSpec(cargo_id=given.id))
    assert user.limits.disk_bytes == 7 * 1024 * 1024
    for each in (own, user):
        await here.runs.shell(world.editor, each.id, "echo here > file")
    with pytest.raises(ConflictError) as caught:
        await here.cargos.delete(world.editor, given.id)
    assert caught.value.details["active_sandbox_ids"] == [user.id]
    with pytest.raises(ConflictError):
        await here.cargos.delete(world.editor, own.cargo_id)
    with pytest.raises(ConflictError):
        await here.sandboxes.create(world.editor, SandboxSpec(cargo_id=own.cargo_id))
    for each in (own, user):
        await here.sandboxes.delete(world.editor, each.id)
        with pytest.raises(NotFoundError):
            await here.sandboxes.delete(world.editor, each.id)
    assert here.running.all == ()
    with pytest.raises(NotFoundError):
        await here.cargos.get(world.editor, own.cargo_id)
    assert not list((tmp_path / "home").glob(f"cargos/{own.cargo_id}*"))
    again = await here.sandboxes.create(world.editor, SandboxSpec(cargo_id=given.id))
    assert (await here.runs.shell(world.editor, again.id, "cat file")).output == "here\n"
    await here.sandboxes.delete(world.editor, again.id)
    await here.cargos.delete(world.editor, given.id)
    assert not [each for each in await tables.all(CargoRow) if each.owner_id == world.editor.person_id]


async def test_a_snapshot_is_a_cargo_with_the_same_files(world, here):
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.runs.shell(world.editor, made.id, "echo first > file")
    copy = await here.sandboxes.snapshot(world.editor, made.id)
    assert copy.managed_by is None
    await here.runs.shell(world.editor, made.id, "echo second > file")
    other = await here.sandboxes.create(world.editor, SandboxSpec(cargo_id=copy.id))
    assert (await here.runs.shell(world.editor, other.id, "cat file")).output == "first\n"


async def test_a_copy_that_fails_is_seen_by_nobody_and_collected(world, tables, here, monkeypatch):
    made = await here.sandboxes.create(world.editor, SandboxSpec())

    async def broken(source, target):
        raise UnavailableError("no room")

    monkeypatch.setattr(here.choice.backend, "copy_cargo", broken)
    with pytest.raises(UnavailableError):
        await here.sandboxes.snapshot(world.editor, made.id)
    assert (await here.cargos.page(world.editor)).cargos == []
    await here.sweep.orphan_cargos()
    assert [each.id for each in await tables.all(CargoRow) if each.owner_id == world.editor.person_id] == [
        made.cargo_id
    ]


async def test_a_copy_that_cannot_be_written_down_as_whole_is_collected(world, tables, here, monkeypatch):
    made, database = await here.sandboxes.create(world.editor, SandboxSpec()), world.yard.database
    write = database.write

    def busy(**_):
        monkeypatch.setattr(database, "write", write)
        raise UnavailableError("Others write.")

    async def copied(source, target):
        monkeypatch.setattr(database, "write", busy)

    monkeypatch.setattr(here.choice.backend, "copy_cargo", copied)
    with pytest.raises(UnavailableError, match="Others write"):
        await here.sandboxes.snapshot(world.editor, made.id)
    await here.sweep.orphan_cargos()
    assert [each.id for each in await tables.of(world.editor, CargoRow)] == [made.cargo_id]


async def test_listings_come_page_by_page_and_by_status(world, here):
    made = []
    for ttl in (0, 0, 5, 0, 0):
        made.append(await here.sandboxes.create(world.editor, SandboxSpec(ttl=ttl)))
        here.clock.pass_by(seconds=1)
    await here.runs.shell(world.editor, made[0].id, "true")
    here.clock.pass_by(seconds=10)
    seen, cursor = [], None
    while True:
        page = await here.sandboxes.page(world.editor, limit=2, cursor=cursor)
        seen.extend(page.sandboxes)
        cursor = page.next
        if cursor is None:
            break
    assert [each.id for each in seen] == [each.id for each in reversed(made)]

    async def with_status(status):
        return {each.id for each in (await here.sandboxes.page(world.editor, status=status)).sandboxes}

    assert await with_status(Status.READY) == {made[0].id}
    assert await with_status(Status.EXPIRED) == {made[2].id}
    assert await with_status(Status.IDLE) == {made[1].id, made[3].id, made[4].id}
    assert await with_status(Status.FAILED) == set()
    with pytest.raises(InputError, match="cursor"):
        await here.sandboxes.page(world.editor, cursor="wrong")
    with pytest.raises(InputError):
        await here.sandboxes.page(world.editor, limit=0)
    cargos = await here.cargos.page(world.editor, managed=True, limit=4)
    assert len(cargos.cargos) == 4
    assert len((await here.cargos.page(world.editor, managed=True, limit=4, cursor=cargos.next)).cargos) == 1


async def test_nobody_is_given_more_than_the_ceilings_of_the_yard(world, start):
    ceilings = {"memory_bytes": 2**20, "disk_bytes": 2**21, "processes": 64}
    here = start(sandbox_ceilings=ceilings)
    for name, most in ceilings.items():
        for caller in (world.editor, world.boss):
            with pytest.raises(InputError) as caught:
                await here.sandboxes.create(caller, SandboxSpec(limits={name: most + 1}))
            assert caught.value.details == {"field": f"limits.{name}", "value": most + 1, "limit": most}
    made = await here.sandboxes.create(world.editor, SandboxSpec(profile="browser-python"))
    assert (made.limits.memory_bytes, made.limits.processes, made.limits.disk_bytes) == (2**20, 64, 2**21)
    with pytest.raises(InputError) as caught:
        await here.cargos.create(world.editor, size_limit_mb=3)
    assert caught.value.details == {"field": "size_limit_mb", "value": 3, "limit": 2}
    assert (await here.cargos.create(world.editor)).size_limit_mb == 2


async def test_a_usual_yard_gives_no_sandbox_the_whole_machine(world, here):
    with pytest.raises(InputError, match="memory_bytes"):
        await here.sandboxes.create(world.editor, SandboxSpec(limits={"memory_bytes": 64 * 2**30}))


async def test_a_person_has_so_many_cargos_and_no_more(world, start):
    here = start(cargos_per_person=2)
    made = await here.sandboxes.create(world.editor, SandboxSpec())
    await here.runs.shell(world.editor, made.id, "true")
    first = await here.cargos.create(world.editor)
    await here.sandboxes.snapshot(world.editor, made.id)
    for more in (here.cargos.create(world.editor), here.sandboxes.snapshot(world.editor, made.id)):
        with pytest.raises(QuotaError) as caught:
            await more
        assert caught.value.details == {"limit": 2}
    await here.cargos.create(world.boss)
    await here.cargos.delete(world.editor, first.id)
    await here.cargos.create(world.editor)
