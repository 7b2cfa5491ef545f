"""The name of a learned skill, settled when it is rendered."""

from collections.abc import Callable, Collection, Iterator
from itertools import count
from typing import Final

from skillyard.skill.limits import MAX_NAME
from skillyard.skill.names import ascii_alias, is_valid_name, slugify

_LEARNED: Final = "learned"


def settled_name(skill_key: str, taken: Callable[[str], bool] | Collection[str] = ()) -> str:
    """A valid name for a key that is nobody's: the key itself, else `learned-<key>`, else that with a number."""
    is_taken = taken if callable(taken) else taken.__contains__
    return next(name for name in _names(skill_key) if not is_taken(name))


def _names(skill_key: str) -> Iterator[str]:
    slug = slugify(skill_key)
    own = slug if slug and is_valid_name(slug) else ascii_alias(skill_key)
    yield own
    yield _fitting(own, "")
    for number in count(2):
        yield _fitting(own, f"-{number}")


def _fitting(name: str, ending: str) -> str:
    room = MAX_NAME - len(_LEARNED) - 1 - len(ending)
    return f"{_LEARNED}-{name[:room].rstrip('-')}{ending}"
