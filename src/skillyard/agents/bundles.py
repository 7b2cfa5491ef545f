"""Files of bundles, as sources tell of them."""

from skillyard.agents.source import SkillFile
from skillyard.library.assets import no_file
from skillyard.skill.bundle import Bundle


def files_of(bundle: Bundle) -> list[SkillFile]:
    """The files of a bundle, by path."""
    return [
        SkillFile(path=file.path, size=len(file.data), executable=file.executable, sha256=sha256)
        for file, sha256 in zip(bundle.files, bundle.hashes, strict=True)
    ]


def file_of(bundle: Bundle, skill: str, path: str) -> bytes:
    """One file of a bundle, or an error that says which it has."""
    file = bundle.get(path)
    if file is None:
        raise no_file(skill, path, [each.path for each in bundle])
    return file.data
