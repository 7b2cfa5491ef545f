"""Feedback on its way, shown while it is learned from."""

import sys
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from skillyard.cli.learn_text import FAILED, SET_A_MODEL, STAGE_STYLES, counts_text, next_of, print_outcome
from skillyard.cli.output import Sink
from skillyard.cli.safe_text import one_line
from skillyard.cli.sandbox import end_of
from skillyard.cli.text import FAINT, styled
from skillyard.clock import utc_now
from skillyard.remote.learning_following import Look, looks

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from skillyard.remote.learning import LearningClient

_NEXT: Final = {
    "proposed": "Decide on what is proposed: skillyard learn proposals",
    "needs_review": "See what needs a person: skillyard learn list --stage needs_review",
    "waiting_for_model": SET_A_MODEL,
}
_LINES: Final = 12
"""So many of those that are worked on are shown at once."""


@dataclass(frozen=True, kw_only=True)
class Followed:
    """What came of feedback that was followed."""

    rested: tuple[Mapping[str, Any], ...]
    counts: Mapping[str, int]

    @property
    def failed(self) -> bool:
        return any(one["stage"] in FAILED for one in self.rested)

    @property
    def remarks(self) -> list[str]:
        """What can be done now: about one piece, or about all that there is."""
        if len(self.rested) == 1:
            return next_of(self.rested[0])
        return [said for stage, said in _NEXT.items() if self.counts.get(stage)]


def follow(sink: Sink, learning: "LearningClient", chosen: Collection[str] | None, *, quiet: bool = False) -> Followed:
    """Look on until nothing is worked on; with `quiet`, what comes to rest is not printed."""
    rested: list[Mapping[str, Any]] = []
    with _board(sink) as board:
        for look in looks(learning, chosen):
            rested += look.rested
            if board is not None:
                board.show(look, learning.counts())
            for one in () if quiet else look.rested:
                _print(sink, board, one)
    return Followed(rested=tuple(rested), counts=learning.counts())


def _print(sink: Sink, board: "_Board | None", one: Mapping[str, Any]) -> None:
    if board is not None:
        print_outcome(board.console, one)
    else:
        sink.stream(lambda console: print_outcome(console, one))


class _Board:
    """What is worked on, at the foot of a terminal."""

    def __init__(self, live: "Live") -> None:
        self._live = live

    @property
    def console(self) -> "Console":
        return self._live.console

    def show(self, look: Look, counts: Mapping[str, int]) -> None:
        lines = [_line(one, self.console.width) for one in look.open[:_LINES]]
        more = len(look.open) - _LINES
        if more > 0:
            lines.append(styled((f"… and {more:,} more", FAINT)))
        self._live.update(styled("\n").join([counts_text(counts), *lines]), refresh=True)


@contextmanager
def _board(sink: Sink) -> Generator[_Board | None]:
    if sink.as_json or not sys.stdout.isatty():
        yield None
        return
    from rich.live import Live  # noqa: PLC0415 -- only a terminal needs it

    with Live(console=sink.console, transient=True, auto_refresh=False) as live:
        yield _Board(live)


def _line(one: Mapping[str, Any], width: int) -> "Text":
    waits = f"again {end_of(utc_now(), one['due_at']).removeprefix('ends ')}: " if one["due_at"] else ""
    trouble = one_line(one["error"] or "") if waits else ""
    said = f"  {waits}{trouble}" if waits else f"  {one_line(one['content'])}"
    line = styled((f"{one['id']}  ", "bold"), (f"{one['stage']:<9}", STAGE_STYLES.get(one["stage"], "")), said)
    line.truncate(width, overflow="ellipsis")
    return line
