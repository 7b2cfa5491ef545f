"""The states of a skill's files, by whatever name they are asked for, and what differs between two."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from skillyard.db.database import Database
from skillyard.errors import NotFoundError
from skillyard.identity.principals import Principal
from skillyard.identity.store import namespace_with_id
from skillyard.registry.bundles import Bundles, StoredFile
from skillyard.registry.policies import ships_draft
from skillyard.registry.shelf import Shelf
from skillyard.registry.skills import Skill, Version
from skillyard.registry.store import latest_of, versions_of
from skillyard.registry.versions import DRAFT, LATEST, Versions
from skillyard.skill.bundle import Bundle
from skillyard.skill.diff import BundleDiff, diff_bundles

_DIGEST: Final = "sha256:"


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """The files of a skill at one time: those of a version, or of the working copy."""

    skill: Skill
    version: Version | None = None
    """None: the working copy."""

    @property
    def digest(self) -> str:
        return self.version.digest if self.version else self.skill.digest

    @property
    def label(self) -> str:
        return self.version.version if self.version else DRAFT


@dataclass(frozen=True, kw_only=True, slots=True)
class StateDiff:
    """What differs between two states of a skill."""

    old: State | None
    """None: nothing was published yet, so every file is new."""
    new: State
    files: BundleDiff


class States:
    """Finds states of skills. A name is a version, a tag, a version's digest, or `draft` for the working copy."""

    def __init__(self, database: Database, shelf: Shelf, versions: Versions, bundles: Bundles) -> None:
        self._database = database
        self._shelf = shelf
        self._versions = versions
        self._bundles = bundles

    async def shipped(self, principal: Principal, skill_id: str) -> State:
        """What is given to those who ask for no version: the latest, or the working copy where that is shipped."""
        skill = await self._shelf.get(principal, skill_id)
        async with self._database.read() as session:
            ever = (await versions_of(session, [skill.id]))[skill.id]
            namespace = await namespace_with_id(session, skill.namespace_id)
        newest = latest_of(ever)
        if newest is None and not (
            namespace and ships_draft(namespace.policy, skill.findings, has_versions=bool(ever))
        ):
            raise NotFoundError(
                f"No version of {skill.full_name!r} is shipped.",
                hint="Name one by its number, or 'draft' for the working copy.",
                details={"skill": skill_id},
            )
        return State(skill=skill, version=newest)

    async def named(self, principal: Principal, skill_id: str, wanted: str) -> State:
        return await self.of(principal, await self._shelf.get(principal, skill_id), wanted)

    async def of(self, principal: Principal, skill: Skill, wanted: str) -> State:
        """A state of a skill that was given to the principal."""
        if wanted == DRAFT:
            return State(skill=skill)
        if not wanted.startswith(_DIGEST):
            return State(skill=skill, version=await self._versions.get(principal, skill.id, wanted))
        versions = await self._versions.all(principal, skill.id)
        version = next((one for one in versions if one.digest == wanted), None)
        if version is None and skill.digest != wanted:
            raise NotFoundError(
                f"No version of {skill.full_name!r} has the digest {wanted!r}.",
                hint="Name a version, a tag or 'draft'.",
                details={"skill": skill.id, "version": wanted},
            )
        return State(skill=skill, version=version)

    async def files(self, state: State) -> list[StoredFile]:
        return await self._bundles.files(state.digest)

    async def file(self, state: State, path: str) -> tuple[StoredFile, bytes]:
        """One file of a state, with its bytes."""
        return await self.file_among(state, await self.files(state), path)

    async def file_among(self, state: State, files: Sequence[StoredFile], path: str) -> tuple[StoredFile, bytes]:
        """The same where all files of the state are known."""
        file = next((file for file in files if file.path == path), None)
        if file is None:
            raise NotFoundError(
                f"{state.skill.full_name!r} ({state.label}) has no file {path!r}.",
                hint=f"It has: {', '.join(file.path for file in files[:10])}.",
                details={"skill": state.skill.full_name, "version": state.label, "path": path},
            )
        return file, await self._bundles.content(file.sha256)

    async def bundle(self, state: State) -> Bundle:
        return await self._bundles.load(state.digest)

    async def diff(self, principal: Principal, skill_id: str, *, old: str | None = None, new: str = DRAFT) -> StateDiff:
        """What differs between two states, by default from what was last published to the working copy."""
        after = await self.named(principal, skill_id, new)
        if old is None and latest_of(await self._versions.all(principal, skill_id)) is None:
            before = None
        else:
            before = await self.named(principal, skill_id, old or LATEST)
        first = await self.bundle(before) if before else Bundle(())
        second = await self.bundle(after)
        return StateDiff(old=before, new=after, files=await asyncio.to_thread(diff_bundles, first, second))
