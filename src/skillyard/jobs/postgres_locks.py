"""Advisory locks of PostgreSQL: they end with the connection that took them, and the connection with its process."""

import asyncio
import contextlib
import hashlib
from typing import Final

import psycopg
from psycopg.sql import SQL
from sqlalchemy import URL

from skillyard.cancellation import to_the_end
from skillyard.errors import UnavailableError
from skillyard.jobs.locks import Lost, taken_whole

_TAKE: Final = SQL("SELECT pg_try_advisory_lock(%s)")
_GIVE_BACK: Final = SQL("SELECT pg_advisory_unlock(%s)")
_GIVE_ALL_BACK: Final = SQL("SELECT pg_advisory_unlock_all()")
_LOOK_SECONDS: Final = 2.0
_PATIENCE: Final = 10.0
_KEEP_ALIVE: Final = SQL("SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3")
"""A machine that vanished gives its locks back within half a minute, not within hours."""


class PostgresLocks:
    """All locks of this process, on one connection that is opened with the first of them."""

    def __init__(self, url: URL) -> None:
        self._url = url
        self._held: dict[str, Lost] = {}
        self._turn = asyncio.Lock()
        self._connection: psycopg.AsyncConnection | None = None
        self._watching: asyncio.Task[None] | None = None

    async def take(self, name: str, lost: Lost) -> bool:
        return await taken_whole(self, name, self._taken(name, lost))

    async def give_back(self, name: str) -> None:
        # To the end, though whoever gives it back is cancelled: nobody else would.
        await to_the_end(self._given_back(name))

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
            self._watching = None
        async with self._turn:
            self._held.clear()
            if self._connection is not None:
                # A busy server notices a while later that a connection was closed.
                with contextlib.suppress(psycopg.Error, TimeoutError, OSError):
                    async with asyncio.timeout(_LOOK_SECONDS):
                        await self._connection.execute(_GIVE_ALL_BACK)
                await self._connection.close()
                self._connection = None

    async def _taken(self, name: str, lost: Lost) -> bool:
        async with self._turn:
            # The same connection would get the same lock again.
            if name in self._held or not await self._ask(_TAKE, name):
                return False
            self._held[name] = lost
            if self._watching is None:
                self._watching = asyncio.create_task(self._watch())
            return True

    async def _given_back(self, name: str) -> None:
        async with self._turn:
            if self._held.pop(name, None) is None:
                return
            with contextlib.suppress(UnavailableError):  # then it is given back already
                await self._ask(_GIVE_BACK, name)

    async def _ask(self, question: SQL, name: str) -> bool:
        try:
            async with asyncio.timeout(_PATIENCE):
                if self._connection is None:
                    self._connection = await _connect(self._url)
                cursor = await self._connection.execute(question, (_key(name),))
                row = await cursor.fetchone()
        except (psycopg.Error, TimeoutError, OSError) as error:
            await self._lose()
            raise UnavailableError(f"The database that keeps the locks of jobs did not answer: {error}.") from error
        return row is not None and bool(row[0])

    async def _watch(self) -> None:
        """Notice that the connection is gone, though nobody asks anything."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            async with self._turn:
                if self._connection is None:
                    continue
                try:
                    async with asyncio.timeout(_PATIENCE):
                        await self._connection.execute("SELECT 1")
                except (psycopg.Error, TimeoutError, OSError):
                    await self._lose()

    async def _lose(self) -> None:
        """Without the connection nothing is held any more."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(psycopg.Error, OSError):
                await connection.close()
        held, self._held = self._held, {}
        for lost in held.values():
            lost()


async def _connect(url: URL) -> psycopg.AsyncConnection:
    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    connection = await psycopg.AsyncConnection.connect(address, autocommit=True)
    await connection.execute(_KEEP_ALIVE)
    return connection


def _key(name: str) -> int:
    """The number that is the name of an advisory lock."""
    return int.from_bytes(hashlib.blake2b(f"skillyard/jobs/{name}".encode(), digest_size=8).digest(), signed=True)
