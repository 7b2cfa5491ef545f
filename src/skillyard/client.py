"""`Skillyard`: a yard in Python, the one of this machine or one elsewhere."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from skillyard.config.load import load_settings
from skillyard.config.settings import Settings
from skillyard.imports import uncollected
from skillyard.library.disk import read_folder
from skillyard.remote.client import YardClient
from skillyard.remote.connection import Connection
from skillyard.remote.pulling import Pulled, plan_pull, pull

if TYPE_CHECKING:
    from skillyard.remote.library import RemoteLibrary

LOCAL: Final = "http://127.0.0.1"
"""How the yard of this machine is addressed when no server runs."""


class Skillyard(YardClient):
    """A yard: skills, their versions, their history and who may use them.

    `url` names a server. Without it the settings do (`SKILLYARD_SERVER`), and without those it is the yard of this
    machine, opened in this process: no server need run. `home` means the yard in that folder of this machine.

    Answers are the JSON of the API; errors are `skillyard.errors`. Close it, or use it in a `with` block.
    """

    def __init__(
        self, url: str | None = None, *, token: str | None = None, home: str | PathLike[str] | None = None
    ) -> None:
        settings = load_settings({"server": url, "token": token, "home": home})
        super().__init__(_connection(settings, here=url is None and home is not None))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.connection.close()

    @property
    def library(self) -> "RemoteLibrary":
        """What the yard would ship to you, as a library like that of a folder."""
        from skillyard.remote.library import RemoteLibrary  # noqa: PLC0415 -- most commands need none

        return RemoteLibrary(self)

    def publish(
        self,
        folder: str | PathLike[str],
        *,
        namespace: str | None = None,
        version: str | None = None,
        visibility: str | None = None,
        base: str | None = None,
        notes: str | None = None,
        reason: str = "",
        allow_risky: bool = False,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Publish the skill in a folder as a version; publishing the same bytes again changes nothing.

        Serious findings of the scan refuse it; `allow_risky` accepts them, for the `reason`, which the version keeps.
        With `dry_run` the answer, or the error, is what would come of it, and nothing is done.
        """
        path = Path(folder).absolute()
        return self.send(
            read_folder(path).require(),
            path.name,
            namespace=namespace,
            version=version,
            visibility=visibility,
            base=base,
            notes=notes,
            reason=reason,
            allow_risky=allow_risky,
            dry_run=dry_run,
        )

    def pull(
        self, *names: str, into: str | PathLike[str], dependencies: bool = True, allow_risky: bool = False
    ) -> list[Pulled]:
        """Copy skills, and what they require, into a folder; `namespace/name@1.2.0` says which version.

        Nothing is copied if the scan finds something serious in one of them, unless `allow_risky`.
        """
        plan = plan_pull(self, names, Path(into), dependencies=dependencies)
        return list(pull(self, plan, allow_risky=allow_risky))


def _connection(settings: Settings, *, here: bool) -> Connection:
    token = settings.token.get_secret_value() if settings.token else None
    if settings.server is not None and not here:
        return Connection(settings.server, token=token)
    with uncollected():
        # The yard of this machine needs the whole server, which takes long to import.
        from skillyard.remote.in_process import InProcess  # noqa: PLC0415
        from skillyard.server.local import local_application  # noqa: PLC0415

    transport = InProcess(lambda: local_application(settings))
    return Connection(LOCAL, token=token, transport=transport, in_process=True)
