"""Places of skills: wherever delivered folders lie, a sandbox or a folder of this machine."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from skillyard.skill.bundle import SKILL_FILE, Bundle, BundleFile

UNREADABLE: Final = "unreadable"
"""In place of the digest of something that cannot be looked into."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Parcel:
    """What is done to a place at once."""

    manifest: bytes
    """As it is to be afterwards; written before the folders, so that a half-written one is known as ours."""
    remove: tuple[str, ...] = ()
    """What is to be taken away first, folders or a manifest that is none. What is not there is no error."""
    put: Mapping[str, Bundle] = field(default_factory=dict[str, Bundle])
    """Folders to write, in place of what has their name."""
    delivered: Mapping[str, str] = field(default_factory=dict[str, str])
    """The digests of what we delivered into these folders before: what is like that need not be kept."""


@runtime_checkable
class SkillsPlace(Protocol):
    """A folder of skills, some of them ours."""

    def held(self) -> AbstractAsyncContextManager[None]:
        """Keeps other deliveries to the same place waiting."""
        ...

    async def manifest(self) -> bytes | None:
        """The manifest as it lies there; None where there is none, or none that could be ours."""
        ...

    async def digests(self, folders: Sequence[str]) -> Mapping[str, str | None]:
        """The tree digest of each folder; some other text for what is no such folder, None for nothing."""
        ...

    async def names(self) -> Sequence[str]:
        """The names of everything there."""
        ...

    async def apply(self, parcel: Parcel) -> None:
        """Remove, then write. Doing it again finishes what a crash interrupted."""
        ...


def turn(key: object) -> asyncio.Lock:
    """What those wait for who deliver to the same object of this process."""
    return _TURNS.setdefault(key, asyncio.Lock())


def in_file_order(bundle: Bundle) -> list[BundleFile]:
    """The files as they are written: `SKILL.md` last, so that nobody meets a skill that is half there."""
    return sorted(bundle, key=lambda file: file.path == SKILL_FILE)


_TURNS: Final[WeakKeyDictionary[object, asyncio.Lock]] = WeakKeyDictionary()
