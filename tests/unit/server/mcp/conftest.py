"""Skills in folders, and how they are seen."""

from pathlib import Path

import pytest

from skillyard.agents.library_source import LibrarySource
from skillyard.library.folder import FolderLibrary


class Folder:
    """A folder of skills that tests write to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()

    def add(
        self, skill: str, *, name: str | None = None, description: str = "", fields: str = "", **files: str
    ) -> Path:
        folder = self.root / skill
        folder.mkdir(exist_ok=True)
        head = f"name: {name or skill}\ndescription: {description or f'Does {skill}.'}\n{fields}"
        (folder / "SKILL.md").write_text(f"---\n{head}---\n# {skill}\n", encoding="utf-8")
        return folder

    def write(self, skill: str, path: str, data: bytes) -> None:
        file = self.root / skill / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "skills")


@pytest.fixture
def source(folder):
    return LibrarySource(FolderLibrary(folder.root))
