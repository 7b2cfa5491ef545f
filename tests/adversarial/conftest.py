"""What the harnesses that torment a registry share: its worker process, and a look at whether the store is sound."""

import hashlib
import importlib.util
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from sqlalchemy import select, text

from skillyard.app.yard import Yard, open_yard
from skillyard.blobs.address import key_sha256
from skillyard.history.models import EntryRow
from skillyard.identity.principals import Principal
from skillyard.registry.models import BundleFileRow, BundleRow, SkillFileRow, SkillRow, VersionRow

_SCRIPT = Path(__file__).with_name("registry_worker.py")


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

        def start(task: str, home: Path, database: str, *arguments: object) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, str(_SCRIPT), task, str(home), database, *map(str, arguments)],
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

    home: Path
    yard: Yard
    principal: Principal

    async def check(self) -> None:
        """Every row leads where it says, every byte is there, and the history tells all of it without a gap."""
        async with self.yard.database.read() as session:
            bundles = {row.digest for row in await session.scalars(select(BundleRow))}
            files: dict[str, list[BundleFileRow]] = {digest: [] for digest in bundles}
            for row in await session.scalars(select(BundleFileRow)):
                files[row.digest].append(row)
            skills = list(await session.scalars(select(SkillRow)))
            versions = list(await session.scalars(select(VersionRow)))
            entries = list(await session.scalars(select(EntryRow).order_by(EntryRow.number)))
            kept = list(await session.scalars(select(SkillFileRow)))
            counter = await session.scalar(text("SELECT number FROM change_counter"))
            if self.yard.database.url.get_backend_name() == "sqlite":
                assert (await session.execute(text("PRAGMA integrity_check"))).scalars().all() == ["ok"]
                assert (await session.execute(text("PRAGMA foreign_key_check"))).all() == []
        named = {row.digest for row in (*skills, *versions)} | {e.digest_after for e in entries if e.digest_after}
        assert named <= bundles
        for digest in bundles:
            assert (await self.yard.registry.bundles.load(digest)).digest == digest
        for skill in skills:
            lines = {(row.path, row.sha256, row.size, row.executable) for row in kept if row.skill_id == skill.id}
            assert lines == {(row.path, row.sha256, row.size, row.executable) for row in files[skill.digest]}
        assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
        assert counter == len(entries)
        published = {
            (entry.subject_id, (entry.after or {})["version"], entry.digest_after)
            for entry in entries
            if entry.action == "version.published" and entry.outcome == "done"
        }
        assert {(row.skill_id, row.version, row.digest) for row in versions} == published

    def blobs(self) -> set[str]:
        """The blobs on the disk, each with the bytes of its name."""
        root = self.home / "blobs"
        found = set()
        for path in root.glob("??/*"):
            sha256 = key_sha256(f"{path.parent.name}/{path.name}")
            assert sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
            found.add(sha256)
        return found


@pytest.fixture
def open_store(worker: ModuleType) -> Callable[[Path, str], AbstractAsyncContextManager[Store]]:
    @asynccontextmanager
    async def opened(home: Path, database: str) -> AsyncIterator[Store]:
        async with open_yard(worker.settings_for(str(home), database)) as yard:
            yield Store(home=home, yard=yard, principal=await yard.access.at_this_machine(worker.PERSON))

    return opened
