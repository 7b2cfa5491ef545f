"""Who is at this machine."""

import getpass
from typing import Final

from skillyard.identity.people import SYSTEM
from skillyard.skill.names import is_valid_name, slugify

_NAMELESS: Final = "local"
_LONGEST: Final = 48


def local_name() -> str:
    """The name under which the registry knows the user who runs this process."""
    try:
        login = getpass.getuser()
    except (OSError, KeyError, ImportError):  # a user id without a name, as containers have it
        return _NAMELESS
    name = slugify(login)[:_LONGEST].strip("-")
    return name if is_valid_name(name) and name != SYSTEM else _NAMELESS
