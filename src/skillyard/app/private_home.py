"""A home that only its owner can read, whatever it was before."""

from pathlib import Path
from typing import Final

from skillyard.files import make_private

_OURS: Final = frozenset(
    (
        *("blobs", "search", "index", "hosts", "servers", "logs", "mcp", "home-id", "locks", "trash", "bundles"),
        *("skills", "cargos", "remote-cargos", "runtime", "materialised", "mcp-clients"),
        *("sample.json", "folder-uses.json"),
    )
)
_DATABASE: Final = "registry."
"""What the names of a database, its companions and the folder of its jobs begin with."""


def make_home_private(home: Path) -> None:
    """Close to others what Skillyard keeps in a home, and the home itself if there is nothing else in it.

    In a folder with files of others, such as somebody's home folder, only our own are closed.
    """
    try:
        entries = list(home.iterdir())
    except OSError:
        return
    ours = [entry for entry in entries if entry.name in _OURS or entry.name.startswith(_DATABASE)]
    for entry in ours:
        make_private(entry)
    if len(ours) == len(entries) and not Path.home().is_relative_to(home.resolve()):
        make_private(home)
