"""Finding the skill that fits a task, in any language.

The index is imported when it is first used: catalogs for prompts are written without its engine.
"""

from typing import TYPE_CHECKING

from skillyard.search.documents import Document, Found, Hit, Snippet

if TYPE_CHECKING:
    from skillyard.search.index import SkillIndex

__all__ = ["Document", "Found", "Hit", "SkillIndex", "Snippet"]


def __getattr__(name: str) -> object:
    if name == "SkillIndex":
        from skillyard.search.index import SkillIndex  # noqa: PLC0415 -- as said above

        return SkillIndex
    raise AttributeError(f"module 'skillyard.search' has no attribute {name!r}")
