"""The depot: every bundle as its source gave it, kept by digest, so that a person's edits can be told apart."""

from pathlib import Path

from skillyard.delivery.source import is_digest
from skillyard.files import replace_file
from skillyard.skill.archive import pack, read_archive
from skillyard.skill.bundle import Bundle


class Depot:
    """Bundles under `<home>/bundles/<hex>.skill`. A file there is never changed; losing one loses no skill."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "bundles"

    def keep(self, bundle: Bundle) -> None:
        """Keep a bundle; doing it again changes nothing, or repairs what is no longer whole."""
        if self.get(bundle.digest) is None:
            replace_file(self._path(bundle.digest), pack(bundle, "skill"))

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

    def _path(self, digest: str) -> Path:
        return self.folder / f"{digest.removeprefix('sha256:')}.skill"
