"""The identity of a home, which records which cargos have their files there."""

import os
import re
from pathlib import Path
from typing import Final

from skillyard.errors import StoreUnavailableError
from skillyard.files import make_folder
from skillyard.sandbox.ids import new_id

FILE: Final = "home-id"
_ID: Final = re.compile(r"home-[0-9a-f]{12}\Z")


def home_id(home: Path) -> str:
    """The id of a home, which the first process there makes. It stays with the files when a home is moved."""
    path = home / FILE
    try:
        if not path.exists():
            _make(path)
        found = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreUnavailableError(
            f"The identity of the home {home} cannot be read: {error}.", hint=_fix(path)
        ) from error
    if not _ID.match(found):
        raise StoreUnavailableError(f"{path} does not hold the id of a home.", hint=_fix(path))
    return found


def _make(path: Path) -> None:
    """Make the id; if several processes do so at once, all use the same one."""
    if not path.parent.exists():
        make_folder(path.parent)
    mine = new_id("home")
    beside = path.with_name(f".{mine}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            stream.write(f"{mine}\n")
            stream.flush()
            os.fsync(stream.fileno())
        try:
            path.hardlink_to(beside)
        except FileExistsError:
            return
        except OSError:  # a disk without hard links
            if not path.exists():
                beside.rename(path)
    finally:
        beside.unlink(missing_ok=True)


def _fix(path: Path) -> str:
    return f"Restore {path} from a backup of this home; it says which sandboxes have their files here."
