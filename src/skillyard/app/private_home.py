"""Makes a home readable for its owner only."""

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
    """Make what Skillyard keeps in a home private to its owner, and the home itself if it holds nothing else.

    In a folder with other files, such as a person's home folder, only our own files become private.
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
