"""Text from models and people, as every database and every transcript can hold it."""

from typing import Any, cast


def storable(text: str) -> str:
    """The text without NUL, and without halves of characters, which have no UTF-8."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def storable_json(value: Any) -> Any:  # noqa: ANN401 -- any JSON
    """The same with every text of a JSON value."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable_json(key): storable_json(each) for key, each in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [storable_json(each) for each in cast("list[Any]", value)]
    return value
