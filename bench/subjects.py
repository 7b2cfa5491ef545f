"""What is measured: the floors, our own library, and the peers, each loading the same folder of skills.

A subject is a function `prepare(root) -> load`; only `load` is timed, imports and set-up are not, and what it
loaded is freed afterwards.
"""

import os
from collections.abc import Callable, Sized
from pathlib import Path

Load = Callable[[], Sized]


def floor_stat(root: Path) -> Load:
    """What any loader must do to see a change: list the root, tell folders, look at each file's date."""

    def load() -> Sized:
        dates: list[int] = []
        with os.scandir(root) as scan:
            for entry in scan:
                if entry.is_dir():
                    status = os.stat(os.path.join(entry.path, "SKILL.md"))  # noqa: PTH116, PTH118 - plain calls
                    dates.append(status.st_mtime_ns)
        return dates

    return load


def floor_read(root: Path) -> Load:
    def load() -> Sized:
        files: list[bytes] = []
        with os.scandir(root) as scan:
            for entry in scan:
                with open(f"{entry.path}/SKILL.md", "rb") as file:  # noqa: PTH123 - the floor uses the cheapest call
                    files.append(file.read())
        return files

    return load


def floor_read_and_c_yaml(root: Path) -> Load:
    import yaml

    def load() -> Sized:
        skills = []
        with os.scandir(root) as scan:
            for entry in scan:
                with open(f"{entry.path}/SKILL.md", encoding="utf-8") as file:  # noqa: PTH123 - as above
                    text = file.read()
                end = text.index("\n---", 3)
                skills.append(yaml.load(text[4:end], yaml.CSafeLoader))
        return skills

    return load


def skillyard_first(root: Path) -> Load:
    import skillyard.skill.yaml_events  # noqa: F401 - imports are not timed, for any subject
    from skillyard.library.folder import FolderLibrary

    index = root.parent / "index-first"
    for old in index.glob("*"):
        old.unlink()
    return lambda: FolderLibrary(root, index_dir=index).catalog().entries


def skillyard_again(root: Path) -> Load:
    from skillyard.library.folder import FolderLibrary

    index = root.parent / "index-again"
    return lambda: FolderLibrary(root, index_dir=index).catalog().entries


def _home_of(root: Path) -> None:
    """A home for the indexes of these subjects alone."""
    os.environ["SKILLYARD_HOME"] = str(root.parent / "home")
    os.environ["SKILLYARD_CONFIG_DIR"] = str(root.parent / "config")


def skills_manager(root: Path) -> Load:
    from skillyard import SkillsManager

    _home_of(root)
    return lambda: SkillsManager(root).list_skills()


def skill_loader(root: Path) -> Load:
    """What an `Environment` loads its skills with."""
    from skillyard.library.loader import SkillLoader

    _home_of(root)
    return lambda: SkillLoader(root).load_all()


def skills_manager_search(root: Path) -> Load:
    """Opening the folder and the first search of the process, the engine's import and its word list included."""
    from skillyard import SkillsManager

    _home_of(root)

    def load() -> Sized:
        manager = SkillsManager(root)
        assert manager.search_skills("extract tables from a report"), "nothing was found"
        return manager.list_skills()

    return load


def skillyard_one_change(root: Path) -> Load:
    """One skill is edited before each look; the count is right only if the new text is seen."""
    from skillyard.library.folder import FolderLibrary

    edited = min(root.iterdir()) / "SKILL.md"
    text = edited.read_text(encoding="utf-8")
    marked = text.replace("Edited ", "") if "Edited" in text else text.replace("description: ", "description: Edited ")
    edited.write_text(marked, encoding="utf-8")
    index = root.parent / "index-again"

    def load() -> Sized:
        entries = FolderLibrary(root, index_dir=index).catalog().entries
        seen = next(entry for entry in entries if entry.id == edited.parent.name)
        assert seen.description.startswith("Edited") == ("Edited" in marked), "the change was not seen"
        return entries

    return load


def skills_ref(root: Path) -> Load:
    from skills_ref import read_properties, validate

    def load() -> Sized:
        return [read_properties(folder) for folder in root.iterdir() if not validate(folder)]

    return load


def deepagents(root: Path) -> Load:
    from deepagents.backends.filesystem import FilesystemBackend
    from deepagents.middleware.skills import SkillsMiddleware

    middleware = SkillsMiddleware(backend=FilesystemBackend(root_dir="/"), sources=[f"{root}/"])

    def load() -> Sized:
        update = middleware.before_agent({}, None, {})  # type: ignore[arg-type]
        return update["skills_metadata"]  # type: ignore[index]

    return load


def fastmcp(root: Path) -> Load:
    from fastmcp.server.providers.skills import SkillsDirectoryProvider

    def load() -> Sized:
        return SkillsDirectoryProvider(roots=root).providers

    return load


SUBJECTS = {
    "floor: stat": floor_stat,
    "floor: read": floor_read,
    "floor: read + C YAML": floor_read_and_c_yaml,
    "skillyard: first load": skillyard_first,
    "skillyard: unchanged": skillyard_again,
    "skillyard: one change": skillyard_one_change,
    "SkillsManager: unchanged": skills_manager,
    "SkillLoader: unchanged": skill_loader,
    "SkillsManager: unchanged, and a first search": skills_manager_search,
    "deepagents": deepagents,
    "fastmcp": fastmcp,
    "skills-ref": skills_ref,
}
