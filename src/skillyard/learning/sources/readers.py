"""What reading a source gives, whatever it is."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

Position: TypeAlias = Mapping[str, Any]
"""How far a source was read; only its reader knows what it says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    items: Sequence[Any]
    """Each with the names that feedback has here; what could not even be read as an object is as it came."""
    position: Position


class Reader(Protocol):
    """Reads one source."""

    def pages(self, position: Position | None) -> AsyncIterator[Page]:
        """What came after a position, and a while before it, since some come late; without one, all that there is."""
        ...


def renamed(item: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    """An item with our names for what it holds."""
    return {ours: item[theirs] for ours, theirs in fields.items() if theirs in item}
