"""How far a tool has got, told to whoever called it, where there is a way to tell."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeAlias

Report: TypeAlias = Callable[[float, float | None, str], None]
"""Takes what is done, how much there is in all where that is known, and a word on what is being done."""

_REPORT: Final[ContextVar[Report | None]] = ContextVar("_REPORT", default=None)


def report_progress(done: float, total: float | None = None, message: str = "") -> None:
    """Say how far it is; what is done must grow from call to call. Nothing happens where nobody wants to know."""
    report = _REPORT.get()
    if report is not None:
        report(done, total, message)


def is_wanted() -> bool:
    """Whether there is anybody to tell."""
    return _REPORT.get() is not None


@contextmanager
def reporting(report: Report) -> Generator[None]:
    """Have what is called within told to `report`, from whatever thread it runs in."""
    token = _REPORT.set(report)
    try:
        yield
    finally:
        _REPORT.reset(token)
