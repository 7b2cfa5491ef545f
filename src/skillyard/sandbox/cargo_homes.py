"""Knows which home has the files of a cargo; every use of the files is checked here."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from sqlalchemy import or_, select, update

from skillyard.db.database import Database
from skillyard.db.transaction import UNSEEN
from skillyard.errors import ElsewhereError, SkillyardError
from skillyard.sandbox.backend import Backend
from skillyard.sandbox.models import CargoRow, SandboxRow

UNKNOWN: Final = "unknown"
"""The home of a cargo from before homes were written down."""
BackendOf: TypeAlias = Callable[[str], Awaitable[Backend]]


class CargoHomes:
    """Several homes may share a database. The files of a cargo are in the one where its first sandbox started."""

    def __init__(self, database: Database, backend_of: BackendOf) -> None:
        self._database = database
        self._backend_of = backend_of

    async def require(self, cargo_id: str) -> None:
        """Refuse a cargo whose files are in another home. If the backend cannot be asked, nothing is refused."""
        row = await self._row(cargo_id)
        if row is None or row.home is None:
            return
        try:
            backend = await self._backend_of(row.backend)
            mine = await backend.home()
            here = await self.is_here(row, backend)
        except SkillyardError:
            return
        if not here:
            raise _elsewhere_error(row, mine)

    async def claim(self, cargo_id: str) -> None:
        """Refuse a cargo whose files are in another home; a cargo without files belongs to this home from now on."""
        row = await self._row(cargo_id)
        if row is None:
            return
        backend = await self._backend_of(row.backend)
        mine = await backend.home()
        if row.home in {None, UNKNOWN} and await self.is_here(row, backend):
            row = await self._claim_row(row, mine)
        if row.home != mine:
            raise _elsewhere_error(row, mine)

    async def is_here(self, row: CargoRow, backend: Backend) -> bool:
        """Whether nothing of a cargo is in another home."""
        if row.home is None:
            return True
        if row.home != UNKNOWN:
            return row.home == await backend.home()
        return await backend.has_cargo(row.id) or not await self._was_started(row)

    async def _row(self, cargo_id: str) -> CargoRow | None:
        async with self._database.read() as session:
            return await session.get(CargoRow, cargo_id)

    async def _was_started(self, row: CargoRow) -> bool:
        ran = or_(SandboxRow.skills_injected_at.is_not(None), SandboxRow.hook_error.is_not(None))
        query = select(SandboxRow.id).where(SandboxRow.cargo_id == row.id, ran).limit(1)
        async with self._database.read() as session:
            return await session.scalar(query) is not None

    async def _claim_row(self, row: CargoRow, home: str) -> CargoRow:
        """The row after this home tried to claim it; of two homes that try at once, one gets it."""
        free = CargoRow.home.is_(None) if row.home is None else CargoRow.home == row.home
        async with self._database.write(bookkeeping=True) as transaction:
            mine = update(CargoRow).where(CargoRow.id == row.id, free).values(home=home)
            await transaction.session.execute(mine, execution_options=UNSEEN)
        return await self._row(row.id) or row


def _elsewhere_error(row: CargoRow, here: str) -> ElsewhereError:
    if row.home == UNKNOWN:
        said = f"The files of the cargo {row.id} are in another home than this server's, which is {here}."
    else:
        said = f"The files of the cargo {row.id} are in the home {row.home}; the home of this server is {here}."
    return ElsewhereError(
        said,
        hint="Ask the server that has that home: the file home-id in a home names it.",
        details={"cargo_id": row.id, "home": row.home, "here": here},
    )
