"""The skills of a sandbox: a folder of its workspace, reached only through its session."""

import asyncio
import io
import tarfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, Protocol

from skillyard.delivery.manifest import MANIFEST_NAME, MAX_MANIFEST_BYTES
from skillyard.delivery.skills_place import UNREADABLE, Parcel, in_file_order, turn
from skillyard.errors import SandboxDiedError, SkillyardError
from skillyard.sandbox.session import FileEntry
from skillyard.skill.bundle import Bundle

SKILLS_FOLDER: Final = "skills"
"""Below the workspace."""

_MODIFIED: Final = 946_684_800
"""The first second of 2000: the same bytes make the same archive, and zip can hold that time."""
_EXECUTABLE: Final = 0o755
_PLAIN: Final = 0o644


class Workspace(Protocol):
    """What a delivery needs of a sandbox's `Session`."""

    async def read_file(self, path: str, *, max_bytes: int | None = None) -> bytes: ...

    async def list_folder(self, path: str = ".") -> Sequence[FileEntry]: ...

    async def put_tar(self, data: bytes, path: str = ".", *, remove: Sequence[str] = ()) -> None: ...

    async def digests(self, paths: Sequence[str]) -> Mapping[str, str | None]: ...


class SandboxPlace:
    """`/workspace/skills` of a running sandbox."""

    def __init__(self, session: Workspace, *, folder: str = SKILLS_FOLDER) -> None:
        self._session = session
        self._folder = folder

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        # A sandbox lives in the process that started it, so nobody outside needs to be kept waiting.
        async with turn(self._session):
            yield

    async def manifest(self) -> bytes | None:
        try:
            return await self._session.read_file(self._path(MANIFEST_NAME), max_bytes=MAX_MANIFEST_BYTES)
        except SandboxDiedError:
            raise
        except SkillyardError:  # a link that leads out, a folder, too large: whatever it is, it is not ours
            return None

    async def digests(self, folders: Sequence[str]) -> Mapping[str, str | None]:
        if not folders:
            return {}
        paths = {folder: self._path(folder) for folder in folders}
        try:
            found = await self._session.digests(list(paths.values()))
        except SandboxDiedError:
            raise
        except SkillyardError:
            if len(folders) == 1:
                return {folders[0]: UNREADABLE}
            # Something planted in one of them, such as a link that leads out, must not hide the others.
            alone = [await self.digests([folder]) for folder in folders]
            return {folder: digest for each in alone for folder, digest in each.items()}
        return {folder: found.get(path) for folder, path in paths.items()}

    async def names(self) -> Sequence[str]:
        try:
            return [entry.name for entry in await self._session.list_folder(self._folder)]
        except SandboxDiedError:
            raise
        except SkillyardError:
            return []

    async def apply(self, parcel: Parcel) -> None:
        """One archive, one round trip."""
        archive = await asyncio.to_thread(pack_parcel, parcel)
        await self._session.put_tar(archive, self._folder, remove=[self._path(folder) for folder in parcel.remove])

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"


def pack_parcel(parcel: Parcel) -> bytes:
    """The parcel as an archive: the manifest first, so that what is interrupted is known as ours.

    Each `SKILL.md` comes after all other files of its skill: where folders are not shown whole, none is half there.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        _add(archive, MANIFEST_NAME, parcel.manifest, _PLAIN)
        for name, bundle in parcel.put.items():
            _add_skill(archive, name, bundle)
    return buffer.getvalue()


def _add_skill(archive: tarfile.TarFile, path: str, bundle: Bundle) -> None:
    for file in in_file_order(bundle):
        _add(archive, f"{path}/{file.path}", file.data, _EXECUTABLE if file.executable else _PLAIN)


def _add(archive: tarfile.TarFile, path: str, data: bytes, mode: int) -> None:
    member = tarfile.TarInfo(path)
    member.size = len(data)
    member.mode = mode
    member.mtime = _MODIFIED
    archive.addfile(member, io.BytesIO(data))
