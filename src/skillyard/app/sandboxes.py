"""The rooms of sandboxes, wired to one database, one store of blobs and the backends that the settings name."""

from dataclasses import dataclass

from skillyard.app.sandbox_backends import SettingsBackends
from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, utc_now
from skillyard.config.settings import Settings
from skillyard.db.database import Database
from skillyard.identity.turns import Turns
from skillyard.sandbox.browsing import Browsing
from skillyard.sandbox.cargo_ledger import CargoLedger
from skillyard.sandbox.defaults import SandboxDefaults
from skillyard.sandbox.execution_log import ExecutionLog
from skillyard.sandbox.hosts import Host
from skillyard.sandbox.imported_runs import ImportedRuns
from skillyard.sandbox.imported_sessions import ImportedSessions
from skillyard.sandbox.onlookers import Onlookers
from skillyard.sandbox.place import Limits
from skillyard.sandbox.running import Choosing, Running
from skillyard.sandbox.runs import Recorder, Runs
from skillyard.sandbox.service import Sandboxes
from skillyard.sandbox.sweep import Sweep
from skillyard.sandbox.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class SandboxRooms:
    """Everything that can be asked of sandboxes."""

    sandboxes: Sandboxes
    cargos: CargoLedger
    runs: Runs
    browsing: Browsing
    workspace: Workspace
    log: ExecutionLog
    onlookers: Onlookers
    imported: ImportedRuns
    imported_sessions: ImportedSessions
    sweep: Sweep
    running: Running
    backends: SettingsBackends
    image: str
    """What sandboxes on Docker are made of."""

    @property
    def host_id(self) -> str:
        """This process, as a holder of sandboxes."""
        return self.running.host.id

    async def close(self) -> None:
        """End everything that runs in this process."""
        await self.running.close()


def sandbox_rooms(
    database: Database,
    blobs: Blobs,
    settings: Settings,
    *,
    choosing: Choosing | None = None,
    turns: Turns | None = None,
    clock: Clock = utc_now,
) -> SandboxRooms:
    """The rooms over an open database; nothing is started or looked for before it is needed.

    `choosing` gives other backends than those of the settings; `turns` are those of the yard.
    """
    backends = SettingsBackends(settings)
    running = Running(database, choosing or backends, Host(database, settings.home, clock=clock), clock=clock)
    defaults = SandboxDefaults(
        ttl=settings.sandbox_ttl,
        idle_ttl=settings.sandbox_idle_ttl,
        per_person=settings.sandboxes_per_person,
        private_network=settings.private_network,
        ceilings=Limits(**settings.sandbox_ceilings.model_dump()),
        cargos_per_person=settings.cargos_per_person,
    )
    cargos = CargoLedger(database, running, defaults=defaults, clock=clock)
    sandboxes = Sandboxes(database, running, cargos, defaults=defaults, clock=clock)
    log = ExecutionLog(database, blobs, clock=clock)
    onlookers = Onlookers()
    recorder = Recorder(sandboxes, running, log, onlookers)
    return SandboxRooms(
        sandboxes=sandboxes,
        cargos=cargos,
        runs=Runs(recorder),
        browsing=Browsing(recorder),
        workspace=Workspace(sandboxes, running),
        log=log,
        onlookers=onlookers,
        imported=ImportedRuns(database, turns or Turns(), clock=clock),
        imported_sessions=ImportedSessions(database),
        sweep=Sweep(database, sandboxes, cargos, running, clock=clock),
        running=running,
        backends=backends,
        image=settings.docker_image,
    )
