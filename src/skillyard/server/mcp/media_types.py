"""What kind of content a file of a skill has, by its name: the same on every machine."""

from pathlib import PurePosixPath
from typing import Final

FOLDER: Final = "inode/directory"
MARKDOWN: Final = "text/markdown"
_BYTES: Final = "application/octet-stream"
_PLAIN: Final = "text/plain"
_KINDS: Final = {
    ".css": "text/css",
    ".csv": "text/csv",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".gif": "image/gif",
    ".htm": "text/html",
    ".html": "text/html",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript",
    ".json": "application/json",
    ".markdown": MARKDOWN,
    ".md": MARKDOWN,
    ".mjs": "text/javascript",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".py": "text/x-python",
    ".sh": "text/x-shellscript",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
    ".tsv": "text/tab-separated-values",
    ".txt": _PLAIN,
    ".webp": "image/webp",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".zip": "application/zip",
}


def media_type(path: str, *, text: bool | None = None) -> str:
    """The kind of a file; `text` says whether what is in it is text, where that is known."""
    known = _KINDS.get(PurePosixPath(path).suffix.lower())
    return known or (_PLAIN if text else _BYTES)
