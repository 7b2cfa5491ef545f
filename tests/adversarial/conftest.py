"""What the harnesses that torment a registry share: its worker process, and a look at whether the store is sound."""

import hashlib
import importlib.util
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from sqlalchemy import distinct, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.app.yard import Yard, open_yard
from skillyard.clock import utc_now
from skillyard.config.settings import Settings
from skillyard.history.models import EntryRow
from skillyard.identity.principals import Principal
from skillyard.registry.models import BundleFileRow, BundleRow, SkillFileRow, SkillRow, VersionRow
from skillyard.skill.bundle import Bundle, BundleFile

_SCRIPT = Path(__file__).with_name("registry_worker.py")
_PUBLISHED = (EntryRow.action == "version.published") & (EntryRow.outcome == "done")


class File(NamedTuple):
    """A line of a list of files, as both a bundle and a working copy keep it."""

    path: str
    sha256: str
    size: int
    executable: bool


@pytest.fixture(scope="session")
def worker() -> ModuleType:
    """The worker's own words, for the side that checks it."""
    spec = importlib.util.spec_from_file_location("registry_worker", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def start_worker() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts worker processes; none outlives its test."""
    with ExitStack() as stack:

        def start(task: str, settings: Settings, *arguments: object) -> subprocess.Popen[str]:
            places = [str(settings.home), settings.database, settings.blobs]
            process = subprocess.Popen(
                [sys.executable, str(_SCRIPT), task, *places, *map(str, arguments)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield start


@dataclass(frozen=True, kw_only=True)
class Store:
    """An opened store and the one who publishes in it."""

    settings: Settings
    yard: Yard
    principal: Principal

    async def check(self, *, since: int = 0) -> int:
        """Whatever changes after a number touched is whole; answers with the number up to which that holds.

        Every row leads where it says, every byte is there, and the history tells all of it without a gap. From the
        beginning on, this is so for all that there is, and the file of the database is in order too.
        """
        async with self.yard.database.read() as session:
            entries = list(
                await session.scalars(select(EntryRow).where(EntryRow.number > since).order_by(EntryRow.number))
            )
            counter = await session.scalar(text("SELECT number FROM change_counter"))
            assert [entry.number for entry in entries] == list(range(since + 1, counter + 1))
            named = {entry.digest_after for entry in entries if entry.digest_after}
            await self._check_skills(session, {entry.subject_id for entry in entries if entry.subject_kind == "skill"})
            files = await self._files(session, named)
            await self._check_sums(session)
            if not since:
                assert set(await session.scalars(select(BundleRow.digest))) == named
                assert set(await session.scalars(select(BundleFileRow.digest).distinct())) == named
                await self._check_file(session)
        await self._check_bundles(files)
        return counter

    async def _check_skills(self, session: AsyncSession, ids: set[str]) -> None:
        """Each skill has the files of its bundle, and the versions that its history tells of."""
        kept: dict[str, set[File]] = {}
        for skill_id, *file in await session.execute(
            select(SkillFileRow.skill_id, *_file(SkillFileRow)).where(SkillFileRow.skill_id.in_(ids))
        ):
            kept.setdefault(skill_id, set()).add(File(*file))
        skills = {row.id: row for row in await session.scalars(select(SkillRow).where(SkillRow.id.in_(ids)))}
        assert skills.keys() >= ids - {""}  # without an id: what was refused before there was a skill
        stated = await self._files(session, {skill.digest for skill in skills.values()})
        assert kept == {skill.id: stated[skill.digest] for skill in skills.values()}
        versions = select(VersionRow.skill_id, VersionRow.version, VersionRow.digest)
        found = {tuple(row) for row in await session.execute(versions.where(VersionRow.skill_id.in_(ids)))}
        told = await session.scalars(select(EntryRow).where(_PUBLISHED, EntryRow.subject_id.in_(ids)))
        assert found == {(entry.subject_id, entry.after["version"], entry.digest_after) for entry in told}

    async def _files(self, session: AsyncSession, digests: set[str]) -> dict[str, set[File]]:
        """The files of each bundle; a bundle without one would be torn."""
        files: dict[str, set[File]] = {}
        for digest, *file in await session.execute(
            select(BundleFileRow.digest, *_file(BundleFileRow)).where(BundleFileRow.digest.in_(digests))
        ):
            files.setdefault(digest, set()).add(File(*file))
        assert files.keys() == digests
        return files

    async def _check_sums(self, session: AsyncSession) -> None:
        """There is no version, and no bundle, but for those that something tells of."""

        async def count(what: Any, *where: Any) -> int:
            return await session.scalar(select(func.count(what)).where(*where))

        assert await count(VersionRow.id) == await count(EntryRow.number, _PUBLISHED)
        assert await count(BundleRow.digest) == await count(distinct(EntryRow.digest_after))

    async def _check_file(self, session: AsyncSession) -> None:
        if self.yard.database.url.get_backend_name() == "sqlite":
            assert (await session.execute(text("PRAGMA integrity_check"))).scalars().all() == ["ok"]
            assert (await session.execute(text("PRAGMA foreign_key_check"))).all() == []

    async def _check_bundles(self, bundles: dict[str, set[File]]) -> None:
        """The bytes of each bundle are those of its name."""
        contents = await self.yard.blobs.get_all([file.sha256 for files in bundles.values() for file in files])
        for digest, files in bundles.items():
            assert all(file.size == len(contents[file.sha256]) for file in files)
            assert digest == Bundle(BundleFile(one.path, contents[one.sha256], one.executable) for one in files).digest

    async def blobs(self) -> set[str]:
        """The blobs that there are, each with the bytes of its name."""
        names = [sha256 async for sha256 in self.yard.blobs.list(utc_now() + timedelta(days=1))]
        for sha256, data in (await self.yard.blobs.get_all(names)).items():
            assert sha256 == hashlib.sha256(data).hexdigest()
        return set(names)

    @property
    def incoming(self) -> Path | None:
        """The folder of blobs that are being written, where blobs are in a folder."""
        return None if self.settings.blobs_url else self.settings.home / "blobs" / "incoming"


def _file(row: type[BundleFileRow | SkillFileRow]) -> tuple[Any, ...]:
    return row.path, row.sha256, row.size, row.executable


@pytest.fixture
def open_store(worker: ModuleType) -> Callable[[Settings], AbstractAsyncContextManager[Store]]:
    @asynccontextmanager
    async def opened(settings: Settings) -> AsyncIterator[Store]:
        async with open_yard(settings) as yard:
            yield Store(settings=settings, yard=yard, principal=await yard.access.operator(worker.PERSON))

    return opened
