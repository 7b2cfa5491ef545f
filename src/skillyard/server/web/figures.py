"""Numbers as people read them."""

from typing import Final

_WHOLE: Final = 10
"""From here on, nothing after the point is of interest."""
_SECOND: Final = 1000
_MINUTE: Final = 60 * _SECOND
_HOUR: Final = 60 * _MINUTE


def percent(share: float) -> str:
    """A share of 1. Only all of it is 100%, and only nothing of it 0%."""
    text = f"{share * 100:.0f}%"
    if (text == "100%" and share < 1) or (text == "0%" and share > 0):
        return f"{min(max(share * 100, 0.1), 99.9):.1f}%"
    return text


def duration(milliseconds: float) -> str:
    """How long something took."""
    if milliseconds < _SECOND:
        return f"{milliseconds:.0f} ms"
    if milliseconds < _MINUTE:
        return f"{milliseconds / _SECOND:.1f} s"
    if milliseconds < _HOUR:
        return _in_two(milliseconds, _MINUTE, "min", _SECOND, "s")
    return _in_two(milliseconds, _HOUR, "h", _MINUTE, "min")


def figure(number: float) -> str:
    """A number of any size, to two digits at least."""
    return f"{number:,.0f}" if number >= _WHOLE else f"{number:.2g}" if number >= 1 / _SECOND else "0"


def _in_two(milliseconds: float, large: int, large_unit: str, small: int, small_unit: str) -> str:
    whole, rest = divmod(int(milliseconds), large)
    return f"{whole} {large_unit} {rest // small} {small_unit}" if rest >= small else f"{whole} {large_unit}"
