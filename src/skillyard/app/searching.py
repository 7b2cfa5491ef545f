"""The search of the skills in reach, as the settings want it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skillyard.app.embedding import open_embeddings
from skillyard.library.searching import SkillSearch, search_folder
from skillyard.skill.library import Library

if TYPE_CHECKING:
    from skillyard.config.settings import Settings


def open_search(
    settings: "Settings", library: Library, *, roots: Sequence[Path] = (), environment: str | None = None
) -> SkillSearch:
    """The search of what is in reach from here, or of named folders or an environment, kept for the next process."""
    place = [*map(os.path.abspath, roots)] if roots or environment else [str(Path.cwd())]
    folder = search_folder(settings.home, place, environment=environment)
    return SkillSearch(library, folder, open_embeddings(settings))
