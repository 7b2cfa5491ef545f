"""Everything a running server needs, opened in the right order and closed in the reverse."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from skillyard.app.followers import following
from skillyard.app.local_person import local_name
from skillyard.app.seeding import seed_builtin
from skillyard.app.yard import Yard, open_yard
from skillyard.config.settings import Settings
from skillyard.errors import SkillyardError, UnavailableError
from skillyard.identity.access import OPERATOR
from skillyard.server.app import Application
from skillyard.server.logs import AccessLog
from skillyard.server.soundness import Soundness, background_look
from skillyard.server.warming import warming
from skillyard.skill.library import Library

_SAMPLE: Final = 32
"""Files that are read again when a server starts."""
NO_TOKEN: Final = (
    "There is no token yet, so nobody can come in. Make the first on this machine: "  # noqa: S105 -- a remark
    "skillyard registry tokens create first --scope admin, or set SKILLYARD_ADMIN_TOKEN."
)


@asynccontextmanager
async def serving(
    settings: Settings, library: Library, *, ready: Callable[[Sequence[str]], None], log: AccessLog | None = None
) -> AsyncGenerator[Application]:
    """Open the yard and serve it. `ready` is called with remarks once requests can be answered."""
    person = local_name() if settings.auth == "local" else None
    async with open_yard(settings) as yard:
        await yard.database.require_usable()
        await seed_builtin(yard, await yard.access.operator(person or OPERATOR))
        soundness = Soundness()
        app = Application(yard, library, settings, person=person, soundness=soundness, access_log=log)
        async with following(yard), warming(), background_look(soundness, settings.database):
            try:
                ready(await _remarks(yard, settings))
                yield app
            finally:
                app.close()
                await app.ended()


async def _remarks(yard: Yard, settings: Settings) -> list[str]:
    locked = settings.auth == "token" and settings.admin_token is None and not await yard.tokens.any()
    try:
        found: Sequence[SkillyardError] = await yard.stored.sample(_SAMPLE)
    except UnavailableError as error:  # the store may answer soon; until then the server is not ready
        found = [error]
    damaged = [f"{error.message} {error.hint}" for error in found]
    return [*([NO_TOKEN] if locked else []), *damaged]
