"""What models say in JSON, as every database and every transcript can hold it."""

from typing import Any, Final, cast

from skillyard.redact import storable

MAX_DEPTH: Final = 64
"""Lists and objects within each other; nothing that is asked for has more than a few."""
TOO_DEEP: Final = "[too deep]"


def storable_json(value: Any, room: int = MAX_DEPTH) -> Any:  # noqa: ANN401 -- any JSON
    """A JSON value with every text of it storable, and without what is too deep for anyone to walk through."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict | list | tuple) and not room:
        return TOO_DEEP
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {storable_json(key): storable_json(each, room - 1) for key, each in items}
    if isinstance(value, list | tuple):
        return [storable_json(each, room - 1) for each in cast("list[Any]", value)]
    return value
