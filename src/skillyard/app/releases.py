"""The rooms of learned skills, wired to the yard."""

from skillyard.app.jobs import register_release_work
from skillyard.app.sandboxes import SandboxRooms
from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.history.service import History
from skillyard.jobs.service import Jobs
from skillyard.registry.service import Registry
from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.replay.replayer import Replayer
from skillyard.releases.secret_desk import SecretDesk
from skillyard.releases.service import LearnedSkillRooms


def release_rooms(
    database: Database,
    blobs: Blobs,
    history: History,
    registry: Registry,
    sandboxes: SandboxRooms,
    jobs: Jobs,
    *,
    policy: ReleasePolicy | None = None,
    clock: Clock = utc_now,
) -> LearnedSkillRooms:
    """The rooms over an open yard."""
    desk = SecretDesk()
    replays = Replayer(sandboxes.sandboxes, sandboxes.runs, sandboxes.browsing, sandboxes.workspace)
    rooms = LearnedSkillRooms(
        database, blobs, history, registry, jobs=jobs, desk=desk, replays=replays, policy=policy, clock=clock
    )
    register_release_work(jobs, database, blobs, rooms, replays=replays, desk=desk, clock=clock)
    return rooms
