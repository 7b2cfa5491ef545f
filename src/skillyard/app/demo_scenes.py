"""Scenes: what the later parts of the demonstration are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """One part of what is shown, as it comes about."""

    name: str
    title: str
    rows: Sequence[Sequence[str]] = ()
    remark: str = ""
    good: bool | None = None
    """Whether the remark is good news; None when it is neither."""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
