"""Files of a sandbox: read, written, listed and deleted, and never anything outside its workspace."""

import asyncio
import hashlib

import pytest

from skillyard.errors import FileMissingError, InputError, InvalidPathError, LimitError
from skillyard.sandbox.place import Limits
from skillyard.sandbox.session import Command
from skillyard.skill.bundle import Bundle, BundleFile

pytestmark = pytest.mark.anyio

OUTSIDE = ["/etc/passwd", "../x", "a/../../x", "..", "", "a\0b", "/", "x" * 5000, "a/" + "x" * 300, "\ud800"]


@pytest.mark.parametrize("size", [0, 1, 65_536, 3_000_001])
async def test_what_is_written_is_read(session, size):
    data = hashlib.shake_128(b"seed").digest(size)
    await session.write_file(f"new/folder/{size}", data)
    assert await session.read_file(f"new/folder/{size}") == data


async def in_pieces(data, size=100_000):
    for at in range(0, len(data), size):
        yield data[at : at + size]


@pytest.mark.parametrize("size", [0, 1, 3_000_001])
async def test_a_file_goes_in_and_comes_out_in_pieces(session, size):
    data = hashlib.shake_128(b"seed").digest(size)
    await session.put_file(f"pieces/{size}", in_pieces(data), executable=True)
    pieces = [piece async for piece in session.get_file(f"pieces/{size}")]
    assert b"".join(pieces) == data
    assert (size < 3_000_000) == (len(pieces) < 2)
    assert [entry.executable for entry in await session.list_folder("pieces") if entry.name == str(size)] == [True]


async def test_a_change_is_found_however_soon_it_comes(session):
    """The second digest of each round is of a file that the guest has just hashed, of the same length."""
    await session.write_file("soon/file", b"0000")
    program = "import sys\nfor line in sys.stdin: open('soon/file', 'r+').write(line.strip())"
    seen = await session.digests(["soon"])
    for number in range(1, 30):
        await session.run(Command(argv=["python3", "-c", program], stdin=f"{number:04}\n".encode()))
        now = await session.digests(["soon"])
        assert now != seen
        assert now == await session.digests(["soon"])
        seen = now


async def test_a_file_is_hashed_again_after_each_change_of_a_program_that_keeps_it_open(session):
    write = "import os; file = os.open('kept-open', os.O_RDWR | os.O_CREAT)"
    assert (await session.python(write)).success
    seen = set()
    for number in range(50):
        assert (await session.python(f"os.pwrite(file, b'{number:04}', 0)")).success
        seen.add((await session.digests(["kept-open"]))["kept-open"])
    assert len(seen) == 50


async def test_a_file_whose_pieces_end_in_an_error_is_not_there_and_the_old_one_stays(session):
    async def broken():
        yield b"x" * 2_000_000
        raise ConnectionError("the other end went away")

    await session.write_file("half/old", b"old")
    for name in ("new", "old"):
        with pytest.raises(ConnectionError):
            await session.put_file(f"half/{name}", broken())
    assert await session.read_file("half/old") == b"old"
    assert [entry.name for entry in await session.list_folder("half")] == ["old"]


async def test_pieces_that_are_refused_are_not_waited_for(start):
    session = await start(limits=Limits(file_bytes=1_000_000))
    with pytest.raises(LimitError, match="1000000 bytes"):
        await session.put_file("large", in_pieces(bytes(30_000_000)))
    assert [entry.name for entry in await session.list_folder()] == []


async def test_a_file_that_is_only_begun_to_be_read_holds_up_nothing(session):
    await session.put_file("begun", in_pieces(bytes(3_000_001)))
    pieces = session.get_file("begun")
    assert await anext(pieces)
    assert await session.read_file("begun") == bytes(3_000_001)
    await pieces.aclose()
    assert await session.read_file("begun") == bytes(3_000_001)


@pytest.mark.parametrize("name", ["with space", "한글/파일.txt", "a\nb", "-rf", "'; echo", "…\u202e"])
async def test_any_name_will_do(session, name):
    await session.write_file(f"names/{name}", b"x")
    assert await session.read_file(f"names/{name}") == b"x"
    *folder, last = f"names/{name}".split("/")
    assert last in [entry.name for entry in await session.list_folder("/".join(folder))]


@pytest.mark.parametrize("path", OUTSIDE)
async def test_a_path_out_of_the_workspace_is_refused_by_all(session, path):
    with pytest.raises(InvalidPathError):
        await session.read_file(path)
    with pytest.raises(InvalidPathError):
        await session.write_file(path, b"")
    with pytest.raises(InvalidPathError):
        await session.put_file(path, in_pieces(b"x"))
    with pytest.raises(InvalidPathError):
        _ = [piece async for piece in session.get_file(path)]
    with pytest.raises(InvalidPathError):
        await session.list_folder(path)
    with pytest.raises(InvalidPathError):
        await session.delete(path)
    with pytest.raises(InvalidPathError):
        await session.put_tar(b"", path)
    with pytest.raises(InvalidPathError):
        await session.put_tar(b"", remove=[path])
    with pytest.raises(InvalidPathError):
        _ = [piece async for piece in session.get_tar(path)]
    with pytest.raises(InvalidPathError):
        await session.digests([path])


