"""The depot: every bundle as its source gave it, kept by digest, so that a person's edits can be told apart."""

import os
from contextlib import suppress
from pathlib import Path

from skillyard.delivery.source import is_digest
from skillyard.files import make_folder, replace_file
from skillyard.skill.archive import pack, read_archive
from skillyard.skill.bundle import Bundle


class Depot:
    """Bundles under `<home>/bundles/<hex>.skill`. A file there is never changed; losing one loses no skill."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "bundles"

    def keep(self, bundle: Bundle) -> None:
        """Keep a bundle; doing it again makes it young, or repairs what is no longer whole."""
        if self.get(bundle.digest) is None:
            make_folder(self.folder)
            replace_file(self._path(bundle.digest), pack(bundle, "skill"))
        else:
            self.refresh(bundle.digest)

    def refresh(self, digest: str) -> None:
        """Let a bundle, if it is here, be as young as one that was kept just now."""
        with suppress(OSError):
            os.utime(self._path(digest))

    def get(self, digest: str) -> Bundle | None:
        """The bundle of that digest, if it is here and whole."""
        if not is_digest(digest):
            return None
        try:
            data = self._path(digest).read_bytes()
        except OSError:
            return None
        bundle = read_archive(data).bundle
        return bundle if bundle is not None and bundle.digest == digest else None

    def kept_before(self, moment: float) -> dict[str, Path]:
        """The files of the bundles that were last kept before a moment, by digest."""
        return {
            digest: path
            for path in self.folder.glob("*.skill")
            if is_digest(digest := f"sha256:{path.stem}") and path.lstat().st_mtime < moment
        }

    def _path(self, digest: str) -> Path:
        return self.folder / f"{digest.removeprefix('sha256:')}.skill"
