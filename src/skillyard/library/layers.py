"""The folders of skills in reach, layered into one library that notices when another folder appears."""

import threading
from collections.abc import Callable, Iterable

from skillyard.library.roots import Root
from skillyard.skill.library import Catalog, Layered, Library

Roots = tuple[Root, ...]


class LiveLayers(Layered):
    """Layers that look at every catalog which folders there are; for what runs longer than one command.

    `discover` tells the folders, the strongest first. `open_roots` makes their libraries; it is asked for all of
    them again when one came or went, because a link may now lead into a folder that is known.
    """

    def __init__(
        self,
        discover: Callable[[], Roots],
        open_roots: Callable[[Roots], Iterable[Library]],
        *,
        label: str = "layered",
    ) -> None:
        self._discover = discover
        self._open_roots = open_roots
        self._roots = discover()
        self._lock = threading.Lock()
        super().__init__(open_roots(self._roots), label=label)

    def catalog(self) -> Catalog:
        """What is there now."""
        roots = self._discover()
        with self._lock:
            if roots != self._roots:
                self.libraries = tuple(self._open_roots(roots))
                self._roots = roots
        return super().catalog()
