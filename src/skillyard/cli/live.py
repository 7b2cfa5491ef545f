"""Output of something that runs, shown as it comes."""

import sys
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from skillyard.cli.output import Sink
from skillyard.cli.safe_text import visible


class Live:
    """Writes stdout to stdout and stderr to stderr, whatever a program wrote there; a terminal cannot be steered by it.

    Until the first piece comes, a terminal shows that work goes on. With `--json` nothing is written: the document
    has it all.
    """

    def __init__(self, sink: Sink, label: str) -> None:
        self._sink = sink
        self._label = label
        self._waiting = ExitStack()
        self._held = {"stdout": "", "stderr": ""}
        self._at_line_start = True

    def __enter__(self) -> Self:
        self._waiting.enter_context(self._sink.busy(self._label))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._waiting.close()
        for stream, text in self._held.items():
            self._show(stream, text)
        if not self._at_line_start and sys.stderr.isatty():
            # Remarks begin on a line of their own.
            sys.stderr.write("\n")

    def write(self, stream: str, text: str) -> None:
        self._waiting.close()
        text = self._held[stream] + text
        # Half of a line break is no control character.
        whole = text.removesuffix("\r")
        self._held[stream] = text[len(whole) :]
        self._show(stream, whole)

    def _show(self, stream: str, text: str) -> None:
        if self._sink.as_json or not text:
            return
        target = sys.stderr if stream == "stderr" else sys.stdout
        target.write(visible(text) if target.isatty() else text)
        target.flush()
        if target.isatty():
            self._at_line_start = text.endswith("\n")
