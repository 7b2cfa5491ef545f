"""Model servers whose answers are none: whatever comes over the wire, the store is right and the reason can be read."""

import json
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.learning_minds import FINISHED, Mind, by_plan, remember
from tests.learning_school import opened

from skillyard.learning.states import Stage
from skillyard.llm.scripted import _completion

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """What failed is tried again without a pause."""
    monkeypatch.setattr("skillyard.jobs.attempts.RETRY_AFTER", (timedelta(0),))
    monkeypatch.setattr("skillyard.jobs.service._LOOK_AT_ONE", 0.01)


class RawModel:
    """A server that may answer with any bytes, or not at all; what its script does not say, a mind does."""

    def __init__(self):
        self.mind, self.raw = Mind(), lambda request: None
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.base_url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.settings = {"model": "openai:scripted", "model_base_url": self.base_url}

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def _handler(self):
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = model.raw(request)
                if body is None:
                    body = json.dumps(_completion(request, model.mind(request))).encode()
                if not body:
                    return  # as if somebody had pulled the plug
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                """Nobody reads it."""

        return Handler


@pytest.fixture
def raw():
    model = RawModel()
    yield model
    model.close()


@pytest.fixture
async def school(new_home, tmp_path, raw):
    async with opened({"home": new_home(tmp_path / "home"), "database_url": None}, raw) as school:
        await school.agent()
        yield school


def completion(message, finish="stop"):
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    whole = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
    return json.dumps(whole).encode()


def tool_call(name, arguments, key="call_0"):
    function = {"name": name, "arguments": arguments}
    return completion({"content": None, "tool_calls": [{"id": key, "type": "function", "function": function}]})


DEEP = "[" * 700 + "]" * 700
MEMORY = json.dumps({"operation": "CREATE", "text": "Say please."})
NO_ANSWERS = {
    "a page instead of JSON": b"<html>Bad gateway</html>",
    "half of an answer": completion({"content": "Hello"})[:40],
    "no choices": b'{"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": []}',
    "another object": b'{"hello": "world"}',
    "a list": b"[]",
    "nothing": b"",
    "bytes that are no text": b"\xff\xfe\x00",
}
SAID = {
    "a refusal beside the text": (
        completion({"content": None, "refusal": "I cannot help with that."}),
        "I cannot help",
    ),
    "a refusal": (completion({"content": "죄송하지만 도와드릴 수 없습니다."}), "죄송하지만"),
    "a filter": (completion({"content": ""}, finish="content_filter"), "without a commit"),
}
MISUSED = {
    "arguments that are a list": tool_call("commit_to_memory", "[1, 2]"),
    "arguments that are text": tool_call("commit_to_memory", '"CREATE"'),
    "arguments that are nothing": tool_call("commit_to_memory", "null"),
    "no arguments": tool_call("commit_to_memory", ""),
    "arguments cut in half": tool_call("commit_to_memory", MEMORY[:20]),
    "a tool without a name": tool_call("", MEMORY),
    "a tool of the system": tool_call("os.system", '{"command": "rm -rf /"}'),
    "other types": tool_call("commit_to_memory", '{"operation": ["CREATE"], "text": {"a": 1}}'),
    "an operation that is none": tool_call("commit_to_memory", '{"operation": "create or replace", "text": "x"}'),
    "a table that is none": tool_call("commit_to_dmn_rule", '{"operation": "CREATE", "name": "n", "table": {"a": 1}}'),
    "a skill of nobody": tool_call("commit_to_skill", '{"operation": "UPDATE", "skill_id": "../../etc/passwd"}'),
    "a table without a bottom": tool_call(
        "commit_to_dmn_rule", f'{{"operation": "CREATE", "table": {{"inputs": {DEEP}}}}}'
    ),
    "an id of nothing": tool_call("get_knowledge_detail", '{"knowledge_type": "MEMORY", "knowledge_id": "\\u0000"}'),
    "a kind that is none": tool_call("analyze_knowledge_conflict", '{"knowledge_type": "ALL", "knowledge_id": "x"}'),
    "nobody to attach": tool_call("attach_skills_to_agent", '{"skill_ids": ", ,"}'),
}


def deciding(body, times=10_000):
    """The body, wherever a decision is asked for, as often as that."""
    left = [times]

    def answer(request):
        if not request.get("tools") or not left[0]:
            return None
        left[0] -= 1
        return body

    return answer


async def test_an_answer_that_is_none_is_asked_for_again_and_then_left_to_a_person(school, raw):
    for name, body in NO_ANSWERS.items():
        raw.raw = deciding(body)
        feedback = await school.learn(name)
        assert feedback.stage is Stage.NEEDS_REVIEW, (name, feedback)
        assert feedback.reason.startswith("The model gave no answer"), (name, feedback.reason)
        assert len(feedback.reason) < 700
        assert await school.remembered() == []
    raw.raw = lambda request: None
    raw.mind = Mind(decide=by_plan(remember(name), FINISHED))
    assert (await school.again(feedback)).stage is Stage.COMMITTED


async def test_calls_that_are_never_json_are_tried_again_and_then_left_to_a_person(school, raw):
    raw.raw = deciding(tool_call("commit_to_memory", MEMORY[:20]))
    feedback = await school.learn("half a call")
    assert feedback.stage is Stage.NEEDS_REVIEW
    assert "called commit_to_memory with what is no JSON, 3 times" in feedback.reason
    assert await school.nothing_changed()


async def test_a_commit_that_was_refused_is_the_reason_for_none(school, raw):
    raw.mind = Mind(decide=by_plan(remember(""), FINISHED))
    feedback = await school.learn("nothing to say")
    assert feedback.stage is Stage.NO_COMMIT
    assert feedback.reason == (
        "It was finished without a commit. A commit was refused: text: a memory has 1 to 8,000 characters, not 0. "
        "The model said: Done."
    )


async def test_a_refusal_is_no_commit_and_says_what_was_said(school, raw):
    for name, (body, said) in SAID.items():
        raw.raw = deciding(body)
        feedback = await school.learn(name)
        assert (feedback.stage, said in feedback.reason) == (Stage.NO_COMMIT, True), (name, feedback.reason)
        assert await school.nothing_changed()


async def test_a_tool_that_is_misused_is_told_so_and_the_lesson_goes_on(school, raw):
    for name, body in MISUSED.items():
        raw.raw = deciding(body, times=1)
        raw.mind = Mind(decide=by_plan(remember(name), remember(name), FINISHED))
        feedback = await school.learn(name)
        assert feedback.stage is Stage.COMMITTED, (name, feedback.reason)
    assert await school.remembered() == sorted(MISUSED)
    assert await school.history("memory", "rule", "skill", "agent") == [
        "agent.created",
        *["memory.created"] * len(MISUSED),
    ]
