"""Runs whose output is told as it comes."""

import asyncio
import json

import pytest

from skillyard.errors import NotFoundError
from skillyard.server.yard.streams import RunStream

pytestmark = pytest.mark.anyio


class Line:
    """One client's connection: what it was sent, and when it goes away."""

    def __init__(self):
        self.sent = []
        self.left = asyncio.Event()
        self.news = asyncio.Event()

    async def receive(self):
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        self.sent.append(message)
        self.news.set()

    async def until(self, text):
        while text not in self.body:
            await self.news.wait()
            self.news.clear()

    @property
    def body(self):
        return b"".join(message.get("body", b"") for message in self.sent)

    @property
    def documents(self):
        return [json.loads(line) for line in self.body.splitlines() if line]

    async def answer(self, run, **options):
        await RunStream(run, **options)({"type": "http", "state": {}}, self.receive, self.send)


async def test_output_is_told_as_it_comes_and_the_result_at_the_end():
    line, go_on = Line(), asyncio.Event()

    async def run(on_output):
        on_output("stdout", b"one")
        await go_on.wait()
        on_output("stderr", b"two")
        on_output("stdout", b"three")
        return {"success": True}

    answering = asyncio.create_task(line.answer(run))
    await line.until(b"one")
    assert line.sent[0]["status"] == 200
    assert (b"content-length", b"0") not in line.sent[0]["headers"]
    go_on.set()
    await answering
    assert line.documents == [
        {"stream": "stdout", "text": "one"},
        {"stream": "stderr", "text": "two"},
        {"stream": "stdout", "text": "three"},
        {"result": {"success": True}},
    ]
    assert line.sent[-1]["more_body"] is False


async def test_characters_are_never_cut_in_two():
    line = Line()

    async def run(on_output):
        for byte in "añ한".encode() + b"\xff\xed":
            on_output("stdout", bytes([byte]))
            await asyncio.sleep(0)
        return {}

    await line.answer(run)
    assert "".join(one.get("text", "") for one in line.documents) == "añ한\ufffd\ufffd"


async def test_silence_is_broken_by_empty_lines():
    line, go_on = Line(), asyncio.Event()

    async def run(_on_output):
        await go_on.wait()
        return {}

    answering = asyncio.create_task(line.answer(run, heartbeat=0.001))
    await line.until(b"\n\n")
    go_on.set()
    await answering
    assert line.documents == [{"result": {}}]


@pytest.mark.parametrize("said", [b"", b"some"])
async def test_whoever_goes_away_ends_the_run_and_it_can_say_so(said):
    line, begun, told = Line(), asyncio.Event(), []

    async def run(on_output):
        on_output("stdout", said)
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            told.append("written down")
            raise
        return {}

    answering = asyncio.create_task(line.answer(run))
    await begun.wait()
    line.left.set()
    await answering
    assert told == ["written down"]


async def test_what_fails_at_once_is_an_ordinary_error():
    line = Line()

    async def run(_on_output):
        raise NotFoundError("There is none.")

    with pytest.raises(NotFoundError):
        await line.answer(run)
    assert line.sent == []


async def test_what_fails_on_the_way_is_the_last_line():
    line = Line()

    async def run(on_output):
        on_output("stdout", b"one")
        await line.until(b"one")
        raise NotFoundError("There is none.")

    await line.answer(run)
    assert line.documents[-1]["error"]["code"] == "not_found"


@pytest.fixture
def sandbox(ana):
    return f"sandboxes/{ana.sandbox()['id']}"


def lines_of(answer):
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines() if line]


def test_a_command_is_followed(ana, sandbox):
    body = {"command": "echo out; echo err >&2; echo $TOKEN; exit 3", "secrets": {"TOKEN": "correct-horse"}}
    *output, last = lines_of(ana.request("POST", f"{sandbox}/shell/stream", 200, json=body))
    told = {"stdout": "", "stderr": ""}
    for one in output:
        told[one["stream"]] += one["text"]
    assert told == {"stdout": "out\n***\n", "stderr": "err\n"}
    result = last["result"]
    assert (result["exit_code"], result["output"], result["error"]) == (3, "out\n***\n", "err\n")
    assert (result["success"], result["ending"], result["truncated"]) == (False, "exited", False)
    assert ana.get(f"{sandbox}/history/last")["id"] == result["execution_id"]


def test_python_is_followed_and_remembers(ana, sandbox):
    ana.post(f"{sandbox}/python/exec", {"code": "x = 41"})
    *output, last = lines_of(ana.request("POST", f"{sandbox}/python/stream", 200, json={"code": "print('hi')\nx + 1"}))
    assert "".join(one["text"] for one in output) == "hi\n42\n"
    assert last["result"]["success"]


def test_what_cannot_run_is_refused_as_elsewhere(ana, sandbox):
    ana.fails("POST", "sandboxes/none/shell/stream", "not_found", 404, json={"command": "true"})
    ana.fails("POST", f"{sandbox}/shell/stream", "invalid_path", 400, json={"command": "true", "cwd": "/etc"})
    ana.fails("POST", f"{sandbox}/python/stream", "validation_error", 422, json={"code": "1", "timeout": 0})
