"""Locks on files: the system gives them back when their process ends, however it ends."""

import asyncio
import contextlib
import os
from pathlib import Path

from skillyard.cancellation import to_the_end
from skillyard.file_lock import lock_now
from skillyard.jobs.locks import Lost, taken_whole


class FileLocks:
    """A file for each lock that is held, in a folder that all processes share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, int] = {}

    async def take(self, name: str, lost: Lost) -> bool:  # noqa: ARG002 -- they are not lost
        return await taken_whole(self, name, self._taken(name))

    async def give_back(self, name: str) -> None:
        descriptor = self._held.pop(name, None)
        if descriptor is not None:
            # To the end, though whoever gives it back is cancelled: nobody else could.
            await to_the_end(asyncio.to_thread(self._give_back, name, descriptor))

    async def close(self) -> None:
        for name in list(self._held):
            await self.give_back(name)

    async def _taken(self, name: str) -> bool:
        descriptor = await asyncio.to_thread(self._take, name)
        if descriptor is None:
            return False
        self._held[name] = descriptor
        return True

    def _take(self, name: str) -> int | None:
        path = self._path(name)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                lock_now(descriptor)
                # Whoever held it before may have removed the file since it was opened: then this is no longer the lock.
                if _is_at(descriptor, path):
                    return descriptor
            except BlockingIOError:
                os.close(descriptor)
                return None
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def _give_back(self, name: str, descriptor: int) -> None:
        with contextlib.suppress(OSError):  # a file that stays does no harm
            self._path(name).unlink()  # while it is held: nobody else has it
        os.close(descriptor)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.lock"


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
