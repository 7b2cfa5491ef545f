"""Counting uses of skills in folders: those that are a version of a skill of the yard are counted there."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from skillyard.agents.folder_counts import FolderCounts
from skillyard.agents.known_versions import known_version
from skillyard.agents.library_source import LibraryUse
from skillyard.agents.telling import Telling
from skillyard.agents.uses import use_document
from skillyard.library.disk import read_folder
from skillyard.remote.client import YardClient
from skillyard.usage.events import UsageKind

_COUNTED: Final = frozenset({UsageKind.LOADED, UsageKind.ACTIVATED, UsageKind.SUCCEEDED, UsageKind.FAILED})
"""That a skill was shown is no reason to read its files."""


class FolderUses:
    """What a `LibrarySource` is given to `record`. The yard is opened with the first use, beside the work.

    `counts` learns what the yard has counted then.
    """

    def __init__(self, yard: Callable[[], YardClient], *, counts: FolderCounts | None = None) -> None:
        self._telling = Telling[LibraryUse](_Counting(yard, counts))

    def __call__(self, use: LibraryUse) -> None:
        if use.kind in _COUNTED:
            self._telling.add(use)

    def flush(self, timeout: float | None = None) -> None:
        """Wait until all uses are counted, or could not be."""
        self._telling.flush(timeout)


class _Counting:
    def __init__(self, yard: Callable[[], YardClient], counts: FolderCounts | None) -> None:
        self._yard = yard
        self._counts = counts

    def __call__(self, uses: Sequence[LibraryUse]) -> None:
        yard = self._yard()
        found = [(use, known_version(yard, use.skill.id, _digest(use))) for use in uses]
        events = [
            use_document(
                use.kind,
                known.skill_id,
                version=known.version,
                session=use.session,
                agent=use.agent,
                detail=use.detail,
            )
            for use, known in found
            if known is not None
        ]
        if events:
            yard.report_usage(events)
        if self._counts is not None:
            self._counts.learn(yard)


def _digest(use: LibraryUse) -> str:
    bundle = read_folder(Path(use.skill.entry.location).parent).bundle
    return "" if bundle is None else bundle.digest
