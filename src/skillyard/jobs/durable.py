"""Durable execution by DBOS, which keeps what came of each step, and after a kill goes on behind the last one.

It is one for a process, polls while it is there, and takes time and memory to import: so it is there only while there
is work. It works on threads of its own; the work itself is done on the event loop, which it must not touch.
"""

import asyncio
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import CancelledError as CancelledFutureError
from contextvars import Context
from typing import Any, ClassVar, Final, TypeAlias

from dbos import DBOS, Serializer, SetWorkflowID
from sqlalchemy import URL

from skillyard.cancellation import to_the_end
from skillyard.db.engine import SQLITE, prepare_file
from skillyard.jobs.connections import EndingPool
from skillyard.jobs.conversation import Conversation, InterruptedWorkError
from skillyard.jobs.handed import Handed
from skillyard.jobs.locks import jobs_folder
from skillyard.jobs.work import Steps

SCHEMA: Final = "skillyard_jobs"
EXECUTOR: Final = "runner"
"""Whoever has the lock of this name is the one executor there is."""
_APPLICATION: Final = "skillyard"
_VERSION: Final = "1"
"""Of the steps: work that was begun with other steps under another version is not gone on with."""
_QUEUE: Final = "jobs"
_MAX_RECOVERIES: Final = 20
_POLL_SECONDS: Final = 0.05
_LISTEN_SECONDS: Final = 0.2
_LIVE: Final = ["PENDING", "ENQUEUED", "DELAYED"]
_OVER: Final = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
_PAGE: Final = 1000
_STOP_SECONDS: Final = 3.0

Body: TypeAlias = Callable[[Handed, Steps], Awaitable[None]]

logging.getLogger("dbos").addHandler(logging.NullHandler())  # else it writes to the terminal


class Durable:
    """The work of one yard in DBOS."""

    one: "ClassVar[Durable | None]" = None
    """The only one of this process."""
    _taking: ClassVar = threading.Lock()

    def __init__(self, url: URL, body: Body, *, workers: int) -> None:
        self._url = url
        self._body = body
        self._workers = workers
        self._loop = asyncio.get_running_loop()
        self._bodies: set[asyncio.Task[None]] = set()
        self._is_stopping = False

    async def launch(self) -> bool:
        """Begin to work, first on what was left by a runner that was killed; False if this process has another one."""
        with Durable._taking:
            if Durable.one is not None:
                return False
            Durable.one = self
        try:
            await to_the_end(asyncio.to_thread(self._launch))
            await self.tidy()
        except BaseException:
            await self.stop()
            raise
        return True

    async def stop(self) -> None:
        """Stop in the middle of what is being worked on: it stays begun."""
        self._is_stopping = True
        for body in self._bodies:
            body.cancel()
        if self._bodies:
            await asyncio.wait(self._bodies, timeout=_STOP_SECONDS)
        try:
            await asyncio.to_thread(DBOS.destroy)
        finally:
            Durable.one = None

    async def hand_over(self, jobs: Sequence[Handed]) -> None:
        await asyncio.to_thread(self._hand_over, jobs)

    async def live(self) -> set[str]:
        """The ids of the workflows that are not over."""
        return set(await asyncio.to_thread(self._ids, _LIVE))

    async def forget(self, ids: Sequence[str]) -> None:
        if ids:
            await asyncio.to_thread(DBOS.delete_workflows, list(ids))

    async def tidy(self) -> None:
        """Remove what is kept of work that is over: rows tell of it."""
        await self.forget(await asyncio.to_thread(self._ids, _OVER))

    def work(self, handed: Handed) -> None:
        """Do an attempt, on a thread of DBOS."""
        conversation = Conversation(self._loop)
        # Not in the context of this thread: DBOS would take whatever is asked of it there for a step.
        body = Context().run(asyncio.run_coroutine_threadsafe, self._do(handed, conversation), self._loop)
        conversation.listen(lambda name, doing: DBOS.run_step({"name": name}, doing))
        try:
            body.result()
        except (Exception, CancelledFutureError) as error:
            raise InterruptedWorkError from error

    async def _do(self, handed: Handed, conversation: Conversation) -> None:
        body = asyncio.current_task()
        assert body is not None  # noqa: S101 -- it was started as one
        self._bodies.add(body)
        try:
            if not self._is_stopping:
                await self._body(handed, conversation)
                return
            raise asyncio.CancelledError
        finally:
            self._bodies.discard(body)
            conversation.end()

    def _launch(self) -> None:
        DBOS(
            config={
                "name": _APPLICATION,
                "system_database_url": _system_database(self._url),
                "dbos_system_schema": SCHEMA,
                "application_version": _VERSION,
                "executor_id": EXECUTOR,
                "log_level": "WARNING",
                "serializer": _JsonSerializer(),
                "use_listen_notify": False,
                "notification_listener_polling_interval_sec": _LISTEN_SECONDS,
                "sys_db_pool_size": self._workers + 2,
                "db_engine_kwargs": {"poolclass": EndingPool},
                "max_executor_threads": self._workers + 8,
            }
        )
        DBOS.launch()
        DBOS.register_queue(
            _QUEUE,
            worker_concurrency=self._workers,
            polling_interval_sec=_POLL_SECONDS,
            on_conflict="always_update",
        )

    def _hand_over(self, jobs: Sequence[Handed]) -> None:
        queue = DBOS.retrieve_queue(_QUEUE)
        assert queue is not None  # noqa: S101 -- it was made at the launch
        for handed in jobs:
            with SetWorkflowID(handed.workflow_id):
                queue.enqueue(_attempt, *handed)

    def _ids(self, states: list[str]) -> list[str]:
        found = DBOS.list_workflows(status=states, load_input=False, load_output=False, limit=_PAGE)
        return [workflow.workflow_id for workflow in found]


@DBOS.workflow(name="attempt", max_recovery_attempts=_MAX_RECOVERIES)
def _attempt(kind: str, job_id: str, attempt: int) -> None:
    durable = Durable.one
    if durable is None:
        raise InterruptedWorkError
    durable.work(Handed(kind, job_id, attempt))


class _JsonSerializer(Serializer):
    """What is kept can be read, and reading it runs nothing."""

    def serialize(self, data: Any) -> str:  # noqa: ANN401 -- as declared
        return json.dumps(data, ensure_ascii=False, default=_error)

    def deserialize(self, serialized_data: str) -> Any:  # noqa: ANN401 -- as declared
        return json.loads(serialized_data)

    def name(self) -> str:
        return "json"


def _error(value: object) -> str:
    if isinstance(value, BaseException):
        return repr(value)
    raise TypeError(f"{type(value).__name__} cannot be kept as JSON")


def _system_database(url: URL) -> str:
    if url.get_backend_name() == SQLITE:
        file = jobs_folder(url) / "jobs.sqlite"
        prepare_file(file)
        return f"sqlite:///{file}"
    return url.set(drivername="postgresql").render_as_string(hide_password=False)
