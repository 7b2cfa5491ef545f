"""Choices that come as text."""

from enum import StrEnum
from typing import TypeVar

_Choice = TypeVar("_Choice", bound=StrEnum)


def one_of(kind: type[_Choice], text: str) -> _Choice | None:
    """The choice of that name; None where there is none, as in an address that somebody changed."""
    return next((choice for choice in kind if choice == text), None)
