"""The yard of this machine, served to this process alone."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from skillyard.app.local_person import local_name
from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.server.app import Application
from skillyard.skill.library import Layered


@asynccontextmanager
async def local_application(settings: Settings) -> AsyncGenerator[Application]:
    """The application without a server around it: for commands, which are whoever runs them."""
    async with open_yard(settings) as yard:
        app = Application(yard, Layered(()), settings, person=local_name())
        try:
            yield app
        finally:
            app.close()
            await app.ended()
