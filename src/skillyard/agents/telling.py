"""Telling something beside the work: nobody waits for it, and what cannot be told is lost."""

import logging
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

import httpx

from skillyard.errors import SkillyardError
from skillyard.usage.service import MAX_EVENTS

MAX_WAITING: Final = 10_000
"""Things that wait to be told; more are dropped, the oldest first."""
_LAST_SECONDS: Final = 2.0
"""How long a process that ends waits for the last of them."""
Thing = TypeVar("Thing")
_log: Final = logging.getLogger(__name__)


class Telling(Generic[Thing]):
    """Things on their way. They are told in a thread of their own, as many at once as have come together."""

    def __init__(self, tell: Callable[[Sequence[Thing]], object]) -> None:
        self._sending = _Sending(tell)
        weakref.finalize(self, self._sending.finish, _LAST_SECONDS)

    def add(self, thing: Thing) -> None:
        self._sending.add(thing)

    def flush(self, timeout: float | None = None) -> None:
        """Wait until all that was added is told, or could not be."""
        self._sending.finish(timeout)


class _Sending(Generic[Thing]):
    """Apart from `Telling`, so that a thread at work does not keep that alive."""

    def __init__(self, tell: Callable[[Sequence[Thing]], object]) -> None:
        self._tell = tell
        self._waiting: deque[Thing] = deque(maxlen=MAX_WAITING)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._has_failed = False

    def add(self, thing: Thing) -> None:
        with self._lock:
            self._waiting.append(thing)
            if self._thread is None:
                self._thread = threading.Thread(target=self._send, name="uses", daemon=True)
                self._thread.start()

    def finish(self, timeout: float | None) -> None:
        thread = self._thread
        if thread is not None:
            thread.join(timeout)

    def _send(self) -> None:
        while True:
            with self._lock:
                things = [self._waiting.popleft() for _ in range(min(len(self._waiting), MAX_EVENTS))]
                if not things:
                    self._thread = None
                    return
            try:
                self._tell(things)
            except (SkillyardError, httpx.HTTPError, RuntimeError):
                # To be counted is worth less than to be answered.
                continue
            except Exception:  # noqa: BLE001 -- what comes later must still be told
                if not self._has_failed:
                    _log.exception("something could not be told; the next time this is not logged")
                self._has_failed = True
