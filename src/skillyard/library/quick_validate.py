"""The check that the built-in `skill-creator` ships as a script, for use from Python and for sending elsewhere.

The script is the only copy of the check. It is loaded from the skill, so both always agree.
"""

import os
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Final

from skillyard.errors import UnavailableError
from skillyard.library.builtin import builtin_root

_SCRIPT: Final = "skill-creator/scripts/quick_validate.py"


def validate_skill(skill_path: str | os.PathLike[str]) -> tuple[bool, str]:
    """Whether the folder holds a valid skill, and `Skill is valid` or every problem, one a line."""
    return _module().validate_skill(skill_path)


def get_quick_validate_script() -> str:
    """The text of a `quick_validate.py` that needs nothing but Python."""
    return _path().read_text(encoding="utf-8")


class _Loader(SourceFileLoader):
    """Leaves no bytecode behind: a skill's folder is copied and compared as it is."""

    def set_data(self, path: str, data: object, *, _mode: int = 0) -> None:
        del path, data


def _path() -> Path:
    return builtin_root() / _SCRIPT


@cache
def _module() -> ModuleType:
    loader = _Loader("skillyard_quick_validate", str(_path()))
    spec = spec_from_loader(loader.name, loader)
    if spec is None:
        raise UnavailableError(f"{_path()} cannot be loaded.", hint="Install Skillyard again.")
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
