"""Runs whose output is told as it comes: a JSON object on each line, the last one with what came of the run."""

import asyncio
import codecs
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from skillyard.errors import SkillyardError
from skillyard.sandbox.runs import Done
from skillyard.sandbox.session import OnOutput, OutputStream
from skillyard.server.api.shapes import BEARER
from skillyard.server.asgi import REQUEST_ID, Receive, Scope, Send, state_of
from skillyard.server.yard.caller import Caller, Rooms, failures
from skillyard.server.yard.errors import yard_body
from skillyard.server.yard.run_schemas import (
    PythonExecRequest,
    PythonExecResponse,
    ShellExecRequest,
    ShellExecResponse,
)

router = APIRouter(
    prefix="/v1/sandboxes/{sandbox_id}", tags=["runs"], responses=failures(409, 502), dependencies=[BEARER]
)

MEDIA_TYPE: Final = "application/x-ndjson"
_LINES: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {MEDIA_TYPE: {}}, "description": "Lines of JSON, until the run is over."}
}
HEARTBEAT: Final = 15.0
"""Seconds of silence after which an empty line says that the run goes on."""
Result: TypeAlias = dict[str, Any]
Run: TypeAlias = Callable[[OnOutput], Awaitable[Result]]
"""Something that runs, and tells what it writes."""


class RunStream(StreamingResponse):
    """The answer while something runs. Whoever goes away ends the run; what fails at once is an ordinary error."""

    media_type = MEDIA_TYPE

    def __init__(self, run: Run, *, heartbeat: float = HEARTBEAT) -> None:
        super().__init__(_nothing(), headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        self._run = run
        self._heartbeat = heartbeat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        output = _Output()
        running = asyncio.ensure_future(self._run(output.add))
        running.add_done_callback(lambda _: output.news.set())
        telling = asyncio.create_task(self._tell(running, output, scope, send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait((telling, leaving), return_when=asyncio.FIRST_COMPLETED)
            if telling.done():
                telling.result()
        finally:
            for task in (running, telling, leaving):
                task.cancel()
            # What was given up is still written down.
            await asyncio.gather(running, telling, leaving, return_exceptions=True)

    async def _tell(self, running: "asyncio.Future[Result]", output: "_Output", scope: Scope, send: Send) -> None:
        begun = False

        async def say(lines: bytes, *, more: bool = True) -> None:
            nonlocal begun
            if not begun:
                begun = True
                start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
                await send(start)
            await send({"type": "http.response.body", "body": lines, "more_body": more})

        while not running.done():
            await output.wait(self._heartbeat)
            lines = output.taken()
            if lines or not running.done():
                await say(lines or b"\n")
        try:
            last: Mapping[str, object] = {"result": running.result()}
        except SkillyardError as error:
            if not begun:
                raise
            last = yard_body(error, state_of(scope).get(REQUEST_ID, ""))
        await say(output.taken(final=True) + _line(last), more=False)


class _Output:
    """What was written and not yet told, as text."""

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self._pieces: list[tuple[OutputStream, bytes]] = []
        decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders = {"stdout": decoder("replace"), "stderr": decoder("replace")}

    def add(self, stream: OutputStream, data: bytes) -> None:
        self._pieces.append((stream, data))
        self.news.set()

    async def wait(self, seconds: float) -> None:
        """Until there is something to tell, or silence has lasted so long."""
        try:
            async with asyncio.timeout(seconds):
                await self.news.wait()
        except TimeoutError:
            return
        self.news.clear()

    def taken(self, *, final: bool = False) -> bytes:
        """The lines for what there is, one for pieces that follow each other; `final`, also for half a character."""
        told: list[tuple[str, list[str]]] = []
        pieces, self._pieces = self._pieces, []
        texts = [(stream, self._decoders[stream].decode(data)) for stream, data in pieces]
        if final:
            texts.extend((stream, decoder.decode(b"", final=True)) for stream, decoder in self._decoders.items())
        for stream, text in texts:
            if told and told[-1][0] == stream:
                told[-1][1].append(text)
            elif text:
                told.append((stream, [text]))
        return b"".join(_line({"stream": stream, "text": "".join(parts)}) for stream, parts in told)


@router.post("/python/stream", responses=_LINES, summary="Run Python, and follow what it prints")
async def stream_python(sandbox_id: str, body: PythonExecRequest, rooms: Rooms, caller: Caller) -> RunStream:
    """As `python/exec`, with each piece of output as it comes.

    Lines are `{"stream": "stdout", "text": …}`, and the last one is `{"result": …}` as `python/exec` answers, with
    `ending` and `truncated`, or `{"error": …}`. Empty lines say that it goes on. Closing the connection ends the run.
    """

    async def run(on_output: OnOutput) -> Result:
        done = await rooms.runs.python(caller, sandbox_id, body.code, body.wish(), on_output=on_output)
        return _result(PythonExecResponse.of(done, code=body.include_code), done)

    return RunStream(run)


@router.post("/shell/stream", responses=_LINES, summary="Run a shell command, and follow its output")
async def stream_shell(sandbox_id: str, body: ShellExecRequest, rooms: Rooms, caller: Caller) -> RunStream:
    """As `shell/exec`, with each piece of output as it comes; lines as of `python/stream`, also for `stderr`."""

    async def run(on_output: OnOutput) -> Result:
        done = await rooms.runs.shell(
            caller, sandbox_id, body.command, body.wish(), cwd=body.cwd, environment=body.env, on_output=on_output
        )
        return _result(ShellExecResponse.of(done, code=body.include_code), done)

    return RunStream(run)


def _result(answer: BaseModel, done: Done[Any]) -> Result:
    return {**answer.model_dump(), "ending": done.execution.ending, "truncated": done.execution.truncated}


def _line(document: Mapping[str, object]) -> bytes:
    return json.dumps(document).encode() + b"\n"


async def _left(receive: Receive) -> None:
    """Wait until whoever asked is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _nothing() -> AsyncIterator[bytes]:
    """The content that the base class asks for; what is sent is decided while it runs."""
    return
    yield b""
