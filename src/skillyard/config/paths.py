"""Where Skillyard keeps its own files on this machine."""

import os
from pathlib import Path
from typing import Final

PROJECT_FILE: Final = "skillyard.toml"
USER_FILE: Final = "config.toml"


def config_dir() -> Path:
    """`$SKILLYARD_CONFIG_DIR`, else `$XDG_CONFIG_HOME/skillyard`, else `~/.config/skillyard`."""
    own = os.environ.get("SKILLYARD_CONFIG_DIR")
    if own:
        return Path(own).expanduser().absolute()
    return _xdg("XDG_CONFIG_HOME", ".config") / "skillyard"


def default_home() -> Path:
    """`$XDG_DATA_HOME/skillyard`, else `~/.local/share/skillyard`."""
    return _xdg("XDG_DATA_HOME", ".local/share") / "skillyard"


def user_config_file() -> Path:
    return config_dir() / USER_FILE


def project_config_file() -> Path:
    return Path.cwd() / PROJECT_FILE


def is_inside(folder: Path, path: Path) -> bool:
    """Whether a path is the folder or below it, by where links lead: a link could name any place."""
    try:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
    except ValueError:  # a NUL, which no path can have
        return False


def _xdg(variable: str, fallback: str) -> Path:
    # The XDG rules say that a relative value is to be ignored.
    value = Path(os.environ.get(variable, ""))
    return value if value.is_absolute() else Path.home() / fallback
