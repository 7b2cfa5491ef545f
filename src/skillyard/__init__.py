"""One yard for Agent Skills.

The names below are imported when they are first used, so that `import skillyard` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillyard.client import Skillyard
    from skillyard.errors import SkillyardError
    from skillyard.library.environments import Environment, Environments
    from skillyard.library.folder import FolderLibrary
    from skillyard.library.manager import SkillsManager
    from skillyard.skill.bundle import Bundle
    from skillyard.skill.document import parse
    from skillyard.skill.library import Layered
    from skillyard.skill.scan import scan

__version__ = "0.1.0"

__all__ = [
    "Bundle",
    "Environment",
    "Environments",
    "FolderLibrary",
    "Layered",
    "SkillsManager",
    "Skillyard",
    "SkillyardError",
    "parse",
    "scan",
]

_HOMES = {
    "Bundle": "skillyard.skill.bundle",
    "Environment": "skillyard.library.environments",
    "Environments": "skillyard.library.environments",
    "FolderLibrary": "skillyard.library.folder",
    "Layered": "skillyard.skill.library",
    "SkillsManager": "skillyard.library.manager",
    "Skillyard": "skillyard.client",
    "SkillyardError": "skillyard.errors",
    "parse": "skillyard.skill.document",
    "scan": "skillyard.skill.scan",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'skillyard' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
