"""Texts as learning keeps them: every database can hold them, and secrets that can be recognised are gone."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from skillyard.redact import redact, storable
from skillyard.sandbox.capture.markers import marker
from skillyard.sandbox.capture.secret_names import is_secret_name, secret_called
from skillyard.sandbox.capture.secret_texts import mask_output


def kept(text: str) -> str:
    """A text without keys, tokens and passwords: told by their form, or by the name beside them."""
    return mask_output(redact(storable(text)))


def kept_json(value: Any) -> Any:  # noqa: ANN401 -- any JSON
    """The same with every text of a JSON value. What a telling key holds is a secret, whatever it looks like."""
    if isinstance(value, str):
        return kept(value)
    if isinstance(value, Mapping):
        fields = cast("Mapping[object, Any]", value)
        return {kept(str(key)): _beside(str(key), each) for key, each in fields.items()}
    if isinstance(value, list | tuple):
        return [kept_json(each) for each in cast("Sequence[Any]", value)]
    return value


def _beside(key: str, value: Any) -> Any:  # noqa: ANN401 -- any JSON
    return marker(secret_called(key)) if isinstance(value, str) and value and is_secret_name(key) else kept_json(value)
