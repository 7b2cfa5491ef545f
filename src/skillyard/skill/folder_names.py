"""Names for the folders of skills that every disk can store and every agent looks into."""

from functools import lru_cache

from skillyard.skill.bundle import left_out_part
from skillyard.skill.names import ascii_alias, is_valid_name, slugify
from skillyard.skill.paths import path_findings, printable


@lru_cache(maxsize=4096)
def folder_problem(name: str) -> str:
    """Why a text cannot be the name of a skill's folder everywhere; empty when it can."""
    wrong = next(iter(path_findings(name)), None)
    if wrong is not None:
        return wrong.message
    shown = printable(name)
    if "/" in name:
        return f"'{shown}' is not the name of one folder."
    if name.startswith("."):
        return f"'{shown}' starts with a dot, which hides it."
    if name.startswith("-"):
        return f"'{shown}' starts with a hyphen, as options of commands do."
    if "@" in name:
        return f"'{shown}' has an @, which separates a name from a version."
    return f"'{shown}' is a name that skills leave out." if left_out_part(name) else ""


def folder_name(name: str) -> str:
    """The folder of a skill that a registry has under this name: the name, or its alias where no folder can have it."""
    return ascii_alias(name) if folder_problem(name) else name


def id_in_folder(name: str, folder: str) -> str:
    """The id of a skill that states this name and comes in a folder of that name.

    A name that follows the specification is the id. Any other name is for display only, and the folder is the id.
    """
    if is_valid_name(name):
        return name
    return folder if folder and not folder_problem(folder) else slugify(name or folder)
