"""Archives in and out of a sandbox."""

import asyncio
import io
import tarfile

import pytest

from skillyard.errors import InputError, LimitError
from skillyard.sandbox.place import Limits
from skillyard.skill.bundle import Bundle, BundleFile

pytestmark = pytest.mark.anyio


def tar_of(*members, fmt=tarfile.PAX_FORMAT):
    """Members are (name, data) or (name, data, {fields of the member})."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=fmt) as archive:
        for name, data, *fields in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            for field, value in (fields[0] if fields else {}).items():
                setattr(member, field, value)
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


async def unpacked(session, path="."):
    data = b"".join([piece async for piece in session.get_tar(path)])
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {
            member.name: (archive.extractfile(member).read() if member.isreg() else None, member.mode)
            for member in archive
        }


@pytest.mark.parametrize("fmt", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
async def test_an_archive_goes_in_and_comes_out_again(session, fmt):
    large = bytes(range(256)) * 4000
    long = "d" * 60 + "/" + "n" * 90
    sent = tar_of(("a/run.sh", b"echo", {"mode": 0o755}), ("a/b/large", large), ("한글", b"x"), (long, b""), fmt=fmt)
    await session.put_tar(sent, f"in/{fmt}")
    files = await unpacked(session, f"in/{fmt}")
    assert {name: what for name, what in files.items() if what[0] is not None} == {
        "a/run.sh": (b"echo", 0o755),
        "a/b/large": (large, 0o644),
        "한글": (b"x", 0o644),
        long: (b"", 0o644),
    }
    assert files["a/b"] == (None, 0o755)


async def test_a_single_file_comes_out_under_its_name(session):
    await session.write_file("single/file", b"x" * 1000)
    assert await unpacked(session, "single/file") == {"file": (b"x" * 1000, 0o644)}


async def test_an_empty_folder_comes_out_and_goes_in(session):
    await session.put_tar(tar_of(("empty", b"", {"type": tarfile.DIRTYPE})), "folders")
    assert await unpacked(session, "folders") == {"empty": (None, 0o755)}


async def test_links_are_left_out_of_an_archive(session, sh):
    await sh("mkdir linked; cd linked; echo > file; ln -s file link; ln -s /etc/passwd out; mkfifo pipe")
    assert list(await unpacked(session, "linked")) == ["file"]


@pytest.mark.parametrize(
    "member",
    [
        ("/etc/x", b"x"),
        ("../x", b"x"),
        ("a/../../x", b"x"),
        ("link", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}),
        ("hard", b"", {"type": tarfile.LNKTYPE, "linkname": "good"}),
        ("pipe", b"", {"type": tarfile.FIFOTYPE}),
        ("device", b"", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3}),
    ],
)
async def test_an_archive_with_anything_that_is_no_file_of_its_folder_changes_nothing(session, member):
    await session.write_file("refused/kept", b"x")
    with pytest.raises(InputError):
        await session.put_tar(tar_of(("good", b"x"), member), "refused", remove=["refused/kept"])
    assert [entry.name for entry in await session.list_folder("refused")] == ["kept"]


@pytest.mark.parametrize("data", [b"no archive", b"x" * 10_000, tar_of(("a", b"x" * 5000))[:2000]])
async def test_what_is_no_archive_is_refused(session, data):
    with pytest.raises(InputError):
        await session.put_tar(data, "none")


async def test_files_replace_files_but_links_on_the_way_are_not_followed(session, sh, tmp_path):
    await session.write_file("replace/file", b"old")
    await sh(f"ln -s {tmp_path} replace/out; ln -s {tmp_path}/target replace/link")
    await session.put_tar(tar_of(("file", b"new"), ("link", b"own")), "replace")
    assert await session.read_file("replace/file") == b"new"
    assert await session.read_file("replace/link") == b"own"
    with pytest.raises(InputError):
        await session.put_tar(tar_of(("out/planted", b"x")), "replace")
    assert list(tmp_path.iterdir()) == []


async def test_paths_are_removed_first_and_what_is_not_there_is_no_error(session):
    await session.put_tar(tar_of(("old/a", b""), ("kept", b"")), "round")
    await session.put_tar(tar_of(("new", b"")), "round", remove=["round/old", "round/never", "round/kept/below"])
    assert [entry.name for entry in await session.list_folder("round")] == ["kept", "new"]
    await session.put_tar(b"", remove=["round"])
    assert await session.digests(["round"]) == {"round": None}


async def test_a_folder_that_is_replaced_is_there_and_whole_at_every_moment(session, sh):
    """A reader that never stops finds the two files of one archive, the old one or the new one."""

    def version(number):
        return tar_of(("pdf/a", b"%d" % number), *((f"pdf/{n}", b"") for n in range(50)), ("pdf/b", b"%d" % number))

    await session.put_tar(version(0), "swap")
    look = "a=$(cat swap/pdf/a) && b=$(cat swap/pdf/b)"
    torn = '[ "$a" = "$(cat swap/pdf/a)" ] && [ "$a" != "$b" ] && echo torn'
    # Whoever is in the old folder as it is replaced sees it being emptied, so a second look may be needed.
    reader = f"while [ ! -e done ]; do {look} || {look} || echo missing; {torn}; done 2>/dev/null"
    reading = asyncio.create_task(sh(reader))
    for number in range(1, 30):
        await session.put_tar(version(number), "swap", remove=["swap/pdf"])
    await session.write_file("done", b"")
    assert (await reading).stdout == b""
    assert [entry.name for entry in await session.list_folder("swap")] == ["pdf"]
    assert await session.read_file("swap/pdf/b") == b"29"


async def test_an_archive_larger_than_the_bounds_is_refused(start):
    session = await start(limits=Limits(file_bytes=100_000, disk_bytes=400_000))
    with pytest.raises(LimitError):
        await session.put_tar(tar_of(("large", b"x" * 100_001)))
    with pytest.raises(LimitError):
        await session.put_tar(tar_of(*((str(number), b"x" * 90_000) for number in range(5))))
    assert await session.list_folder() == []


async def test_many_files_arrive_whole_and_have_the_digest_of_their_bundle(session):
    files = [BundleFile(f"d{number % 20}/f{number}", b"%d" % number * 50, number % 7 == 0) for number in range(1000)]
    members = [(file.path, file.data, {"mode": 0o755 if file.executable else 0o644}) for file in files]
    await session.put_tar(tar_of(*members), "bundle")
    assert await session.digests(["bundle"]) == {"bundle": Bundle(files).digest}


async def test_a_reader_that_stops_early_leaves_the_sandbox_as_it_is(session, sh):
    await sh("mkdir heavy; head -c 20000000 /dev/zero > heavy/zeros")
    stream = session.get_tar("heavy")
    async for _ in stream:
        break
    await stream.aclose()
    assert (await sh("echo on")).stdout == b"on\n"
    assert await session.read_file("heavy/zeros") == bytes(20_000_000)
