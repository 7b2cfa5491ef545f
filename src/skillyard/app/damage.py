"""Checks for lost or damaged files in the store of a yard."""

import asyncio
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from skillyard.blobs.disk import DiskBlobs
from skillyard.blobs.store import Blobs, open_blobs
from skillyard.config.settings import Settings
from skillyard.db.database import Database
from skillyard.db.engine import SQLITE, database_url
from skillyard.db.migrate import revisions
from skillyard.db.revision import present_revision
from skillyard.errors import SkillyardError, UnavailableError
from skillyard.registry.stored_blobs import StoredBlobs

Track: TypeAlias = Callable[[Sequence[str]], Iterable[str]]
"""Shows the progress through a sequence of items."""
_SAMPLE: Final = 100
"""Files in a sample."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FilesRead:
    number: int
    damaged: Sequence[SkillyardError] = ()


def require_database(settings: Settings, blobs: Blobs) -> None:
    """Refuses to begin a new yard over the files of one whose database is gone."""
    if not isinstance(blobs, DiskBlobs) or not blobs.holds_any():
        return
    # Only now: another process that begins the yard makes the database before it stores a file.
    url = database_url(settings.database)
    if url.get_backend_name() != SQLITE or present_revision(settings.database) is not None:
        return
    here, file = shlex.quote(blobs.place), Path(str(url.database))
    raise UnavailableError(
        f"The database {file} is missing or empty, but {blobs.place} holds the files of a yard.",
        hint=f"Restore {file} from a backup. To begin a new yard, put the files aside first: mv {here} {here}.old",
        details={"database": str(file), "store": blobs.place},
    )


def read_files(settings: Settings, track: Track | None) -> FilesRead:
    """Read a sample of the files of skills again; all of them where `track` is given."""
    if present_revision(settings.database) != revisions()[-1]:
        return FilesRead(number=0)
    return asyncio.run(_check_files(settings, track))


async def _check_files(settings: Settings, track: Track | None) -> FilesRead:
    database = await Database.open(settings.database)
    try:
        stored = StoredBlobs(database, open_blobs(settings.blobs))
        names = await stored.names()
        if track is None:
            return FilesRead(number=min(len(names), _SAMPLE), damaged=await stored.sample(_SAMPLE))
        problems = [await stored.problem(name) for name in track(names)]
        return FilesRead(number=len(names), damaged=[problem for problem in problems if problem])
    finally:
        await database.close()
