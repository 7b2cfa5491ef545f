"""The backends of sandboxes that the settings name."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skillyard.config.settings import Settings
from skillyard.sandbox.backend import Backend
from skillyard.sandbox.capabilities import Barrier, Capabilities

if TYPE_CHECKING:
    from skillyard.sandbox.backends import Backends, BackendSettings

LOCAL: Final = "local"
"""As the address of a computer-use server: our own sandboxes, which are no backend of themselves."""


class SettingsBackends:
    """The backends that the settings name, made when the first sandbox is: most commands make none."""

    def __init__(self, settings: Settings) -> None:
        self.own_ports: set[int] = {settings.port} - {0}
        """The ports of this yard, which no sandbox may reach; the server adds those that it turns out to have."""
        self._settings = settings
        self._made: Backends | None = None

    async def choose(self, requested: str | None, required: Collection[Barrier]) -> Backend:
        return await self._backends.choose(requested, required)

    async def survey(self) -> Sequence[Capabilities]:
        """What each backend can do here, and why it cannot."""
        return await self._backends.survey()

    @property
    def _backends(self) -> "Backends":
        if self._made is None:
            from skillyard.sandbox.backends import Backends  # noqa: PLC0415 -- as said above

            known = backend_settings(self._settings)
            self._made = Backends(replace(known, yard=yard_name(self._settings), own_ports=self.own_ports))
        return self._made


def backend_settings(settings: Settings, folder: Path | None = None) -> "BackendSettings":
    """What backends need to know of the settings; with another folder, nothing of the home is touched."""
    from skillyard.sandbox.backends import BackendSettings  # noqa: PLC0415 -- most commands start no sandbox

    return BackendSettings(
        folder=folder or settings.home,
        backend=settings.sandbox_backend,
        uids=settings.uids,
        docker_host=settings.docker_host,
        docker_image=settings.docker_image,
        computer_use_url=None if settings.computer_use_mcp_url == LOCAL else settings.computer_use_mcp_url,
        chromium=settings.chromium,
    )


def yard_name(settings: Settings) -> str:
    """What tells the sandboxes of this yard from those of others on one Docker host."""
    return f"skillyard-{hashlib.sha256(settings.database.encode()).hexdigest()[:12]}"
