"""Homes that share a database: the files of a cargo are in one of them, and the others say so."""

import asyncio
import shutil

import pytest
from sqlalchemy import update

from skillyard.errors import ElsewhereError, UnavailableError
from skillyard.sandbox.models import CargoRow, SandboxRow
from skillyard.sandbox.sandboxes import SandboxSpec, Status

pytestmark = pytest.mark.anyio


@pytest.fixture
async def kept(world, start):
    """A server in the home `one`, and a stopped sandbox with a file there."""
    one = start("one")
    made = await one.sandboxes.create(world.editor, SandboxSpec())
    await one.runs.shell(world.editor, made.id, "echo keep > keep.txt")
    await one.sandboxes.stop(world.editor, made.id)
    return one, made


def uses(process, person, made):
    """Everything that touches the files of a sandbox."""
    return (
        process.runs.shell(person, made.id, "ls"),
        process.runs.python(person, made.id, "1"),
        process.workspace.list(person, made.id),
        process.workspace.read(person, made.id, "keep.txt"),
        process.workspace.write(person, made.id, "new.txt", b"x"),
        process.workspace.delete(person, made.id, "keep.txt"),
        process.sandboxes.snapshot(person, made.id),
        process.sandboxes.delete(person, made.id),
    )


async def test_another_home_uses_nothing_of_a_sandbox_and_names_the_one_that_has_it(world, start, kept, tmp_path):
    one, made = kept
    two = start("two")
    for use in uses(two, world.editor, made):
        with pytest.raises(ElsewhereError) as caught:
            await use
        assert caught.value.details == {
            "cargo_id": made.cargo_id,
            "home": (tmp_path / "one/home-id").read_text().strip(),
            "here": (tmp_path / "two/home-id").read_text().strip(),
        }
        assert (await two.sandboxes.get(world.editor, made.id)).status is Status.IDLE
    assert not list((tmp_path / "two").glob("cargos/cargo-*"))
    assert (await one.runs.shell(world.editor, made.id, "cat *.txt")).output == "keep\n"
    for use in uses(two, world.editor, made):
        with pytest.raises(ElsewhereError):
            await use


async def test_cargos_and_snapshots_belong_to_the_home_that_has_their_files(world, start, kept, tmp_path):
    one, made = kept
    two = start("two")
    copy = await one.sandboxes.snapshot(world.editor, made.id)
    with pytest.raises(ElsewhereError):
        await two.cargos.delete(world.editor, copy.id)
    with pytest.raises(ElsewhereError):
        await two.sandboxes.create(world.editor, SandboxSpec(cargo_id=copy.id))
    assert (tmp_path / "one/cargos" / copy.id).exists()
    await one.cargos.delete(world.editor, copy.id)
    assert not (tmp_path / "one/cargos" / copy.id).exists()


async def test_what_has_no_files_yet_is_used_and_deleted_everywhere(world, start, tables):
    one, two = start("one"), start("two")
    made = await one.sandboxes.create(world.editor, SandboxSpec())
    await two.sandboxes.keep_alive(world.editor, made.id)
    assert (await two.runs.shell(world.editor, made.id, "echo here")).output == "here\n"
    with pytest.raises(ElsewhereError):
        await one.runs.shell(world.editor, made.id, "true")
    unused = await one.sandboxes.create(world.editor, SandboxSpec())
    await two.sandboxes.delete(world.editor, unused.id)
    assert unused.cargo_id not in {row.id for row in await tables.all(CargoRow)}


async def test_two_homes_that_start_a_sandbox_at_once_leave_its_files_in_one(world, start):
    one, two = start("one"), start("two")
    made = await one.sandboxes.create(world.editor, SandboxSpec())
    runs = [each.runs.shell(world.editor, made.id, "echo x >> file; cat file") for each in (one, two)]
    done = await asyncio.gather(*runs, return_exceptions=True)
    refused = [each for each in done if isinstance(each, UnavailableError)]
    assert len(refused) == 1
    assert [each.output for each in done if each not in refused] == ["x\n"]


async def test_what_expires_is_removed_by_the_home_that_has_it(world, start, tables, tmp_path):
    one, two = start("one"), start("two")
    made = await one.sandboxes.create(world.editor, SandboxSpec(ttl=10))
    await one.runs.shell(world.editor, made.id, "echo keep > keep.txt")
    await one.sandboxes.stop(world.editor, made.id)
    one.clock.pass_by(seconds=11)
    await two.sweep.run()
    assert (tmp_path / "one/cargos" / made.cargo_id).exists()
    await one.sweep.run()
    assert not (tmp_path / "one/cargos" / made.cargo_id).exists()
    assert made.cargo_id not in {row.id for row in await tables.all(CargoRow)}


async def test_a_cargo_older_than_homes_belongs_to_the_one_that_has_its_folder(world, start, kept):
    one, made = kept
    two = start("two")
    unused = await two.sandboxes.create(world.editor, SandboxSpec())
    async with world.yard.database.write() as transaction:
        ids = CargoRow.id.in_([made.cargo_id, unused.cargo_id])
        await transaction.session.execute(update(CargoRow).where(ids).values(home="unknown"))
        started = update(SandboxRow).where(SandboxRow.id == made.id).values(skills_injected_at=made.created_at)
        await transaction.session.execute(started)
    with pytest.raises(ElsewhereError, match="another home"):
        await two.runs.shell(world.editor, made.id, "ls")
    with pytest.raises(ElsewhereError):
        await two.sandboxes.delete(world.editor, made.id)
    assert (await one.runs.shell(world.editor, made.id, "cat keep.txt")).output == "keep\n"
    assert (await two.runs.shell(world.editor, unused.id, "echo mine")).output == "mine\n"
    with pytest.raises(ElsewhereError):
        await one.runs.shell(world.editor, unused.id, "ls")


async def test_a_home_that_moved_keeps_its_cargos(world, start, kept, tmp_path):
    one, made = kept
    await one.rooms.close()
    (tmp_path / "one").rename(tmp_path / "moved")
    moved = start("moved")
    assert (await moved.runs.shell(world.editor, made.id, "cat keep.txt")).output == "keep\n"


async def test_a_copy_of_a_home_is_refused_while_that_is_in_use(world, start, kept, tmp_path):
    one, made = kept
    await one.runs.shell(world.editor, made.id, "true")
    shutil.copytree(tmp_path / "one", tmp_path / "copy", symlinks=True)
    copy = start("copy")
    other = await copy.sandboxes.create(world.editor, SandboxSpec())
    for sandbox in (made, other):
        with pytest.raises(ElsewhereError, match="copy of the home"):
            await copy.runs.shell(world.editor, sandbox.id, "echo x > x")
    assert (await one.runs.shell(world.editor, made.id, "ls")).output == "keep.txt\n"
    await one.rooms.close()
    assert (await copy.runs.shell(world.editor, made.id, "cat keep.txt")).output == "keep\n"


async def test_a_home_with_a_spoilt_identity_says_so(world, start, tmp_path):
    one = start("one")
    made = await one.sandboxes.create(world.editor, SandboxSpec())
    (tmp_path / "one").mkdir(exist_ok=True)
    (tmp_path / "one/home-id").write_text("../else")
    with pytest.raises(UnavailableError, match="does not hold the id of a home"):
        await one.runs.shell(world.editor, made.id, "true")
