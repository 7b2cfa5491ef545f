"""The frontmatter of a skill as JSON: what any reader of YAML 1.2 makes of it."""

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from skillyard.skill.models import PlainScalar, Value

_NOTHING: Final = frozenset({"null", "Null", "NULL", "~", ""})
_TRUTHS: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_WHOLE: Final = re.compile(r"[-+]?[0-9]+")
_BASED: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FRACTION: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DIGITS: Final = 300
"""A number of more digits stays a text: no reader of JSON would know it."""


def json_fields(fields: Mapping[str, Value]) -> dict[str, Any]:
    """Every field as written, typed as the core schema of YAML 1.2 types it."""
    return {key: _json(value) for key, value in fields.items()}


def _json(value: Value) -> Any:  # noqa: ANN401 -- any JSON
    if isinstance(value, dict):
        return json_fields(value)
    if isinstance(value, list):
        return [_json(item) for item in value]
    return _typed(value) if isinstance(value, PlainScalar) else value


def _typed(text: str) -> Any:  # noqa: ANN401 -- a scalar of JSON
    if text in _NOTHING:
        return None
    if text in _TRUTHS:
        return _TRUTHS[text]
    if len(text) > _DIGITS:
        return str(text)
    if _WHOLE.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FRACTION.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else str(text)
    return str(text)  # dates, `yes`, `.inf`: texts for YAML 1.2, or nothing that JSON knows
