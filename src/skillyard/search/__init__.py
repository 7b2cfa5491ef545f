"""Finding the skill that fits a task, in any language."""

from skillyard.search.documents import Document, Found, Hit, Snippet
from skillyard.search.index import SkillIndex

__all__ = ["Document", "Found", "Hit", "SkillIndex", "Snippet"]