async def test_a_file_that_is_not_there_is_told_with_its_code(session):
    with pytest.raises(FileMissingError) as missing:
        await session.read_file("no/such/file")
    assert missing.value.code == "file_not_found"
    with pytest.raises(FileMissingError):
        _ = [piece async for piece in session.get_file("no/such/file")]
    with pytest.raises(FileMissingError):
        await session.delete("no-such-file")
    with pytest.raises(FileMissingError):
        await session.list_folder("no-such-folder")
    with pytest.raises(FileMissingError):
        _ = [piece async for piece in session.get_tar("no-such-folder")]


async def test_a_file_is_not_read_beyond_what_was_asked_for(session):
    await session.write_file("hundred", b"x" * 100)
    assert await session.read_file("hundred", max_bytes=100) == b"x" * 100
    with pytest.raises(LimitError, match="100 bytes"):
        await session.read_file("hundred", max_bytes=99)


async def test_folders_are_no_files_and_files_no_folders(session):
    await session.write_file("kinds/file", b"x")
    with pytest.raises(InputError):
        await session.read_file("kinds")
    with pytest.raises(InputError):
        await session.write_file("kinds", b"")
    with pytest.raises(InputError):
        await session.write_file("kinds/file/below", b"")
    with pytest.raises(InputError):
        await session.list_folder("kinds/file")
    with pytest.raises(InputError):
        await session.read_file(".")


async def test_what_is_no_plain_file_is_not_waited_for(session, sh):
    bind = 'import socket; socket.socket(socket.AF_UNIX).bind("special/socket")'
    await sh("mkdir -p special && mkfifo special/pipe")
    await sh(f"python3 -c '{bind}' || mkfifo special/socket")  # where there are no sockets, there is none to read
    for name in ("pipe", "socket"):
        with pytest.raises(InputError):
            await session.read_file(f"special/{name}")
    assert [entry.kind for entry in await session.list_folder("special")] == ["other", "other"]
    await session.delete("special")


async def test_a_listing_tells_of_each_entry_what_it_is(session, sh):
    await session.write_file("listed/script.sh", b"#!/bin/sh\necho run\n", executable=True)
    await session.write_file("listed/folder/data", b"12345")
    await sh("ln -s /etc/passwd listed/link")
    entries = {entry.name: entry for entry in await session.list_folder("listed")}
    assert sorted(entries) == ["folder", "link", "script.sh"]
    assert [entries[name].kind for name in sorted(entries)] == ["folder", "link", "file"]
    assert entries["script.sh"].executable
    assert not entries["folder"].executable
    assert entries["script.sh"].size == 19
    assert entries["script.sh"].path == "listed/script.sh"
    assert entries["script.sh"].modified_at.tzinfo is not None
    assert (await sh("./listed/script.sh")).stdout == b"run\n"


async def test_a_large_folder_is_listed_whole(session, sh):
    await sh("mkdir many && cd many && seq 1200 | xargs touch")
    assert len(await session.list_folder("many")) == 1200


async def test_a_folder_is_deleted_with_all_in_it_however_deep_and_closed(session, sh):
    deep = (
        "i=0; mkdir -p top && cd top; while [ $i -lt 300 ]; do mkdir d && cd d || exit 1; i=$((i+1)); done; touch end"
    )
    assert (await sh(deep)).success
    await sh("mkdir -p top/closed/inner && chmod 500 top/closed && chmod 0 top/closed/inner")
    await session.delete("top")
    assert "top" not in [entry.name for entry in await session.list_folder()]
    assert [entry.name for entry in await session.list_folder() if entry.name.endswith(".gone")] == []


@pytest.mark.parametrize("path", [".", "a/..", "./"])
async def test_the_workspace_itself_stays(session, path):
    with pytest.raises(InvalidPathError):
        await session.delete(path)


async def test_a_link_out_of_the_workspace_leads_nowhere(session, sh, tmp_path):
    await sh("mkdir -p links; ln -s /etc links/etc; ln -s /etc/hostname links/file; ln -s ../../.. links/up")
    await sh(f"ln -s {tmp_path} links/host")
    for path in ("links/etc/hostname", "links/file", "links/up/etc/hostname"):
        with pytest.raises(InvalidPathError):
            await session.read_file(path)
    with pytest.raises(InvalidPathError):
        await session.write_file("links/host/planted", b"x")
    with pytest.raises(InvalidPathError):
        await session.list_folder("links/etc")
    with pytest.raises(InvalidPathError):
        await session.delete("links/host/planted")
    assert list(tmp_path.iterdir()) == []


