"""How far a tool has got, told to whoever called it, where there is a way to tell; and whether they still wait."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, TypeAlias

Report: TypeAlias = Callable[[float, float | None, str], None]
"""Takes what is done, how much there is in all where that is known, and a word on what is being done."""


@dataclass(kw_only=True, slots=True)
class _Caller:
    report: Report
    waits: bool = True


_CALLER: Final[ContextVar[_Caller | None]] = ContextVar("_CALLER", default=None)


def report_progress(done: float, total: float | None = None, message: str = "") -> None:
    """Say how far it is; what is done must grow from call to call. Nothing happens where nobody wants to know."""
    caller = _CALLER.get()
    if caller is not None:
        caller.report(done, total, message)


def is_wanted() -> bool:
    """Whether there is anybody to tell."""
    return _CALLER.get() is not None


def is_given_up() -> bool:
    """Whether whoever called is known to wait no more: what was begun for them may end."""
    caller = _CALLER.get()
    return caller is not None and not caller.waits


@contextmanager
def reporting(report: Report) -> Generator[None]:
    """Have what is called within told to `report`, from whatever thread it runs in. After it, nobody waits any more."""
    caller = _Caller(report=report)
    token = _CALLER.set(caller)
    try:
        yield
    finally:
        caller.waits = False
        _CALLER.reset(token)
