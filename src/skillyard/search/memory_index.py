"""An index in memory of changing documents; only changed ones are indexed again."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from skillyard.search.documents import Document
from skillyard.search.index import SkillIndex

State = Mapping[str, object]
"""For each key a value that changes with its document."""

_FEW: Final = 50
"""This many documents may always change before all are indexed again."""
_SHARE: Final = 10
"""With many documents, one in this many may change."""


class MemoryIndex:
    """Threads may share it: each leaves a complete index for the next."""

    def __init__(self) -> None:
        self._last: _Indexed | None = None
        self._lock = threading.Lock()

    def at(self, state: State, documents: Callable[[Collection[str]], Iterable[Document]]) -> SkillIndex:
        """The index of just these documents; it is asked for those that are new or different."""
        last = self._last
        if last is None or last.state != state:
            with self._lock:
                last = self._last
                last = self._last = _Indexed.of(state, documents) if last is None else last.changed(state, documents)
        return last.index


@dataclass(frozen=True, kw_only=True, slots=True)
class _Indexed:
    state: State
    index: SkillIndex
    changes: int = 0
    """Changes since all were indexed; the engine keeps deleted documents for a while and counts them."""

    @classmethod
    def of(cls, state: State, documents: Callable[[Collection[str]], Iterable[Document]]) -> "_Indexed":
        return cls(state=state, index=SkillIndex.of(documents(state.keys())))

    def changed(self, state: State, documents: Callable[[Collection[str]], Iterable[Document]]) -> "_Indexed":
        gone = self.state.keys() - state.keys()
        new = [key for key, value in state.items() if self.state.get(key) != value]
        changes = self.changes + len(gone) + len(new)
        if changes > max(_FEW, len(state) // _SHARE):
            return _Indexed.of(state, documents)
        index = self.index.changed(documents(new), gone) if gone or new else self.index
        return _Indexed(state=state, index=index, changes=changes)