async def test_a_link_that_is_written_to_is_replaced_and_what_it_leads_to_stays(session, sh, tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"untouched")
    await sh(f"ln -s {target} replaced")
    await session.write_file("replaced", b"new")
    assert await session.read_file("replaced") == b"new"
    assert target.read_bytes() == b"untouched"


async def test_deleting_a_link_leaves_what_it_leads_to(session, sh):
    await session.write_file("real/file", b"x")
    await sh("ln -s real alias")
    await session.delete("alias")
    assert await session.read_file("real/file") == b"x"


async def test_links_inside_the_workspace_are_followed_and_loops_are_not(session, sh):
    await session.write_file("inside/v1/file", b"one")
    await sh('ln -s v1 inside/current; ln -s "$(pwd)/inside/v1" inside/absolute; ln -s loop inside/loop')
    assert await session.read_file("inside/current/file") == b"one"
    assert await session.read_file("inside/absolute/file") == b"one"
    await session.write_file("inside/current/second", b"two")
    assert await session.read_file("inside/v1/second") == b"two"
    with pytest.raises(InvalidPathError):
        await session.read_file("inside/loop")


async def test_a_reader_sees_the_old_file_or_the_new_one(session, sh):
    await session.write_file("whole", b"a" * 1_000_000)
    line = "for i in $(seq 200); do tr -d ab < whole | wc -c; wc -c < whole; done | sort | uniq -c"
    reading = asyncio.create_task(sh(line))
    for round_ in range(20):
        await session.write_file("whole", b"ab"[round_ % 2 : round_ % 2 + 1] * 1_000_000)
    assert sorted(line.split()[1] for line in (await reading).stdout.splitlines()) == [b"0", b"1000000"]


async def test_a_file_beyond_the_bound_is_refused_and_leaves_nothing(start):
    session = await start(limits=Limits(file_bytes=1_000_000))
    with pytest.raises(LimitError):
        await session.write_file("large", b"x" * 1_000_001)
    assert await session.list_folder() == []


def digest_of(files, executable=()):
    return Bundle([BundleFile(path, data, path in executable) for path, data in files.items()]).digest


async def test_digests_are_those_of_bundles(session):
    files = {"SKILL.md": b"x", "scripts/run.sh": b"echo", "데이터/a b.txt": b"\0\xff", "a.b": b"", "a/b": b""}
    for path, data in files.items():
        await session.write_file(f"skill/{path}", data, executable=path.endswith(".sh"))
    await session.write_file("skill-2/SKILL.md", b"y")
    digests = await session.digests(["skill", "skill-2", "none", "skill/SKILL.md/below"])
    assert digests == {
        "skill": digest_of(files, {"scripts/run.sh"}),
        "skill-2": digest_of({"SKILL.md": b"y"}),
        "none": None,
        "skill/SKILL.md/below": None,
    }


async def test_what_is_no_part_of_a_skill_is_left_out_of_its_digest(session):
    files = {"SKILL.md": b"x", "scripts/a.py": b""}
    litter = ["scripts/__pycache__/a.cpython-311.pyc", ".DS_Store", "._SKILL.md", "node_modules/x/y.js", ".GIT/config"]
    for path, data in {**files, **dict.fromkeys(litter, b"litter")}.items():
        await session.write_file(f"littered/{path}", data)
    assert await session.digests(["littered"]) == {"littered": digest_of(files)}


async def test_every_change_changes_the_digest(session, sh):
    await session.write_file("changing/SKILL.md", b"one")
    seen = [(await session.digests(["changing"]))["changing"]]
    for line in (
        "printf two > changing/SKILL.md",
        "touch -r changing/SKILL.md stamp; printf owt > changing/SKILL.md; touch -r stamp changing/SKILL.md",
        "chmod +x changing/SKILL.md",
        "touch changing/new",
        "rm changing/new; ln -s SKILL.md changing/new",
        "rm changing/new; mkfifo changing/new",
        "rm changing/new; mv changing/SKILL.md changing/other",
    ):
        assert (await sh(line)).success
        seen.append((await session.digests(["changing"]))["changing"])
    assert None not in seen
    # A link and a pipe are alike in this: no bundle has them.
    assert len(set(seen)) == len(seen) - 1


async def test_an_unchanged_folder_has_its_digest_again(session, sh):
    await sh("mkdir -p steady; for i in $(seq 300); do echo $i > steady/$i; done")
    first = await session.digests(["steady"])
    assert await session.digests(["steady"]) == first
    assert first["steady"] == digest_of({str(i): f"{i}\n".encode() for i in range(1, 301)})


async def test_commands_see_what_was_written_and_the_other_way_round(session):
    await session.write_file("shared", b"from outside")
    assert (await session.run(Command(argv=["cat", "shared"]))).stdout == b"from outside"
    await session.run(Command(argv=["sh", "-c", "printf inside > shared"]))
    assert await session.read_file("shared") == b"inside"
