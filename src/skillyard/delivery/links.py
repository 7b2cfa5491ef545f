"""Links from one agent's folder of skills to the copy in another."""

import os
from pathlib import Path

from skillyard.errors import UnavailableError


def leads_to(link: Path, folder: Path) -> bool:
    """Whether a path is a link to this folder, which need not exist."""
    return link.is_symlink() and os.path.realpath(link) == os.path.realpath(folder)


def same_folder(first: Path, second: Path) -> bool:
    """Whether two paths are one folder on disk, as when one agent's folder is a link to another's."""
    return os.path.realpath(first) == os.path.realpath(second)


def make_link(link: Path, folder: Path) -> None:
    """Make a link to the folder, unless it is there already."""
    if leads_to(link, folder):
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    # Relative between the real folders, so that a project keeps working when it is moved.
    target = os.path.relpath(os.path.realpath(folder), os.path.realpath(link.parent))
    try:
        link.symlink_to(target, target_is_directory=True)
    except OSError as error:
        raise UnavailableError(
            f"The link {link} could not be made: {error.strerror}.", hint="Use --copy for separate copies."
        ) from error
