"""The change counter on PostgreSQL."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import psycopg
from psycopg.pq import ExecStatus
from sqlalchemy import URL

from skillyard.db.counter import QUERY

_Asked: TypeAlias = asyncio.Future[int]

_QUERY: Final = QUERY.encode()
_STATEMENT: Final = b"number"
_CLOSED: Final = "it was closed"
_PATIENCE: Final = 5.0
"""Seconds between looks at whether a question is still the same: a server that says nothing is taken for gone."""


class PostgresCounter:
    """Asks over one connection that nothing else uses; whoever waited on one that is lost is asked for once more."""

    def __init__(self, url: URL) -> None:
        self._address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._line: _Line | None = None
        self._opening: asyncio.Task[None] | None = None
        self._waiting: list[_Asked] = []
        """Those who wait for a connection."""
        self._is_closed = False

    async def read(self) -> int:
        asked: _Asked = asyncio.get_running_loop().create_future()
        if self._line is not None:
            self._line.ask(asked)
        elif self._is_closed:
            _refuse([asked], _CLOSED)
        else:
            self._ask_later([asked])
        return await asked

    async def close(self) -> None:
        self._is_closed = True
        if self._opening is not None:
            await asyncio.wait([self._opening])
        if self._line is not None:
            self._line.lose(_CLOSED)

    def _ask_later(self, waiting: Sequence[_Asked]) -> None:
        self._waiting += waiting
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())

    async def _open(self) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                connection = await psycopg.AsyncConnection.connect(self._address, autocommit=True)
            self._line = _Line(connection, self._lost)
            for asked in self._waiting:
                self._line.ask(asked)
        except Exception as error:  # noqa: BLE001 -- whoever waits must hear of it, whatever it is
            _refuse(self._waiting, str(error) or "it takes too long")
        self._waiting = []
        self._opening = None

    def _lost(self, line: "_Line", waiting: Sequence[_Asked], reason: str) -> None:
        self._line = None
        waiting = [asked for asked in waiting if not asked.done()]
        if waiting and line.has_answered and not self._is_closed:  # the server may have been restarted
            self._ask_later(waiting)
        else:
            _refuse(waiting, reason)


class _Line:
    """One connection, asked by libpq's own calls, without a task: anything else costs several times the question.

    Those who ask while a question is under way share the next one: an answer counts only for those who asked before
    its question was sent, so that nobody gets a number from before their request.
    """

    def __init__(
        self, connection: psycopg.AsyncConnection, lost: Callable[["_Line", Sequence[_Asked], str], None]
    ) -> None:
        self.has_answered = False
        self._connection = connection  # which would end with its last mention
        self._wire = connection.pgconn
        self._socket = self._wire.socket
        self._lost = lost
        self._loop = asyncio.get_running_loop()
        self._asked: list[_Asked] = []
        self._waiting: list[_Asked] = []
        self._questions = 0
        self._is_busy = True
        self._wire.send_prepare(_STATEMENT, _QUERY)
        self._wire.flush()  # so few bytes always fit
        self._watch: asyncio.TimerHandle | None = self._loop.call_later(_PATIENCE, self._look, 0)
        # It listens all the time: beginning and ceasing to listen costs as much as the question.
        self._loop.add_reader(self._socket, self._arrived)

    def ask(self, asked: _Asked) -> None:
        self._waiting.append(asked)
        if not self._is_busy:
            self._send()

    def lose(self, reason: str) -> None:
        """End the connection; it is given up."""
        if self._watch is not None:
            self._watch.cancel()
        self._loop.remove_reader(self._socket)
        self._wire.finish()
        self._lost(self, self._asked + self._waiting, reason)

    def _send(self) -> None:
        self._asked, self._waiting = self._waiting, []
        self._is_busy = True
        self._questions += 1
        try:
            self._wire.send_query_prepared(_STATEMENT, None)
            self._wire.flush()
        except psycopg.Error as error:
            self.lose(str(error))
            return
        if self._watch is None:
            self._watch = self._loop.call_later(_PATIENCE, self._look, self._questions)

    def _look(self, question: int) -> None:
        """Give up where the question of the last look has no answer yet; a timer for each would cost too much."""
        self._watch = None
        if not self._is_busy:
            return
        if question == self._questions:
            self.lose("it takes too long")
        else:
            self._watch = self._loop.call_later(_PATIENCE, self._look, self._questions)

    def _arrived(self) -> None:
        try:
            self._wire.consume_input()
            if self._wire.is_busy():
                return
            result = self._wire.get_result()
            while result is not None and self._wire.get_result() is not None:
                pass
        except psycopg.Error as error:
            self.lose(str(error))
            return
        if result is None:
            return  # the server gave notice of something
        value = result.get_value(0, 0) if result.status == ExecStatus.TUPLES_OK else None
        if value is not None:
            self.has_answered = True
            asked, self._asked = self._asked, []
            _answer(asked, int(value))
        elif result.status != ExecStatus.COMMAND_OK:  # which says that the statement is prepared
            self.lose(self._wire.get_error_message() or "the change counter is gone")
            return
        self._is_busy = False
        if self._waiting:
            self._send()


def _answer(waiting: Sequence[_Asked], number: int) -> None:
    for asked in waiting:
        if not asked.done():  # its request was given up
            asked.set_result(number)


def _refuse(waiting: Sequence[_Asked], reason: str) -> None:
    for asked in waiting:
        if not asked.done():
            asked.set_exception(ConnectionError(reason))
