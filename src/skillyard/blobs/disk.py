"""Blobs in a folder: written beside, synced and renamed, so that each is whole and stays."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from skillyard.blobs.address import BlobMissingError, blob_key, digest, key_sha256, verified
from skillyard.errors import StoreUnavailableError
from skillyard.files import require_writable, sync_folder

Item = TypeVar("Item")
Result = TypeVar("Result")

_WRITERS: Final = 4
"""Threads that write and sync at once; ten were no quicker when measured."""
_INCOMING: Final = "incoming"
_PRIVATE: Final = 0o700


class DiskBlobs:
    def __init__(self, root: Path) -> None:
        self.place = str(root)
        self._root = root.absolute()
        self._incoming = self._root / _INCOMING
        self._lasting: set[Path] = set()
        """Folders whose own names are known to be durable."""

    def holds_any(self) -> bool:
        """Whether anything was ever put here and is still there."""
        folders = (self._root / f"{number:02x}" for number in range(256))
        return any(next(folder.iterdir(), None) is not None for folder in folders if folder.is_dir())

    async def require_writable(self) -> None:
        with self._reaching():
            if self._root.exists():
                await asyncio.to_thread(require_writable, self._root)

    async def put(self, data: bytes) -> str:
        return (await self.put_all([data]))[0]

    async def put_all(self, contents: Iterable[bytes]) -> list[str]:
        with self._reaching():
            if self._incoming not in self._lasting:
                await asyncio.to_thread(self._make_root)
            paths = await _spread(self._write, list(contents))
            folders = {path.parent for path in paths}
            # Also where nothing was written: whoever did write there may not have come to this yet.
            fresh = folders - self._lasting
            await _spread(sync_folder, [*folders, self._root] if fresh else list(folders))
            self._lasting |= fresh
        return [path.parent.name + path.name for path in paths]

    async def get(self, sha256: str) -> bytes:
        return (await self.get_all([sha256]))[sha256]

    async def get_all(self, hashes: Sequence[str]) -> dict[str, bytes]:
        with self._reaching():
            return await asyncio.to_thread(lambda: {sha256: self._read(sha256) for sha256 in hashes})

    async def has(self, sha256: str) -> bool:
        with self._reaching():
            return await asyncio.to_thread(self._path(sha256).is_file)

    async def delete(self, sha256: str) -> None:
        with self._reaching():
            await asyncio.to_thread(self._path(sha256).unlink, missing_ok=True)

    async def tidy(self, older_than: datetime) -> None:
        with self._reaching():
            for left in await asyncio.to_thread(_older, self._incoming, older_than):
                await asyncio.to_thread((self._incoming / left).unlink, missing_ok=True)

    async def list(self, older_than: datetime) -> AsyncIterator[str]:
        for number in range(256):
            folder = f"{number:02x}"
            with self._reaching():
                names = await asyncio.to_thread(_older, self._root / folder, older_than)
            for name in names:
                sha256 = key_sha256(f"{folder}/{name}")
                if sha256 is not None:
                    yield sha256

    def _path(self, sha256: str) -> Path:
        return self._root / blob_key(sha256)

    def _read(self, sha256: str) -> bytes:
        try:
            data = self._path(sha256).read_bytes()
        except FileNotFoundError:
            raise BlobMissingError(sha256, self.place) from None
        return verified(data, sha256, self.place)

    def _write(self, data: bytes) -> Path:
        """Put one blob where it belongs; its folder is not synced yet."""
        path = self._path(digest(data))
        try:
            # Renamed into place it is whole; another size is damage from outside, and mended.
            if path.stat().st_size == len(data):
                return path
        except FileNotFoundError:
            path.parent.mkdir(mode=_PRIVATE, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=self._incoming)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            Path(beside).replace(path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
        return path

    def _make_root(self) -> None:
        """Make the store's folder, durably, and whatever folders above it are missing."""
        above = self._root.parent
        missing = [above, *(folder for folder in above.parents if not folder.exists())]
        for folder in (*reversed(missing), self._root, self._incoming):
            folder.mkdir(mode=_PRIVATE, exist_ok=True)
            if folder.parent != folder:
                sync_folder(folder.parent)
        self._lasting.add(self._incoming)

    @contextmanager
    def _reaching(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise StoreUnavailableError(
                f"The store of blobs {self.place} cannot be used: {error.strerror or error}.",
                hint="Check SKILLYARD_BLOBS_URL, the folder's owner and the free space there.",
                details={"store": self.place},
            ) from error


def _older(folder: Path, than: datetime) -> list[str]:
    """The names of the files in a folder that were written before a moment."""
    older: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    written = datetime.fromtimestamp(entry.stat(follow_symlinks=False).st_mtime, UTC)
                except FileNotFoundError:
                    continue
                if written < than and entry.is_file(follow_symlinks=False):
                    older.append(entry.name)
    except FileNotFoundError:
        return []
    return older


async def _spread(action: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """What the action answered for each item, in their order, done by a few threads."""

    def some(share: Sequence[Item]) -> list[Result]:
        return [action(item) for item in share]

    shares = [items[start::_WRITERS] for start in range(min(_WRITERS, len(items)))]
    done = await asyncio.gather(*(asyncio.to_thread(some, share) for share in shares))
    return [done[index % _WRITERS][index // _WRITERS] for index in range(len(items))]
