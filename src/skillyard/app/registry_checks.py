"""Looking over the registry of this machine: its database, its files, its server; nothing is created."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from skillyard.app.checks import Check, Status, ok, writable
from skillyard.app.local_person import local_name
from skillyard.app.server_records import recorded_servers
from skillyard.blobs.disk import DiskBlobs
from skillyard.blobs.store import open_blobs
from skillyard.config.load import shown
from skillyard.config.settings import Settings
from skillyard.errors import SkillyardError

if TYPE_CHECKING:
    from skillyard.app.damage import Track

_SHOWN: Final = 10
_SECONDS: Final = 2.0
_MAX_ANSWER: Final = 10_000


def examine_registry(settings: Settings, track: "Track | None" = None) -> Iterator[Check]:
    """Every check of the registry, and of the yard elsewhere that the settings name; with `track`, of all it keeps."""
    yield _database(settings, deep=track is not None)
    yield from _blobs(settings, track)
    yield _auth(settings)
    yield from _servers(settings)
    if settings.server is not None:
        yield _yard(settings.server, settings)


def _database(settings: Settings, *, deep: bool) -> Check:
    from skillyard.app.damage import require_database  # noqa: PLC0415 -- slow to import
    from skillyard.db.migrate import revisions  # noqa: PLC0415
    from skillyard.db.revision import present_revision  # noqa: PLC0415
    from skillyard.db.soundness import damage  # noqa: PLC0415

    place = shown("database_url", settings.database)
    try:
        require_database(settings, open_blobs(settings.blobs))
        present = present_revision(settings.database)
        problems = [] if present is None else damage(settings.database, deep=deep)
    except SkillyardError as error:
        fix = error.hint or _database_fix(settings)
        return Check(name="database", status=Status.FAILED, message=error.message, fix=fix)
    known = revisions()
    if present is None:
        return ok("database", f"{place}: nothing kept yet; made when it is first used")
    if problems:
        message = f"{place} is damaged: {'; '.join(problems)}"
        return Check(name="database", status=Status.FAILED, message=message, fix=_database_fix(settings))
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
    return f"Stop what uses {file}, and restore it from a backup."


def _blobs(settings: Settings, track: "Track | None") -> Iterator[Check]:
    from skillyard.app.damage import read_files  # noqa: PLC0415 -- slow to import

    try:
        blobs = open_blobs(settings.blobs)
        place = writable("blobs", Path(blobs.place)) if isinstance(blobs, DiskBlobs) else ok("blobs", settings.blobs)
        if place.status is Status.FAILED:
            yield place
            return
        read = read_files(settings, track)
    except SkillyardError as error:
        yield Check(name="blobs", status=Status.FAILED, message=error.message, fix=error.hint)
        return
    for error in read.damaged[:_SHOWN]:
        yield Check(name="blobs", status=Status.FAILED, message=error.message, fix=error.hint)
    if len(read.damaged) > _SHOWN:
        more = f"{len(read.damaged) - _SHOWN:,} more are damaged or missing."
        yield Check(name="blobs", status=Status.FAILED, message=more, fix="Restore them from a backup.")
    if not read.damaged:
        what = f"{read.number:,} read, none damaged" + ("" if track else "; --deep reads every file")
        yield replace(place, message=f"{place.message} ({what})") if read.number else place


def _auth(settings: Settings) -> Check:
    if settings.auth == "local":
        return ok("auth", f"local: whoever asks from this machine is {local_name()}")
    return ok("auth", "token: whoever asks needs a token; to make one: skillyard registry tokens create LABEL")


def _servers(settings: Settings) -> Iterator[Check]:
    """The servers of this home; where there is none, whatever has the port that one would have."""
    running = list(recorded_servers(settings.home))
    for url in running:
        yield ok("server", f"running at {url}")
    if not running:
        yield _server(settings)


def _answers(url: str) -> bool:
    """Whether a Skillyard answers there. Never by a proxy: it is this machine that is asked."""
    with build_opener(ProxyHandler({})).open(f"{url}/healthz", timeout=_SECONDS) as answer:
        return json.loads(answer.read(_MAX_ANSWER))["data"]["status"] == "ok"


def _server(settings: Settings) -> Check:
    if settings.port == 0:
        return ok("server", "any free port; whether one runs cannot be told")
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{settings.port}"
    try:
        healthy = _answers(url)
    except (URLError, OSError) as error:
        if isinstance(getattr(error, "reason", error), ConnectionRefusedError):
            return ok("server", f"not running at {url}; to start it: skillyard serve")
        return _stranger(url)
    except (ValueError, KeyError, TypeError):
        return _stranger(url)
    if not healthy:
        return _stranger(url)
    return Check(
        name="server",
        status=Status.NOTE,
        message=f"not running; the Skillyard at {url} belongs to another home or person.",
        fix="skillyard serve --port 0",
    )


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
