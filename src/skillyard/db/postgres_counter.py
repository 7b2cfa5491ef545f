"""The change counter on PostgreSQL."""

import asyncio
import contextlib
from typing import Final

import psycopg
from psycopg.pq import ExecStatus
from sqlalchemy import URL

from skillyard.db.counter import QUERY

_QUERY: Final = QUERY.encode()
_PATIENCE: Final = 15.0
"""Seconds after which a server that says nothing is taken for gone."""


class PostgresCounter:
    """Asks over one connection that nothing else uses; those who ask at the same time share an answer.

    An answer counts only for those who asked before the query was sent, so that nobody gets a number from before
    their request.
    """

    def __init__(self, url: URL) -> None:
        self._address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._line: _Line | None = None
        self._waiting: list[asyncio.Future[int]] = []
        self._asker: asyncio.Task[None] | None = None

    async def read(self) -> int:
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        if self._asker is None or self._asker.done():
            self._asker = asyncio.create_task(self._answer())
        return await future

    async def close(self) -> None:
        if self._asker is not None:
            await asyncio.wait([self._asker])
        if self._line is not None:
            await self._line.close()

    async def _answer(self) -> None:
        """Ask again and again while someone waits."""
        while self._waiting:
            asked, self._waiting = self._waiting, []
            try:
                async with asyncio.timeout(_PATIENCE):
                    number = await self._ask()
            except Exception as error:  # noqa: BLE001 -- whoever waits must hear of it, whatever it is
                _settle(asked, ConnectionError(str(error) or "it takes too long"))
            else:
                _settle(asked, number)

    async def _ask(self) -> int:
        if self._line is not None:
            # The server may have been restarted: one more try on a new connection.
            with contextlib.suppress(psycopg.OperationalError):
                return await self._ask_on(self._line)
        return await self._ask_on(_Line(await psycopg.AsyncConnection.connect(self._address, autocommit=True)))

    async def _ask_on(self, line: "_Line") -> int:
        """Ask, and keep the connection if it answered."""
        self._line = None
        try:
            number = await line.ask()
        except BaseException:
            await line.close()
            raise
        self._line = line
        return number


class _Line:
    """One connection, asked by libpq's own calls: psycopg's cursors cost ten times as much.

    It listens all the time, since beginning and ceasing to listen costs as much as the question.
    """

    def __init__(self, connection: psycopg.AsyncConnection) -> None:
        self._connection = connection
        self._wire = connection.pgconn
        self._socket = self._wire.socket
        self._asked: asyncio.Future[int] | None = None
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._socket, self._arrived)

    async def ask(self) -> int:
        """The number; one question at a time."""
        asked = self._asked = self._loop.create_future()
        self._wire.send_query(_QUERY)
        self._wire.flush()  # so few bytes always fit
        return await asked

    async def close(self) -> None:
        self._loop.remove_reader(self._socket)
        await self._connection.close()

    def _arrived(self) -> None:
        try:
            self._wire.consume_input()
            if self._wire.is_busy():
                return
            number = self._number()
        except psycopg.Error as error:
            self._loop.remove_reader(self._socket)  # it would be readable for ever
            if self._asked is not None and not self._asked.done():
                self._asked.set_exception(error)
            return
        if number is not None and self._asked is not None and not self._asked.done():
            self._asked.set_result(number)

    def _number(self) -> int | None:
        """What the answer says; None if nothing was asked, as when the server gives notice of something."""
        result = self._wire.get_result()
        if result is None:
            return None
        while self._wire.get_result() is not None:
            pass
        value = result.get_value(0, 0) if result.status == ExecStatus.TUPLES_OK else None
        if value is None:
            raise psycopg.OperationalError(self._wire.get_error_message() or "the change counter is gone")
        return int(value)


def _settle(waiting: list[asyncio.Future[int]], answer: int | Exception) -> None:
    for future in waiting:
        if future.done():  # its request was given up
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
