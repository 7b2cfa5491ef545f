"""What a browser says it likes best."""

from collections.abc import Container
from typing import Final

_MAX_HEADER: Final = 1000


def preferred(header: str, known: Container[str]) -> str | None:
    """The known one that comes first by weight in an `Accept-Language`: `ko-KR,ko;q=0.9`."""
    best, best_weight = None, 0.0
    for item in header[:_MAX_HEADER].split(","):
        tag, _, parameters = item.strip().partition(";")
        weight = _weight(parameters)
        language = tag.partition("-")[0].lower()
        if language in known and weight > best_weight:
            best, best_weight = language, weight
    return best


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
