"""Records which servers a home has now, one file for each, so that nobody uses another person's server by mistake."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from skillyard.files import make_folder, replace_file

_FOLDER: Final = "servers"


def record_server(home: Path, url: str) -> None:
    """Note that this process serves a home at an address."""
    with suppress(OSError):  # the record is not essential
        make_folder(home / _FOLDER)
        replace_file(_file(home, url), json.dumps({"url": url, "pid": os.getpid()}).encode(), mode=0o600)


def forget_server(home: Path, url: str) -> None:
    with suppress(OSError):
        _file(home, url).unlink(missing_ok=True)


def recorded_servers(home: Path) -> Iterator[str]:
    """The addresses of the servers of a home whose processes live."""
    folder = home / _FOLDER
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        with suppress(OSError, ValueError, KeyError, TypeError):
            note = json.loads(file.read_bytes())
            os.kill(int(note["pid"]), 0)
            yield str(note["url"])


def _file(home: Path, url: str) -> Path:
    return home / _FOLDER / f"{urlsplit(url).port}.json"
