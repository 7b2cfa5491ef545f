"""A model that says what it was told to say, behind an OpenAI-compatible address on this machine.

It stands in where no real model is to be asked: in the demo, which says so, and in tests.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

NAME: Final = "scripted"
_WORDS_PER_TOKEN: Final = 4


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer: a text, calls of tools, or an error of the server."""

    text: str = ""
    calls: Sequence[ToolCall] = ()
    raw_arguments: str | None = None
    """What stands in place of the arguments of the first call, as it is."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    wait: float = 0.0


Request: TypeAlias = dict[str, Any]
Script: TypeAlias = Callable[[Request], Reply]


def in_turn(*replies: Reply) -> Script:
    """The replies one after the other; the last one for ever."""
    waiting = list(replies)

    def script(_: Request) -> Reply:
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    return script


class ScriptedModel:
    """The server, for as long as the block runs; `requests` are those that it was asked."""

    def __init__(self, script: Script) -> None:
        self.requests: list[Request] = []
        self.script = script
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def settings(self) -> dict[str, str]:
        """The settings that have it asked."""
        return {"model": f"openai:{NAME}", "model_base_url": self.base_url}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request: Request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.requests.append(request)
                reply = model.script(request)
                time.sleep(reply.wait)
                answer = _completion(request, reply) if reply.status == 200 else _failure(reply)  # noqa: PLR2004 -- HTTP's
                body = json.dumps(answer).encode()
                self.send_response(reply.status)
                for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Connection", "close")  # a client whose loop ends is left with none that is open
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- its name there
                """Nobody reads it."""

        return Handler


def _completion(request: Request, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = [_call(call, reply, at) for at, call in enumerate(reply.calls)]
    asked = len(json.dumps(request["messages"])) // _WORDS_PER_TOKEN
    answered = len(json.dumps(message)) // _WORDS_PER_TOKEN
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": NAME,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if reply.calls else "stop"}],
        "usage": {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered},
    }


def _call(call: ToolCall, reply: Reply, at: int) -> dict[str, Any]:
    arguments = reply.raw_arguments if reply.raw_arguments is not None and not at else json.dumps(call.arguments)
    return {"id": f"call_{at}", "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _failure(reply: Reply) -> dict[str, Any]:
    return {"error": {"message": reply.text or "It cannot answer now.", "type": "server_error", "code": None}}
