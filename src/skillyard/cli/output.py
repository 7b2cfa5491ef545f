"""The one sink: data on stdout, as text for people or as one JSON document; everything else on stderr."""

import io
import json
import shutil
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast

import typer

from skillyard.cli.safe_text import inline, visible, visible_json
from skillyard.cli.text import wrapped
from skillyard.errors import SkillyardError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")

SHOW_PROGRESS_AFTER: Final = 1.0
"""Seconds of work after which a bar is worth its flicker."""
PROGRESS_STEP: Final = 0.1


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a command returns: the document for scripts, the text and the remarks for people, the exit code."""

    document: Mapping[str, Any]
    text: Callable[["Console"], None]
    exit_code: int = 0
    remarks: Sequence[str] = ()
    """What is worth saying but is no data: it goes to stderr."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An error as the command line reports it."""

    code: str
    message: str
    hint: str
    exit_code: int
    details: Mapping[str, object]


class Sink:
    """Where a command's answer, its remarks and its failure go."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def show(self, answer: Answer) -> None:
        if self.as_json:
            self._document(answer.document)
        else:
            answer.text(self.console)
        sys.stdout.flush()
        for remark in () if self.as_json else answer.remarks:
            self.say(remark)

    def stream(self, text: "Callable[[Console], None]") -> None:
        """A part of the answer as it comes about, for people; scripts wait for the whole document."""
        if not self.as_json:
            text(self.console)
            sys.stdout.flush()

    def fail(self, failure: Failure) -> None:
        if self.as_json:
            error = {"code": failure.code, "message": failure.message, "hint": failure.hint}
            details = {"details": failure.details} if failure.details else {}
            self._document({"error": {**error, **details}})
            sys.stdout.flush()
            return
        self.say(f"Error: {failure.message}")
        for line in _finding_lines(failure.details):
            self.say(line, indent="  ")
        if failure.hint:
            self.say(f"Fix: {failure.hint}")

    def say(self, message: str, *, indent: str = "") -> None:
        """A remark for the person at the terminal, wrapped there."""
        text = inline(message)
        if sys.stderr.isatty():
            text = wrapped(text, shutil.get_terminal_size().columns, indent)
        sys.stderr.write(f"{indent}{text}\n")
        sys.stderr.flush()

    def confirm(self, question: str, *, yes: bool) -> None:
        """Go on only with a yes: by the option, or of the person at the terminal."""
        if yes:
            return
        if not sys.stdin.isatty() or not sys.stderr.isatty():
            raise UsageError(f"{question} There is no terminal to ask on.", hint="Add -y to answer yes.")
        sys.stderr.write(f"{inline(question)} [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
            raise SkillyardError("Nothing was done: the answer was no.", hint="Answer y, or add -y.")

    @contextmanager
    def busy(self, label: str) -> Generator[None]:
        """Show on a terminal that work goes on, once it has taken a while."""
        if not sys.stderr.isatty():
            yield
            return
        from skillyard.cli.terminal import console_on  # noqa: PLC0415 -- only a terminal needs it

        with _after_a_while(console_on(sys.stderr).status(visible(label))):
            yield

    def track(self, items: Iterable[T], *, total: int, label: str) -> Iterator[T]:
        """The items, with a progress bar on a terminal once the work has taken a while."""
        if not sys.stderr.isatty():
            yield from items
            return
        from rich.progress import Progress  # noqa: PLC0415 -- only long work on a terminal needs it

        from skillyard.cli.terminal import console_on  # noqa: PLC0415

        bar = Progress(console=console_on(sys.stderr), transient=True)
        task = bar.add_task(visible(label), total=total)
        shown = time.monotonic() + SHOW_PROGRESS_AFTER
        try:
            for done, item in enumerate(items, start=1):
                yield item
                if time.monotonic() > shown:
                    bar.start()
                    bar.update(task, completed=done)
                    shown = time.monotonic() + PROGRESS_STEP
        finally:
            bar.stop()

    @contextmanager
    def counting(self, label: str, *, total: int) -> Generator[Callable[[], None]]:
        """A progress bar on a terminal for few things that take long each; what it gives is called after each."""
        if not sys.stderr.isatty():
            yield lambda: None
            return
        from rich.progress import Progress  # noqa: PLC0415 -- only long work on a terminal needs it

        from skillyard.cli.terminal import console_on  # noqa: PLC0415

        bar = Progress(console=console_on(sys.stderr), transient=True)
        task = bar.add_task(visible(label), total=total)
        with _after_a_while(bar):
            yield lambda: bar.advance(task)

    @property
    def console(self) -> "Console":
        from skillyard.cli.terminal import console_on  # noqa: PLC0415 -- rich is slow to import; JSON needs none

        return console_on(sys.stdout)

    def _document(self, document: Mapping[str, Any]) -> None:
        indent = 2 if sys.stdout.isatty() else None
        text = json.dumps(document, ensure_ascii=False, indent=indent, default=str)
        sys.stdout.write(visible_json(text) + "\n")


class _Shown(Protocol):
    def start(self) -> None: ...

    def stop(self) -> None: ...


@contextmanager
def _after_a_while(shown: _Shown) -> Generator[None]:
    """Show something once the work has taken a while, until it is over."""
    timer = threading.Timer(SHOW_PROGRESS_AFTER, shown.start)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        shown.stop()


def sink_of(context: typer.Context) -> Sink:
    """The sink of the running command."""
    sink = context.obj
    assert isinstance(sink, Sink)  # noqa: S101 -- main() put it there
    return sink


def use_utf8() -> None:
    """Write UTF-8 whatever the locale says; what has no UTF-8 form is written out, never a crash."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _finding_lines(details: Mapping[str, object]) -> Iterator[str]:
    for finding in cast("Iterable[Mapping[str, object]]", details.get("findings", ())):
        place = f"{finding['file'] or 'SKILL.md'}:{finding['line']}" if finding["line"] else finding["file"]
        parts = (f"{finding['severity']}:", place, finding["message"], finding["fix"])
        yield " ".join(str(part) for part in parts if part)
