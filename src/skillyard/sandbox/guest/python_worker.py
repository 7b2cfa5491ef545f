"""Runs Python code of the sandbox's users, call after call, in one process whose names stay.

Asked and answering by one JSON object a line on two descriptors; what the code prints goes its own way.
"""

from __future__ import annotations

import ast
import base64
import builtins
import contextlib
import inspect
import io
import json
import linecache
import os
import signal
import sys
import traceback
import types
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType
    from typing import NoReturn

_MAX_TEXT = 1024 * 1024
_MAX_ERROR = 512 * 1024
"""More than the host keeps, because the host cuts only after it has looked for secrets."""


class Context:
    """The names that the code sees, and how it is run."""

    def __init__(self) -> None:
        self._module = types.ModuleType("__main__")
        self._names: dict[str, Any] = self._module.__dict__
        self._names["__builtins__"] = builtins
        self._count = 0
        self._running = False
        self._loop: Any = None
        sys.modules["__main__"] = self._module
        builtins.input = _no_input

    def run(self, code: str, environment: dict[str, str]) -> dict[str, Any]:
        self._count += 1
        answer: dict[str, Any] = {"count": self._count, "success": True}
        before = {name: os.environ.get(name) for name in environment}
        os.environ.update(environment)
        try:
            value = self._value(code, f"<cell {self._count}>")
            if value is not None:
                self._names["_"] = value
                answer["value"], answer["truncated"] = _bounded(repr(value), _MAX_TEXT)
        except SystemExit as error:
            if error.code not in {None, 0}:
                answer["success"] = False
                answer["error"] = f"SystemExit: {error.code}\n"
        except BaseException as error:  # noqa: BLE001 - whatever the code does, the context goes on
            answer["success"] = False
            answer["error"] = _traceback(error)
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
        answer["images"] = _figures()
        return answer

    def interrupt(self, *_: object) -> None:
        if self._running:
            raise KeyboardInterrupt

    def _value(self, code: str, name: str) -> object:
        """Run it; the value of the last statement, when that is an expression."""
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        tree = ast.parse(code, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        body = compile(tree, name, "exec", flags)
        expression = compile(ast.Expression(last.value), name, "eval", flags) if isinstance(last, ast.Expr) else None
        self._running = True
        try:
            self._evaluate(body)
            return self._evaluate(expression) if expression is not None else None
        finally:
            self._running = False

    def _evaluate(self, code: CodeType) -> object:
        value: Any = eval(code, self._names)  # noqa: S307 - running what is given is its purpose
        if not code.co_flags & inspect.CO_COROUTINE:
            return value
        import asyncio  # noqa: PLC0415 - only code that awaits pays for it

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        task = self._loop.create_task(value)
        try:
            return self._loop.run_until_complete(task)
        except KeyboardInterrupt:
            task.cancel()
            raise


def _no_input(_: object = "") -> NoReturn:
    raise RuntimeError("input() is not possible here: nobody is there to answer")


def _bounded(text: str, size: int) -> tuple[str, bool]:
    return (text, False) if len(text) <= size else (text[:size], True)


def _traceback(error: BaseException) -> str:
    """The traceback through the user's code, and not through what runs it."""
    try:
        summary = traceback.TracebackException(type(error), error, error.__traceback__)
        _without_own_frames(summary)
        text = "".join(summary.format())
    except BaseException:  # noqa: BLE001 - an error whose text cannot be had is still an error
        text = f"{type(error).__name__}\n"
    if len(text) > _MAX_ERROR:
        text = f"{text[: _MAX_ERROR // 2]}\n…\n{text[-_MAX_ERROR // 2 :]}"
    return text


_OWN_FILE = _traceback.__code__.co_filename


def _without_own_frames(summary: traceback.TracebackException) -> None:
    seen: set[int] = set()
    waiting: list[traceback.TracebackException | None] = [summary]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            one.stack = traceback.StackSummary.from_list([frame for frame in one.stack if frame.filename != _OWN_FILE])
            waiting += [one.__cause__, one.__context__]


def _figures() -> list[dict[str, str]]:
    """The open figures of matplotlib, when it is in use, as PNG; they are closed with it."""
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    images: list[dict[str, str]] = []
    try:
        for number in pyplot.get_fignums():
            image = io.BytesIO()
            pyplot.figure(number).savefig(image, format="png")
            images.append({"image/png": base64.b64encode(image.getvalue()).decode()})
        pyplot.close("all")
    except Exception:  # noqa: BLE001 - a figure that cannot be drawn does not undo what the code did
        traceback.print_exc()
    return images


def main(requests: int, answers: int) -> None:
    sys.path[0] = ""  # as in every interactive Python: modules in the workspace can be imported
    sys.argv = [""]
    sys.stdout, sys.stderr = _writer(1), _writer(2)
    for fd in (requests, answers):
        os.set_inheritable(fd, False)
    context = Context()
    pid = os.getpid()
    with open(requests, encoding="utf-8") as asked:
        for line in asked:
            signal.signal(signal.SIGINT, context.interrupt)
            request = json.loads(line)
            answer = context.run(request["code"], request["environment"])
            if os.getpid() != pid:
                os._exit(0)  # the code forked, and this is the child
            for stream in (sys.stdout, sys.stderr):
                _flush(stream)
            _say(answers, json.dumps(answer).encode() + b"\n")


def _writer(fd: int) -> IO[str]:
    return open(fd, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)


def _flush(stream: IO[str]) -> None:
    with contextlib.suppress(Exception):  # the code may have closed or replaced it
        stream.flush()


def _say(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
