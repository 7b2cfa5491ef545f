"""Those who look on while something runs: what has begun, what it writes and that it ended, as it happens."""

import asyncio
import codecs
import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias
from uuid import uuid4

from skillyard.redact import storable
from skillyard.sandbox.executions import ExecType
from skillyard.sandbox.session import OnOutput, OutputStream

_REMEMBERED: Final = 64 * 1024
"""Characters of the output of a run that those who come later are told."""
_WAITING: Final = 256 * 1024
"""Characters that wait for one who is slow; what comes after is dropped, for the record has it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """Something runs now."""

    run_id: str
    exec_type: ExecType
    code: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Wrote:
    run_id: str
    stream: OutputStream
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """It is over, and recorded."""

    run_id: str


Seen: TypeAlias = Begun | Wrote | Ended


class Onlooker:
    """Someone who looks at one sandbox."""

    def __init__(self) -> None:
        self._seen: list[Seen] = []
        self._waiting = 0
        self._news = asyncio.Event()

    def tell(self, seen: Seen) -> None:
        if isinstance(seen, Wrote):
            if self._waiting > _WAITING:
                return
            self._waiting += len(seen.text)
        self._seen.append(seen)
        self._news.set()

    async def look(self, seconds: float) -> list[Seen]:
        """What happened since the last look; nothing, when nothing did for so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()
        self._news.clear()
        seen, self._seen, self._waiting = self._seen, [], 0
        return seen


@dataclass(kw_only=True)
class _UnderWay:
    """A run that is not over."""

    run_id: str
    exec_type: ExecType
    read_code: Callable[[], str]
    written: list[Wrote] = field(default_factory=list[Wrote])
    size: int = 0

    @cached_property
    def begun(self) -> Begun:
        # Made when someone looks on: taking the secrets out of code costs more than most runs.
        return Begun(run_id=self.run_id, exec_type=self.exec_type, code=self.read_code())

    def remember(self, wrote: Wrote) -> None:
        self.written.append(wrote)
        self.size += len(wrote.text)
        while self.size > _REMEMBERED and len(self.written) > 1:
            self.size -= len(self.written.pop(0).text)


class Onlookers:
    """Knows what runs in the sandboxes of this process, and who looks at which of them."""

    def __init__(self) -> None:
        self._looking: dict[str, list[Onlooker]] = {}
        self._under_way: dict[str, list[_UnderWay]] = {}

    @contextlib.contextmanager
    def looking_at(self, sandbox_id: str) -> Generator[Onlooker]:
        """Be told what happens in a sandbox, and first what is under way."""
        onlooker = Onlooker()
        for run in self._under_way.get(sandbox_id, ()):
            for seen in (run.begun, *run.written):
                onlooker.tell(seen)
        looking = self._looking.setdefault(sandbox_id, [])
        looking.append(onlooker)
        try:
            yield onlooker
        finally:
            looking.remove(onlooker)
            if not looking:
                self._looking.pop(sandbox_id, None)

    @contextlib.contextmanager
    def running(self, sandbox_id: str, exec_type: ExecType, read_code: Callable[[], str]) -> Generator[OnOutput]:
        """Tell of a run, and of what it writes, until it is over; `read_code` says what it is, without secrets."""
        run = _UnderWay(run_id=uuid4().hex, exec_type=exec_type, read_code=read_code)
        under_way = self._under_way.setdefault(sandbox_id, [])
        under_way.append(run)
        if sandbox_id in self._looking:
            self._tell(sandbox_id, run.begun)
        decoder = codecs.getincrementaldecoder("utf-8")
        decoders = {"stdout": decoder("replace"), "stderr": decoder("replace")}

        def wrote(stream: OutputStream, data: bytes) -> None:
            text = storable(decoders[stream].decode(data))
            if text:
                seen = Wrote(run_id=run.run_id, stream=stream, text=text)
                run.remember(seen)
                self._tell(sandbox_id, seen)

        try:
            yield wrote
        finally:
            under_way.remove(run)
            if not under_way:
                self._under_way.pop(sandbox_id, None)
            self._tell(sandbox_id, Ended(run_id=run.run_id))

    def _tell(self, sandbox_id: str, seen: Seen) -> None:
        for onlooker in self._looking.get(sandbox_id, ()):
            onlooker.tell(seen)
