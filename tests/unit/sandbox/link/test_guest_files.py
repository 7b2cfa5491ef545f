import ast
import asyncio
import io
import os
import re
import select
import sys
import zipfile

import pytest

from skillyard.errors import SandboxDiedError, UnavailableError
from skillyard.sandbox.link.guest_files import guest_arguments, guest_argv, guest_folder, guest_zip
from skillyard.sandbox.link.guest_session import GuestSession
from skillyard.sandbox.local.streams import stream_pair
from skillyard.sandbox.local.unsafe import UnsafeBackend
from skillyard.sandbox.place import Limits, Place
from skillyard.sandbox.session import Command
from skillyard.skill.bundle import left_out_part

SOURCES = sorted(guest_folder().glob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_the_guest_is_written_for_old_pythons_and_imports_nothing_of_ours(path):
    tree = ast.parse(path.read_text(), feature_version=(3, 8))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    own = {source.stem for source in SOURCES}
    assert imported <= own | sys.stdlib_module_names | {"playwright"}


def test_the_archive_has_the_same_files_as_the_folder_and_is_always_the_same():
    with zipfile.ZipFile(io.BytesIO(guest_zip())) as archive:
        names = [name for name in archive.namelist() if name.endswith(".py")]
        assert {name: archive.read(name) for name in names} == {path.name: path.read_bytes() for path in SOURCES}
    again = guest_zip.__wrapped__()
    assert again == guest_zip()


def test_limits_that_something_better_bounds_are_not_given_to_the_guest():
    arguments = guest_arguments("/workspace", Limits(), unset=("processes", "memory_bytes"))
    assert "processes" not in arguments[3]
    assert "open_files" in arguments[3]
    assert "--proxy-port" not in arguments


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_the_guest_runs_from_its_folder_and_from_its_archive(form, tmp_path):
    guest = guest_folder()
    if form == "zip":
        guest = tmp_path / "guest.zip"
        guest.write_bytes(guest_zip())
    workspace = tmp_path / "workspace"
    workspace.mkdir()

    async def scenario():
        transport, theirs = await stream_pair()
        argv = guest_argv(sys.executable, str(guest), workspace=str(workspace), limits=Limits(), fd=theirs.fileno())
        with theirs:
            process = await asyncio.create_subprocess_exec(*argv, pass_fds=[theirs.fileno()])

        async def end():
            await process.wait()

        session = await GuestSession.open(transport, limits=Limits(), proxy=None, on_close=end)
        assert (await session.run(Command(argv=["echo", "hi"]))).stdout == b"hi\n"
        outcome = await session.python("1 / 0")
        assert re.findall('File "(.*?)"', outcome.error) == ["<cell 1>"]
        await session.close()
        assert process.returncode == 0

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "name",
    [
        "a.py",
        "__pycache__",
        "__PyCache__",
        ".git",
        ".gitignore",
        "node_modules",
        "._x",
        ".DS_Store",
        "a.pyc",
        "a.PYC",
        "__MACOSX",
    ],
)
def test_the_guest_leaves_out_of_digests_what_bundles_leave_out(name):
    source = (guest_folder() / "digests.py").read_text()
    tree = ast.parse(source)
    wanted = {"LEFT_OUT_NAMES", "APPLE_DOUBLE", "BYTECODE", "left_out"}
    body = [
        node
        for node in tree.body
        if getattr(node, "name", "") in wanted
        or (isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in wanted)
    ]
    names = {}
    exec(compile(ast.Module(body, []), "digests", "exec"), names)
    assert names["left_out"](name) == bool(left_out_part(name))


def test_the_unsafe_backend_is_not_there_unless_it_was_asked_for(tmp_path):
    async def scenario():
        backend = UnsafeBackend(tmp_path, enabled=False)
        capabilities = await backend.capabilities()
        assert not capabilities.available
        assert capabilities.fix
        with pytest.raises(UnavailableError, match="isolates nothing"):
            await backend.start(Place(sandbox_id="a", cargo_id="a"))
        allowed = await UnsafeBackend(tmp_path, enabled=True).capabilities()
        assert (allowed.available, allowed.trusted, allowed.enforced) == (True, False, frozenset())

    asyncio.run(scenario())


def test_commands_end_with_the_guest_even_when_that_is_killed(tmp_path):
    async def scenario():
        backend = UnsafeBackend(tmp_path, enabled=True)
        session = await backend.start(Place(sandbox_id="a", cargo_id="a"))
        heard = asyncio.Queue()
        command = Command(argv=["sh", "-c", "echo $$; exec sleep 1000"])
        running = asyncio.create_task(session.run(command, on_output=lambda _, data: heard.put_nowait(data)))
        pid = int(await heard.get())
        handle = os.pidfd_open(pid)
        with pytest.raises(SandboxDiedError):
            await session.python("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")
        with pytest.raises(SandboxDiedError):
            await running
        assert await asyncio.to_thread(select.select, [handle], [], [], 10) == ([handle], [], [])
        os.close(handle)
        await backend.close()

    asyncio.run(scenario())
