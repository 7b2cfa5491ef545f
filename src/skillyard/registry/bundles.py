"""Bundles in the store: their bytes in blobs, the list of their files in the database."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Final, TypeVar

from sqlalchemy import bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.blobs.claims import put_and_claim
from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import UNSEEN, Transaction
from skillyard.errors import NotFoundError
from skillyard.registry.models import BundleFileRow, BundleRow
from skillyard.skill.bundle import Bundle, BundleFile

Answer = TypeVar("Answer")
_KNOWN: Final = select(BundleRow.digest).where(BundleRow.digest == bindparam("digest"))


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredFile:
    """A line of a bundle's list of files."""

    path: str
    sha256: str
    size: int
    executable: bool


class _RehearsedError(Exception):
    """Ends a rehearsal."""


class Bundles:
    """Keeps bundles, each once, and gives them back byte for byte."""

    def __init__(self, database: Database, blobs: Blobs, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._blobs = blobs
        self._clock = clock

    async def commit(self, bundle: Bundle, work: Callable[[Transaction], Awaitable[Answer]]) -> Answer:
        """Do some writing that names a bundle, in a transaction that finds it stored.

        The bytes are durable before the transaction begins. The work may be done again, should a sweep of orphans
        have come between.
        """
        files = stored_files(bundle)

        async def register(transaction: Transaction, _hashes: list[str]) -> Answer:
            await self._register(transaction, bundle, files)
            return await work(transaction)

        return await put_and_claim(self._database, self._blobs, [file.data for file in bundle], register)

    async def keep(self, bundle: Bundle) -> None:
        """Store a bundle for a while, to be named by something; what nothing has named by then is let go of."""

        async def renew(transaction: Transaction) -> None:
            row = update(BundleRow).where(BundleRow.digest == bundle.digest).values(created_at=self._clock())
            await transaction.session.execute(row, execution_options=UNSEEN)

        await self.commit(bundle, renew)

    async def rehearse(self, bundle: Bundle, work: Callable[[Transaction], Awaitable[Answer]]) -> Answer:
        """Do the same as `commit` would, answer or refuse as it would, and leave nothing behind."""
        answers: list[Answer] = []
        with suppress(_RehearsedError):
            async with self._database.write() as transaction:
                await self._register(transaction, bundle, stored_files(bundle))
                answers.append(await work(transaction))
                raise _RehearsedError  # an error is what leaves a write undone
        return answers[0]

    async def load(self, digest: str) -> Bundle:
        files = await self.files(digest)
        contents = await self._blobs.get_all([file.sha256 for file in files])
        return Bundle(BundleFile(file.path, contents[file.sha256], file.executable) for file in files)

    async def files(self, digest: str) -> list[StoredFile]:
        async with self._database.read() as session:
            rows = await session.scalars(select(BundleFileRow).where(BundleFileRow.digest == digest))
            files = [_stored(row) for row in rows]
        if not files:
            raise NotFoundError(f"There is no bundle {digest!r}.", details={"digest": digest})
        return files

    async def has(self, digest: str) -> bool:
        async with self._database.read() as session:
            return await session.get(BundleRow, digest) is not None

    async def content(self, sha256: str) -> bytes:
        """The bytes of one file."""
        return await self._blobs.get(sha256)

    async def _register(self, transaction: Transaction, bundle: Bundle, files: Sequence[StoredFile]) -> None:
        if await transaction.session.scalar(_KNOWN, {"digest": bundle.digest}) is not None:
            return
        row = {"digest": bundle.digest, "size": bundle.size, "created_at": self._clock()}
        lines = [{"digest": bundle.digest, **asdict(file)} for file in files]
        await transaction.insert((BundleRow, [row]), (BundleFileRow, lines))


def stored_files(bundle: Bundle) -> list[StoredFile]:
    return [
        StoredFile(path=file.path, sha256=sha256, size=len(file.data), executable=file.executable)
        for file, sha256 in zip(bundle, bundle.hashes, strict=True)
    ]


async def named_by_bundles(session: AsyncSession, hashes: Iterable[str]) -> set[str]:
    """Those of the blobs that some bundle needs: what the sweep of orphans must leave."""
    query = select(BundleFileRow.sha256).where(BundleFileRow.sha256.in_(list(hashes))).distinct()
    return set(await session.scalars(query))


def _stored(row: BundleFileRow) -> StoredFile:
    return StoredFile(path=row.path, sha256=row.sha256, size=row.size, executable=row.executable)
