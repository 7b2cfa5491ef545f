"""The same done several times in a row."""

from collections.abc import Sequence
from typing import Final, NamedTuple

_SHORTEST: Final = 2
_MOST: Final = 400


class Loop(NamedTuple):
    start: int
    length: int
    times: int

    @property
    def end(self) -> int:
        return self.start + self.length * self.times


def loop_in(forms: Sequence[str]) -> Loop | None:
    """The part of a row that is repeated, and covers the most of it; with the shortest that is repeated so."""
    size = min(len(forms), _MOST)
    best: Loop | None = None
    for length in range(_SHORTEST, size // 2 + 1):
        start = 0
        while start + 2 * length <= size:
            times = 1
            while list(forms[start + times * length : start + (times + 1) * length]) == list(
                forms[start : start + length]
            ):
                times += 1
            if times > 1 and (best is None or times * length > best.times * best.length):
                if len(set(forms[start : start + length])) > 1:
                    best = Loop(start, length, times)
                start += times * length
            else:
                start += 1
    return best
