"""The rich console that all text for people goes through."""

import os
from collections.abc import Iterable
from typing import Any, Final, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from skillyard.cli.safe_text import visible

WIDE: Final = 100_000
"""Off a terminal nothing is cut or wrapped: a script wants whole lines."""


class SafeConsole(Console):
    """A console on which no text can steer the terminal, whoever wrote it."""

    def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401 -- passed on as they are
        # Before rich sees it, which would drop some control characters silently.
        return super().render_str(visible(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


def console_on(stream: TextIO) -> SafeConsole:
    """A console on a stream: colours on a terminal only, markup never, so that text stays text."""
    settings: dict[str, Any] = {} if stream.isatty() else {"width": WIDE}
    if os.environ.get("NO_COLOR"):
        settings["color_system"] = None  # neither colours nor bold
    return SafeConsole(file=stream, markup=False, highlight=False, emoji=False, **settings)
