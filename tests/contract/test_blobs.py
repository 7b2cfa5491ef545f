"""What every store of blobs keeps to, on a disk and in a bucket."""

import asyncio
import hashlib
import os
from datetime import timedelta
from pathlib import Path

import pytest
from obstore.store import S3Store

from skillyard.blobs.address import BlobCorruptError, BlobMissingError, blob_key
from skillyard.blobs.store import Blobs, open_blobs
from skillyard.clock import utc_now
from skillyard.errors import InputError, UnavailableError

pytestmark = pytest.mark.anyio

BUCKET = "yard"
PREFIX = "some/where"
BINARY = bytes(range(256)) * 3 + b"\r\n\0"
LARGE = os.urandom(5 * 1024 * 1024)
MINUTE = timedelta(minutes=1)


class Kept:
    """A store and the way behind its back."""

    def __init__(self, blobs: Blobs, outside: "Folder | Bucket") -> None:
        self.blobs = blobs
        self.outside = outside


class Folder:
    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, key: str, data: bytes) -> None:
        path = self.root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def read(self, key: str) -> bytes:
        return (self.root / key).read_bytes()


class Bucket:
    def __init__(self) -> None:
        self.store = S3Store(BUCKET, prefix=PREFIX, client_options={"allow_http": True})

    def write(self, key: str, data: bytes) -> None:
        self.store.put(key, data)

    def read(self, key: str) -> bytes:
        return bytes(self.store.get(key).bytes())

    def empty(self) -> None:
        for page in self.store.list():
            self.store.delete([found["path"] for found in page])


@pytest.fixture(params=["disk", "s3"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    if request.param == "disk":
        return Kept(open_blobs(f"file://{tmp_path}/blobs"), Folder(tmp_path / "blobs"))
    assert request.getfixturevalue("s3_bucket") == BUCKET
    bucket = Bucket()
    bucket.empty()
    return Kept(open_blobs(f"s3://{BUCKET}/{PREFIX}"), bucket)


@pytest.fixture
def blobs(kept: Kept) -> Blobs:
    return kept.blobs


async def names(blobs: Blobs) -> list[str]:
    return sorted([name async for name in blobs.list(utc_now() + MINUTE)])


@pytest.mark.parametrize("data", [b"", b"text\n", BINARY, LARGE], ids=["empty", "text", "binary", "5 MiB"])
async def test_bytes_come_back_as_they_were_put(blobs, data):
    sha256 = await blobs.put(data)
    assert sha256 == hashlib.sha256(data).hexdigest()
    assert await blobs.get(sha256) == data
    assert await blobs.has(sha256)


async def test_a_blob_lies_under_its_name_in_a_folder_of_its_first_two_digits(kept):
    sha256 = await kept.blobs.put(BINARY)
    assert kept.outside.read(f"{sha256[:2]}/{sha256[2:]}") == BINARY


async def test_several_are_put_and_read_at_once(blobs):
    contents = [b"%d" % number for number in range(30)]
    hashes = await blobs.put_all(iter(contents))
    assert hashes == [hashlib.sha256(data).hexdigest() for data in contents]
    assert await blobs.get_all(hashes) == dict(zip(hashes, contents, strict=True))


async def test_nothing_is_put_and_read_at_once(blobs):
    assert await blobs.put_all([]) == []
    assert await blobs.get_all([]) == {}


async def test_the_same_bytes_are_kept_once(blobs):
    first = await blobs.put(BINARY)
    assert await blobs.put_all([BINARY, b"other", BINARY]) == [first, hashlib.sha256(b"other").hexdigest(), first]
    assert len(await names(blobs)) == 2
    assert await blobs.get_all([first, first]) == {first: BINARY}


async def test_the_same_bytes_put_at_the_same_time_are_kept_once(blobs):
    hashes = await asyncio.gather(*(blobs.put(BINARY) for _ in range(12)))
    assert set(hashes) == {hashlib.sha256(BINARY).hexdigest()}
    assert await names(blobs) == [hashes[0]]
    assert await blobs.get(hashes[0]) == BINARY


async def test_a_missing_blob_is_named(blobs):
    sha256 = hashlib.sha256(b"never put").hexdigest()
    assert not await blobs.has(sha256)
    with pytest.raises(BlobMissingError, match=sha256):
        await blobs.get(sha256)
    with pytest.raises(BlobMissingError, match=sha256):
        await blobs.get_all([await blobs.put(b"there"), sha256])


@pytest.mark.parametrize("damage", [b"", b"texT\n", b"text\nand more"], ids=["cut", "changed", "longer"])
async def test_a_corrupt_blob_is_named_and_not_given_out(kept, damage):
    sha256 = await kept.blobs.put(b"text\n")
    kept.outside.write(blob_key(sha256), damage)
    with pytest.raises(BlobCorruptError, match=sha256):
        await kept.blobs.get(sha256)
    with pytest.raises(BlobCorruptError, match=sha256):
        await kept.blobs.get_all([sha256])


async def test_a_blob_that_was_cut_is_mended_by_putting_it_again(kept):
    sha256 = await kept.blobs.put(b"text\n")
    kept.outside.write(blob_key(sha256), b"te")
    await kept.blobs.put(b"text\n")
    assert await kept.blobs.get(sha256) == b"text\n"


async def test_blobs_are_listed_by_age(blobs):
    hashes = await blobs.put_all([b"1", b"2"])
    assert [name async for name in blobs.list(utc_now() - MINUTE)] == []
    assert await names(blobs) == sorted(hashes)


async def test_what_is_no_blob_is_not_listed(kept):
    sha256 = await kept.blobs.put(b"1")
    for key in ("readme.txt", "ab/short", f"AB/{'0' * 62}", f"deep/ab/{'0' * 62}"):
        kept.outside.write(key, b"x")
    assert await names(kept.blobs) == [sha256]


async def test_a_store_that_nothing_was_put_into_is_empty(blobs):
    assert await names(blobs) == []
    await blobs.tidy(utc_now())


async def test_a_deleted_blob_is_gone_and_deleting_it_again_is_no_error(blobs):
    sha256, other = await blobs.put_all([b"1", b"2"])
    await blobs.delete(sha256)
    await blobs.delete(sha256)
    assert not await blobs.has(sha256)
    assert await names(blobs) == [other]
    assert await blobs.put(b"1") == sha256
    assert await blobs.get(sha256) == b"1"


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n"])
async def test_a_name_that_is_no_hash_leads_nowhere(blobs, name):
    for action in (blobs.get, blobs.has, blobs.delete):
        with pytest.raises(InputError, match="SHA-256"):
            await action(name)


@pytest.mark.parametrize("kept", ["s3"], indirect=True)
async def test_a_bucket_that_does_not_exist_is_unavailable(kept):
    with pytest.raises(UnavailableError, match="s3://elsewhere"):
        await open_blobs("s3://elsewhere").put(b"1")
