"""The life of sandboxes: several beside each other, their end, and what stays of them."""

import asyncio

import pytest

from skillyard.errors import ConflictError, NotFoundError, SandboxDiedError
from skillyard.sandbox.place import Place
from skillyard.sandbox.session import Command

pytestmark = pytest.mark.anyio


async def _ask_everything(session):
    """Each question, and what came of it."""
    questions = [
        session.run(Command(argv=["true"])),
        session.python("1"),
        session.read_file("a"),
        session.write_file("a", b""),
        session.list_folder(),
        session.delete("a"),
        session.put_tar(b""),
        session.digests(["a"]),
        session.stats(),
        anext(aiter(session.get_tar())),
    ]
    return await asyncio.gather(*questions, return_exceptions=True)


async def test_a_closed_sandbox_answers_every_question_with_its_death_at_once(start):
    session = await start()
    assert session.alive
    await session.close()
    await session.close()
    assert not session.alive
    async with asyncio.timeout(2):
        answers = await _ask_everything(session)
    assert [type(answer) for answer in answers] == [SandboxDiedError] * len(answers)


async def test_calls_under_way_end_at_once_when_the_sandbox_is_closed(start):
    session = await start()
    started = asyncio.Event()
    listen = lambda *_: started.set()  # noqa: E731
    running = asyncio.create_task(session.run(Command(argv=["sh", "-c", "echo; sleep 1000"]), on_output=listen))
    await started.wait()
    started.clear()
    python = asyncio.create_task(session.python("import time\nprint()\ntime.sleep(1000)", on_output=listen))
    await started.wait()
    await session.close()
    async with asyncio.timeout(2):
        answers = await asyncio.gather(running, python, return_exceptions=True)
    assert [type(answer) for answer in answers] == [SandboxDiedError] * 2


async def test_files_outlive_their_sandbox(start):
    session = await start(sandbox_id="first", cargo_id="lasting")
    await session.write_file("kept", b"x", executable=True)
    await session.close()
    session = await start(sandbox_id="second", cargo_id="lasting")
    entry = (await session.list_folder())[0]
    assert (entry.name, entry.executable) == ("kept", True)


async def test_the_same_place_started_again_finds_its_files(start):
    session = await start(sandbox_id="again", cargo_id="again")
    await session.write_file("kept", b"x")
    await session.close()
    session = await start(sandbox_id="again", cargo_id="again")
    assert await session.read_file("kept") == b"x"


async def test_sandboxes_do_not_share_files_or_names(start):
    one, two = await asyncio.gather(start(), start())
    await one.write_file("mine", b"x")
    await one.python("mine = 1")
    assert await two.list_folder() == []
    assert not (await two.python("mine")).success


async def test_a_place_has_its_variables(start):
    session = await start(environment={"PLACE": "here"})
    assert (await session.run(Command(argv=["sh", "-c", "echo $PLACE"]))).stdout == b"here\n"
    assert (await session.python("import os\nos.environ['PLACE']")).output == "'here'\n"


async def test_a_removed_cargo_is_empty_when_it_comes_again(start, backend):
    session = await start(cargo_id="removed")
    await session.write_file("a/b/c", b"x")
    await session.run(Command(argv=["chmod", "-R", "a-rwx", "a"]))
    await session.close()
    await backend.remove_cargo("removed")
    await backend.remove_cargo("removed")
    session = await start(cargo_id="removed")
    assert await session.list_folder() == []


async def test_a_copied_cargo_has_the_files_and_goes_its_own_way(start, backend):
    session = await start(cargo_id="origin")
    await session.write_file("file", b"old", executable=True)
    await session.run(Command(argv=["ln", "-s", "/etc/passwd", "link"]))
    await backend.copy_cargo("origin", "copied")
    await session.write_file("file", b"new")
    copy = await start(cargo_id="copied")
    assert await copy.read_file("file") == b"old"
    assert {entry.name: entry.kind for entry in await copy.list_folder()} == {"file": "file", "link": "link"}


async def test_a_copy_of_nothing_or_onto_something_is_refused(start, backend):
    await start(cargo_id="taken")
    with pytest.raises(NotFoundError):
        await backend.copy_cargo("never-was", "new")
    with pytest.raises(ConflictError):
        await backend.copy_cargo("taken", "taken")


async def test_a_sweep_ends_what_is_not_kept(start, backend):
    kept, swept = await start(sandbox_id="kept"), await start(sandbox_id="swept")
    others = ["kept"]
    assert await backend.sweep(others) >= 1
    assert not swept.alive
    assert kept.alive
    assert (await kept.run(Command(argv=["true"]))).success


async def test_a_sandbox_started_in_the_place_of_another_ends_that_one(start):
    old = await start(sandbox_id="same", cargo_id="same")
    new = await start(sandbox_id="same", cargo_id="same")
    assert (await new.run(Command(argv=["true"]))).success
    assert not old.alive


async def test_closing_the_backend_ends_all(backend):
    sessions = [await backend.start(Place(sandbox_id=f"all-{n}", cargo_id=f"all-{n}")) for n in range(3)]
    await backend.close()
    assert not any(session.alive for session in sessions)
    for number in range(3):
        await backend.remove_cargo(f"all-{number}")
