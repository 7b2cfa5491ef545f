"""The skills of a folder on this machine, such as the one that an agent reads."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from skillyard.delivery.guard import only_writer
from skillyard.delivery.look import Kind, look_at
from skillyard.delivery.manifest import MANIFEST_NAME, MAX_MANIFEST_BYTES
from skillyard.delivery.place import LockPlace, folder_place
from skillyard.delivery.skills_place import Parcel
from skillyard.delivery.trash import Trash
from skillyard.errors import SkillyardError, UnavailableError
from skillyard.files import replace_file
from skillyard.library.disk import discard_folder, hidden_beside, swap_folder
from skillyard.library.regular import read_regular
from skillyard.skill.bundle import Bundle

_MANIFEST_MODE: Final = 0o644


class FolderPlace:
    """A folder of skills on disk. What somebody changed since we delivered it goes to the trash before it gives way."""

    def __init__(self, root: Path, *, home: Path) -> None:
        self._root = root
        self._home = home

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        # In a thread of its own: those that wait must not take the threads that the one they wait for works in.
        waiting = ThreadPoolExecutor(1)
        with ExitStack() as stack:
            stack.callback(waiting.shutdown, wait=False)
            guard = only_writer(self._place, self._home)
            await asyncio.get_running_loop().run_in_executor(waiting, stack.enter_context, guard)
            yield

    async def manifest(self) -> bytes | None:
        return await asyncio.to_thread(self._manifest)

    async def digests(self, folders: Sequence[str]) -> Mapping[str, str | None]:
        return await asyncio.to_thread(lambda: {folder: self._digest(folder) for folder in folders})

    async def names(self) -> Sequence[str]:
        return await asyncio.to_thread(self._names)

    async def apply(self, parcel: Parcel) -> None:
        await asyncio.to_thread(self._apply, parcel)

    @property
    def _place(self) -> LockPlace:
        return folder_place(self._root)

    def _manifest(self) -> bytes | None:
        try:
            return read_regular(str(self._root / MANIFEST_NAME), MAX_MANIFEST_BYTES)
        except (SkillyardError, OSError):
            return None

    def _digest(self, folder: str) -> str | None:
        seen = look_at(self._root / folder)
        return None if seen.kind is Kind.ABSENT else seen.mark

    def _names(self) -> list[str]:
        return [path.name for path in self._root.iterdir()] if self._root.is_dir() else []

    def _apply(self, parcel: Parcel) -> None:
        try:
            for folder in parcel.remove:
                if folder not in parcel.put:
                    self._take_away(self._root / folder, parcel.delivered.get(folder, ""))
            replace_file(self._root / MANIFEST_NAME, parcel.manifest, mode=_MANIFEST_MODE)
            for folder, bundle in parcel.put.items():
                self._put(self._root / folder, bundle, parcel.delivered.get(folder, ""))
        except OSError as error:
            raise UnavailableError(
                f"{error.filename or self._root} could not be written: {error.strerror or error}.",
                hint="Check the permissions and the space there, then deliver again.",
            ) from error

    def _put(self, path: Path, bundle: Bundle, delivered: str) -> None:
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            self._take_away(path, delivered)
        old = swap_folder(bundle, path)
        if old is not None:
            self._let_go(old, path, delivered)

    def _take_away(self, path: Path, delivered: str) -> None:
        if path.is_symlink():
            path.unlink()
        elif path.exists():
            aside = hidden_beside(path)
            path.rename(aside)
            self._let_go(aside, path, delivered)

    def _let_go(self, old: Path, path: Path, delivered: str) -> None:
        """Delete what is as we delivered it, which can be had again; the trash keeps anything else."""
        seen = look_at(old)
        if seen.digest == delivered and not seen.holds_more:
            discard_folder(old)
        else:
            Trash(self._home).move(old, was=path, place=self._place, entry=None)
