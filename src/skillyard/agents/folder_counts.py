"""How often skills of folders were used, as the yard of this machine last told: known without opening it."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from skillyard.files import make_folder, replace_file

if TYPE_CHECKING:
    from skillyard.remote.client import YardClient

COUNTS_FILE: Final = "folder-uses.json"
"""Its name in the home of Skillyard."""
_USES: Final = ("loaded", "activated", "succeeded", "failed")


class FolderCounts:
    """Counts by the name of a skill, in one file; whoever wrote it last is believed."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> Mapping[str, int]:
        """The counts; none where there is no such file, or nothing that makes sense in it."""
        try:
            kept: object = json.loads(self._file.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        counts = cast("dict[str, object]", kept) if isinstance(kept, dict) else {}
        return {name: count for name, count in counts.items() if isinstance(count, int)}

    def learn(self, yard: "YardClient") -> None:
        """Keep what a yard counted lately."""
        counts: Counter[str] = Counter()
        for skill in yard.usage():
            counts[skill["full_name"].rpartition("/")[2]] += sum(skill[kind] for kind in _USES)
        if not self._file.parent.exists():
            make_folder(self._file.parent)
        replace_file(self._file, json.dumps(counts).encode())
