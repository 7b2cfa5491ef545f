"""What models say in JSON, as every database and every transcript can hold it."""

from typing import Any, cast

from skillyard.redact import storable


def storable_json(value: Any) -> Any:  # noqa: ANN401 -- any JSON
    """A JSON value with every text of it storable."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable_json(key): storable_json(each) for key, each in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [storable_json(each) for each in cast("list[Any]", value)]
    return value
