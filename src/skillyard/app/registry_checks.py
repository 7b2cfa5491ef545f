"""Looking over the registry of this machine: its database, its files, its server; nothing is created."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from skillyard.app.checks import Check, Status, ok, writable
from skillyard.app.local_person import local_name
from skillyard.blobs.disk import DiskBlobs
from skillyard.blobs.store import open_blobs
from skillyard.config.load import shown
from skillyard.config.settings import Settings
from skillyard.errors import SkillyardError

_SECONDS: Final = 2.0
_MAX_ANSWER: Final = 10_000


def examine_registry(settings: Settings) -> Iterator[Check]:
    """Every check of the registry, and of the yard elsewhere that the settings name."""
    yield _database(settings)
    yield _blobs(settings)
    yield _auth(settings)
    yield _server(settings)
    if settings.server is not None:
        yield _yard(settings.server, settings)


def _database(settings: Settings) -> Check:
    from skillyard.db.migrate import revisions  # noqa: PLC0415 -- slow to import
    from skillyard.db.revision import present_revision  # noqa: PLC0415

    place = shown("database_url", settings.database)
    try:
        present = present_revision(settings.database)
    except SkillyardError as error:
        fix = error.hint or _database_fix(settings)
        return Check(name="database", status=Status.FAILED, message=error.message, fix=fix)
    known = revisions()
    if present is None:
        return ok("database", f"{place}: nothing kept yet; made when it is first used")
    if present == known[-1]:
        return ok("database", f"{place} at revision {present}")
    if present in known:
        return Check(
            name="database",
            status=Status.WARNING,
            message=f"{place} is at revision {present}, the newest is {known[-1]}; the next use brings it up to date.",
            fix="skillyard registry whoami",
        )
    return Check(
        name="database",
        status=Status.FAILED,
        message=f"{place} was made by a newer Skillyard (revision {present}; this one knows {known[-1]}).",
        fix="pip install --upgrade skillyard",
    )


def _database_fix(settings: Settings) -> str:
    if settings.database_url is not None:
        return "Check SKILLYARD_DATABASE_URL, and that the database runs and lets you in."
    file = shlex.quote(str(settings.home / "registry.sqlite"))
    return f"Bring the file back from a backup, or put it aside: mv {file} {file}.damaged"


def _blobs(settings: Settings) -> Check:
    try:
        blobs = open_blobs(settings.blobs)
    except SkillyardError as error:
        return Check(name="blobs", status=Status.FAILED, message=error.message, fix=error.hint)
    if isinstance(blobs, DiskBlobs):
        return writable("blobs", Path(blobs.place))
    return ok("blobs", f"{settings.blobs} (not asked)")


def _auth(settings: Settings) -> Check:
    if settings.auth == "local":
        return ok("auth", f"local: whoever asks from this machine is {local_name()}")
    return ok("auth", "token: whoever asks needs a token; to make one: skillyard registry tokens create LABEL")


def _server(settings: Settings) -> Check:
    if settings.port == 0:
        return ok("server", "any free port; whether one runs cannot be told")
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{settings.port}"
    try:
        # Never by a proxy: it is this machine that is asked.
        with build_opener(ProxyHandler({})).open(f"{url}/healthz", timeout=_SECONDS) as answer:
            healthy = json.loads(answer.read(_MAX_ANSWER))["data"]["status"] == "ok"
    except (URLError, OSError) as error:
        if isinstance(getattr(error, "reason", error), ConnectionRefusedError):
            return ok("server", f"not running at {url}; to start it: skillyard serve")
        return _stranger(url)
    except (ValueError, KeyError, TypeError):
        return _stranger(url)
    return ok("server", f"running at {url}") if healthy else _stranger(url)


def _stranger(url: str) -> Check:
    return Check(
        name="server",
        status=Status.WARNING,
        message=f"Something else than Skillyard has the port of {url}.",
        fix="skillyard serve --port 0",
    )


def _yard(url: str, settings: Settings) -> Check:
    from skillyard.remote.client import YardClient  # noqa: PLC0415 -- seldom needed
    from skillyard.remote.connection import Connection  # noqa: PLC0415

    token = settings.token.get_secret_value() if settings.token else None
    try:
        with Connection(url, token=token) as connection:
            me = YardClient(connection).me()
    except SkillyardError as error:
        return Check(name="yard", status=Status.FAILED, message=error.message, fix=error.hint)
    return ok("yard", f"{url}: you are {me['name']}, scope {me['scope']}")
