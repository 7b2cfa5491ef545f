"""The skills of a file backend as deepagents has them: in memory, on disk or in somebody else's sandbox.

Nothing of deepagents is needed here: a backend is whatever has these methods.
"""

import json
import shlex
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol, cast, runtime_checkable

from skillyard.delivery.manifest import MANIFEST_NAME, MAX_MANIFEST_BYTES
from skillyard.delivery.skills_place import UNREADABLE, Parcel, in_file_order, turn
from skillyard.errors import UnavailableError
from skillyard.skill.bundle import Bundle, BundleFile, left_out_part
from skillyard.skill.limits import MAX_BUNDLE_BYTES, MAX_BUNDLE_FILES, MAX_PATH_DEPTH

BASE: Final = "/workspace/skills"
EXECUTABLES_NAME: Final = ".skillyard-executables.json"
"""Says which delivered files are executable: backends do not."""

_CHMOD_AT_ONCE: Final = 100


class Listing(Protocol):
    error: str | None
    entries: Any
    """`{"path": …, "is_dir": …, "size": …}` for each."""


class Reply(Protocol):
    error: Any


class Download(Protocol):
    error: Any
    content: bytes | None


@runtime_checkable
class FilesBackend(Protocol):
    """What is asked of a backend, named as deepagents names it."""

    async def als(self, path: str) -> Listing: ...

    async def adownload_files(self, paths: list[str]) -> Sequence[Download]: ...

    async def aupload_files(self, files: list[tuple[str, bytes]]) -> Sequence[Reply]: ...

    async def adelete(self, file_path: str) -> Reply: ...


class _TooMuchError(Exception):
    """There is more in a folder than any skill has."""


class BackendPlace:
    """A folder of such a backend. A look reads the files themselves, for a backend tells no digests."""

    def __init__(self, backend: FilesBackend, *, base: str = BASE) -> None:
        self._backend = backend
        self._base = base.rstrip("/")

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        async with turn(self._backend):
            yield

    async def manifest(self) -> bytes | None:
        return await self._own_file(MANIFEST_NAME)

    async def digests(self, folders: Sequence[str]) -> Mapping[str, str | None]:
        there = set(await self.names())
        executables = _read_executables(await self._own_file(EXECUTABLES_NAME))
        return {
            folder: await self._digest(folder, executables.get(folder, frozenset())) if folder in there else None
            for folder in folders
        }

    async def names(self) -> Sequence[str]:
        return [name for name, _, _ in await self._list(self._base)]

    async def apply(self, parcel: Parcel) -> None:
        there = set(await self.names())
        for folder in parcel.remove:
            if folder in there:
                await self._delete(folder)
        known = _read_executables(await self._own_file(EXECUTABLES_NAME))
        known = {folder: paths for folder, paths in known.items() if folder not in parcel.remove}
        known |= {folder: frozenset(_executables(bundle)) for folder, bundle in parcel.put.items()}
        files = [(MANIFEST_NAME, parcel.manifest), (EXECUTABLES_NAME, _write_executables(known))]
        for folder, bundle in parcel.put.items():
            files += [(f"{folder}/{file.path}", file.data) for file in in_file_order(bundle)]
        replies = await self._backend.aupload_files([(self._path(name), data) for name, data in files])
        for (name, _), reply in zip(files, replies, strict=False):
            if reply.error:
                raise UnavailableError(f"{name!r} could not be written there: {reply.error}.")
        await self._make_executable(
            [f"{folder}/{path}" for folder, bundle in parcel.put.items() for path in _executables(bundle)]
        )

    def _path(self, name: str) -> str:
        return f"{self._base}/{name}"

    async def _own_file(self, name: str) -> bytes | None:
        (found,) = await self._backend.adownload_files([self._path(name)])
        data = None if found.error else found.content
        return data if data is not None and len(data) <= MAX_MANIFEST_BYTES else None

    async def _list(self, path: str) -> list[tuple[str, bool, int]]:
        """Name, whether it is a folder, and size of everything in a folder; nothing where there is none."""
        found = await self._backend.als(path)
        entries = cast("Iterable[Mapping[str, Any]]", found.entries or () if not found.error else ())
        return [
            (str(entry["path"]).rstrip("/").rpartition("/")[2], bool(entry.get("is_dir")), int(entry.get("size") or 0))
            for entry in entries
        ]

    async def _digest(self, folder: str, executables: frozenset[str]) -> str:
        try:
            paths = await self._files(folder)
        except _TooMuchError:
            return UNREADABLE
        found = await self._backend.adownload_files([self._path(f"{folder}/{path}") for path in paths])
        files: list[BundleFile] = []
        for path, each in zip(paths, found, strict=True):
            if each.error or each.content is None:
                return UNREADABLE
            files.append(BundleFile(path, each.content, path in executables))
        return Bundle(files).digest

    async def _files(self, folder: str) -> list[str]:
        found: list[str] = []
        waiting = [""]
        size = 0
        while waiting:
            prefix = waiting.pop()
            for name, is_folder, length in await self._list(self._path(f"{folder}/{prefix}").rstrip("/")):
                path = f"{prefix}{name}"
                if left_out_part(name):
                    continue
                if is_folder:
                    waiting.append(f"{path}/")
                else:
                    found.append(path)
                    size += length
                if len(found) > MAX_BUNDLE_FILES or size > MAX_BUNDLE_BYTES or path.count("/") >= MAX_PATH_DEPTH:
                    raise _TooMuchError
        return found

    async def _delete(self, name: str) -> None:
        try:
            reply = await self._backend.adelete(self._path(name))
        except NotImplementedError:
            raise UnavailableError(f"{name!r} cannot be replaced: this backend deletes nothing.") from None
        if reply.error:
            raise UnavailableError(f"{name!r} could not be deleted there: {reply.error}.")

    async def _make_executable(self, paths: Sequence[str]) -> None:
        """Where commands can be run, files are really made executable."""
        execute = getattr(self._backend, "aexecute", None)
        if execute is None:
            return
        for start in range(0, len(paths), _CHMOD_AT_ONCE):
            some = [self._path(path) for path in paths[start : start + _CHMOD_AT_ONCE]]
            await execute(f"chmod +x -- {shlex.join(some)}")


def _executables(bundle: Bundle) -> list[str]:
    return [file.path for file in bundle if file.executable]


def _read_executables(data: bytes | None) -> dict[str, frozenset[str]]:
    """It lies where anybody may write to; at worst a folder is taken for changed and written again."""
    try:
        raw = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(raw, dict):
        return {}
    listed = cast("dict[str, object]", raw)
    return {
        folder: frozenset(map(str, cast("list[object]", paths)))
        for folder, paths in listed.items()
        if isinstance(paths, list)
    }


def _write_executables(known: Mapping[str, frozenset[str]]) -> bytes:
    return json.dumps({folder: sorted(paths) for folder, paths in sorted(known.items()) if paths}).encode()
