"""What is given to search, and what it gives back."""

from dataclasses import dataclass
from typing import Final

MAX_SUMMARY: Final = 4_096
"""So many characters of a name, a description and the tags are searched."""
MAX_BODY: Final = 32_768
"""So many characters of a body are searched; hardly any that a person wrote has more."""
MAX_SHOWN: Final = 4_096
"""So many characters of a body are kept beside the index, to show where it matched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What is known of a skill when it is searched for."""

    key: str
    """Its own name in the index."""
    name: str
    description: str
    tags: tuple[str, ...] = ()
    body: str = ""
    seen_by: tuple[str, ...] = ()
    """Who may find it: whoever asks with one of these."""
    labels: tuple[str, ...] = ()
    """What a search can be narrowed to, such as `namespace:acme` or `tag:office`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A piece of a skill's text that shows why it was found."""

    text: str
    marks: tuple[tuple[int, int], ...]
    """Where in the text the words asked for are, as start and end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A skill that fits a query."""

    key: str
    name: str
    description: str
    score: float
    snippet: Snippet


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The best hits of a search, best first."""

    hits: tuple[Hit, ...]
    total: int
    """How many were relevant among those looked at."""
    is_more: bool
    """Whether there may be others, less relevant, that were not looked at."""
