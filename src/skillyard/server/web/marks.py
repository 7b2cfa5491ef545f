"""Marks of what a page shows: who asks again and again is told by them that nothing is new."""

import hashlib
import json

from pydantic_core import to_jsonable_python


def mark_of(shown: object) -> str:
    """The state of something: another one as soon as anything in it is."""
    text = json.dumps(to_jsonable_python(shown, fallback=str))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
