"""Finding the skill that fits a task, in any language."""

from skillyard.search.index import Document, Hit, Index, rank

__all__ = ["Document", "Hit", "Index", "rank"]
