"""What is measured: the floors, our own library, and the peers, each loading the same folder of skills.

A subject is a function `prepare(root) -> load`; only `load` is timed, imports and set-up are not.
"""

import os
from collections.abc import Callable
from pathlib import Path

Load = Callable[[], int]


def floor_stat(root: Path) -> Load:
    def load() -> int:
        with os.scandir(root) as scan:
            return sum(1 for entry in scan if os.stat(f"{entry.path}/SKILL.md"))  # noqa: PTH116 - the floor

    return load


def floor_read(root: Path) -> Load:
    def load() -> int:
        count = 0
        with os.scandir(root) as scan:
            for entry in scan:
                with open(f"{entry.path}/SKILL.md", "rb") as file:  # noqa: PTH123 - the floor uses the cheapest call
                    count += bool(file.read())
        return count

    return load


def floor_read_and_c_yaml(root: Path) -> Load:
    import yaml

    def load() -> int:
        skills = []
        with os.scandir(root) as scan:
            for entry in scan:
                with open(f"{entry.path}/SKILL.md", encoding="utf-8") as file:  # noqa: PTH123 - as above
                    text = file.read()
                end = text.index("\n---", 3)
                skills.append(yaml.load(text[4:end], yaml.CSafeLoader))
        return len(skills)

    return load


def skillyard_first(root: Path) -> Load:
    import skillyard.skill.yaml_events  # noqa: F401 - imports are not timed, for any subject
    from skillyard.library.folder import FolderLibrary

    index = root.parent / "index-first"
    for old in index.glob("*"):
        old.unlink()
    return lambda: len(FolderLibrary(root, index_dir=index).catalog().entries)


def skillyard_again(root: Path) -> Load:
    from skillyard.library.folder import FolderLibrary

    index = root.parent / "index-again"
    return lambda: len(FolderLibrary(root, index_dir=index).catalog().entries)


def skillyard_one_change(root: Path) -> Load:
    """One skill is edited before each look; the count is right only if the new text is seen."""
    from skillyard.library.folder import FolderLibrary

    edited = min(root.iterdir()) / "SKILL.md"
    text = edited.read_text(encoding="utf-8")
    marked = text.replace("Edited ", "") if "Edited" in text else text.replace("description: ", "description: Edited ")
    edited.write_text(marked, encoding="utf-8")
    index = root.parent / "index-again"

    def load() -> int:
        entries = FolderLibrary(root, index_dir=index).catalog().entries
        seen = next(entry for entry in entries if entry.id == edited.parent.name)
        assert seen.description.startswith("Edited") == ("Edited" in marked), "the change was not seen"
        return len(entries)

    return load


def skills_ref(root: Path) -> Load:
    from skills_ref import read_properties, validate

    def load() -> int:
        count = 0
        for folder in root.iterdir():
            if not validate(folder):
                count += bool(read_properties(folder))
        return count

    return load


def deepagents(root: Path) -> Load:
    from deepagents.backends.filesystem import FilesystemBackend
    from deepagents.middleware.skills import SkillsMiddleware

    middleware = SkillsMiddleware(backend=FilesystemBackend(root_dir="/"), sources=[f"{root}/"])

    def load() -> int:
        update = middleware.before_agent({}, None, {})  # type: ignore[arg-type]
        return len(update["skills_metadata"])  # type: ignore[index]

    return load


def fastmcp(root: Path) -> Load:
    from fastmcp.server.providers.skills import SkillsDirectoryProvider

    def load() -> int:
        return len(SkillsDirectoryProvider(roots=root).providers)

    return load


SUBJECTS = {
    "floor: stat": floor_stat,
    "floor: read": floor_read,
    "floor: read + C YAML": floor_read_and_c_yaml,
    "skillyard: first load": skillyard_first,
    "skillyard: unchanged": skillyard_again,
    "skillyard: one change": skillyard_one_change,
    "deepagents": deepagents,
    "fastmcp": fastmcp,
    "skills-ref": skills_ref,
}
